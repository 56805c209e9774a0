//! The goodput curve as an SVG.

use std::path::Path;

use plotters::prelude::*;

use crate::Trouble;

/// One line of the plot: a name and (offered, goodput) as multiples of the capacity.
pub struct Curve {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Draws the curves over a logarithmic axis of offered load.
pub fn goodput(file: &Path, curves: &[Curve]) -> Result<(), Trouble> {
    let root = SVGBackend::new(file, (760, 440)).into_drawing_area();
    root.fill(&WHITE)?;
    let colours = [RGBColor(31, 119, 180), RGBColor(44, 160, 44), RGBColor(214, 39, 40)];
    let mut chart = ChartBuilder::on(&root)
        .margin(16)
        .caption("Answers in time, by offered load (200 ms deadlines)", ("sans-serif", 18))
        .x_label_area_size(42)
        .y_label_area_size(56)
        .build_cartesian_2d((0.5f64..10.0).log_scale(), 0.0f64..1.2)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_desc("offered calls, as a multiple of the measured capacity")
        .y_desc("goodput / capacity")
        .x_labels(5)
        .draw()?;
    for (curve, colour) in curves.iter().zip(colours) {
        chart
            .draw_series(LineSeries::new(curve.points.iter().copied(), colour.stroke_width(2)))?
            .label(&curve.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        chart.draw_series(curve.points.iter().map(|point| Circle::new(*point, 3, colour.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    root.present()?;
    Ok(())
}
