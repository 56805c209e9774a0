//! What may be wrong with an evaluation, read off its table. Hints, not verdicts.
//!
//! All four look at the rows that are not barred. Contributions are recomputed as weight times value.

use serde::Serialize;

use crate::pb;

/// Something worth a look in one table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// Which of the four.
    pub kind: Kind,
    /// The terms it is about.
    pub terms: Vec<String>,
}

/// The four kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Pass ranks above more than half of the other rows: is doing nothing worth that much?
    Baseline,
    /// One term's spread exceeds that of all others together: the others hardly matter.
    Scale,
    /// Two terms measure the same: their values correlate by 0.99 or more.
    DoubleCounting,
    /// A term is equal in all rows: it cannot change the decision.
    Constant,
}

impl Finding {
    /// A sentence.
    pub fn text(&self) -> String {
        let terms = self.terms.join(" with ");
        match self.kind {
            Kind::Baseline => "baseline: pass ranks above more than half of the other rows".to_owned(),
            Kind::Scale => format!("scale: the spread of {terms} exceeds that of all other terms together"),
            Kind::DoubleCounting => format!("double counting: {terms} (correlation of 0.99 or more)"),
            Kind::Constant => format!("constant: {terms} is equal in all rows and cannot change the decision"),
        }
    }
}

/// Values and contributions of one term over the rows.
struct Column {
    id: String,
    values: Vec<f64>,
    contributions: Vec<f64>,
}

impl Column {
    fn spread(&self) -> f64 {
        let low = self.contributions.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self.contributions.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if low <= high { high - low } else { 0.0 }
    }
}

/// Correlation from which on two terms count as one.
const SAME: f64 = 0.99;

/// The findings of a table. `is_pass` tells the row of a pass.
pub fn find(rows: &[pb::Candidate], is_pass: impl Fn(&pb::Candidate) -> bool) -> Vec<Finding> {
    let rows: Vec<&pb::Candidate> = rows.iter().filter(|row| row.barred.is_empty()).collect();
    if rows.len() < 2 {
        return Vec::new();
    }
    let columns = columns(&rows);
    let pass = rows.iter().position(|row| is_pass(row));
    let mut found = Vec::new();
    found.extend(baseline(&columns, rows.len(), pass));
    found.extend(scale(&columns));
    found.extend(double_counting(&columns, pass));
    found.extend(constant(&columns));
    found
}

/// The terms that are on in some row; a term that a row does not name counts as nothing there.
fn columns(rows: &[&pb::Candidate]) -> Vec<Column> {
    let mut ids: Vec<&str> = Vec::new();
    for term in rows.iter().flat_map(|row| &row.terms) {
        if !ids.contains(&term.id.as_str()) && term.weight != 0.0 {
            ids.push(&term.id);
        }
    }
    let column = |id: &str| {
        let terms = rows.iter().map(|row| row.terms.iter().find(|term| term.id == id));
        let (values, contributions) =
            terms.map(|term| term.map_or((0.0, 0.0), |term| (term.value, term.value * term.weight))).unzip();
        Column { id: id.to_owned(), values, contributions }
    };
    ids.into_iter().map(column).collect()
}

/// The total of a row, recomputed.
pub fn total(row: &pb::Candidate) -> f64 {
    row.terms.iter().map(|term| term.value * term.weight).sum()
}

fn baseline(columns: &[Column], rows: usize, pass: Option<usize>) -> Option<Finding> {
    let pass = pass?;
    let total = |row: usize| columns.iter().map(|column| column.contributions[row]).sum::<f64>();
    let below = (0..rows).filter(|&row| row != pass && total(row) < total(pass)).count();
    (2 * below > rows - 1).then(|| Finding { kind: Kind::Baseline, terms: Vec::new() })
}

fn scale(columns: &[Column]) -> Option<Finding> {
    let all: f64 = columns.iter().map(Column::spread).sum();
    let wide = columns.iter().find(|column| columns.len() > 1 && column.spread() > all - column.spread() + 1e-12)?;
    Some(Finding { kind: Kind::Scale, terms: vec![wide.id.clone()] })
}

fn double_counting(columns: &[Column], pass: Option<usize>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (place, a) in columns.iter().enumerate() {
        for b in &columns[place + 1..] {
            if correlation(&a.values, &b.values, pass).is_some_and(|r| r.abs() >= SAME) {
                found.push(Finding { kind: Kind::DoubleCounting, terms: vec![a.id.clone(), b.id.clone()] });
            }
        }
    }
    found
}

/// Pearson's correlation over the rows but `without`; `None` below three rows or where one side does not vary.
fn correlation(a: &[f64], b: &[f64], without: Option<usize>) -> Option<f64> {
    let pairs: Vec<(f64, f64)> = (0..a.len()).filter(|&row| Some(row) != without).map(|row| (a[row], b[row])).collect();
    if pairs.len() < 3 {
        return None;
    }
    let count = pairs.len() as f64;
    let (mean_a, mean_b) = pairs.iter().fold((0.0, 0.0), |(x, y), (a, b)| (x + a / count, y + b / count));
    let (mut aa, mut bb, mut ab) = (0.0, 0.0, 0.0);
    for (a, b) in pairs {
        let (a, b) = (a - mean_a, b - mean_b);
        aa += a * a;
        bb += b * b;
        ab += a * b;
    }
    (aa > 1e-18 && bb > 1e-18).then(|| ab / (aa * bb).sqrt())
}

fn constant(columns: &[Column]) -> impl Iterator<Item = Finding> + '_ {
    let still = columns.iter().filter(|column| column.spread() <= 1e-12);
    still.map(|column| Finding { kind: Kind::Constant, terms: vec![column.id.clone()] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(ids: &[(&str, f64)], rows: &[(&str, &[f64])]) -> Vec<pb::Candidate> {
        let row = |&(key, values): &(&str, &[f64])| {
            let terms = ids.iter().zip(values).map(|(&(id, weight), &value)| pb::Term {
                id: id.to_owned(),
                value,
                weight,
                contribution: value * weight,
            });
            pb::Candidate { key: key.to_owned(), terms: terms.collect(), ..Default::default() }
        };
        rows.iter().map(row).collect()
    }

    fn named(rows: &[pb::Candidate]) -> Vec<(Kind, String)> {
        let found = find(rows, |row| row.key == "pass");
        found.into_iter().map(|finding| (finding.kind, finding.terms.join(" "))).collect()
    }

    /// The four rows that part 5 of the series printed before its fix, with weights that give its totals.
    fn article() -> Vec<pb::Candidate> {
        table(
            &[("plan", 1.0), ("lead", 1.0), ("strong", -0.9), ("tempo", -0.8), ("twos", 0.8), ("baseline", 0.35)],
            &[
                ("T9", &[-4.0, 0.0, 0.417, 0.636, 0.0, 0.0]),
                ("M1", &[0.0, 0.0, 0.9, 0.273, 0.0, 0.0]),
                ("S2", &[0.0, 1.0, 1.0, 0.273, 1.0, 0.0]),
                ("pass", &[0.0, 0.0, 0.0, 0.364, 0.0, 1.0]),
            ],
        )
    }

    #[test]
    fn the_articles_faults_are_named() {
        let rows = article();
        for (row, printed) in rows.iter().zip([-4.884, -1.028, 0.682, 0.059]) {
            assert!((total(row) - printed).abs() < 5e-4, "{}: {}", row.key, total(row));
        }
        let found = named(&rows);
        assert!(found.contains(&(Kind::Baseline, String::new())), "{found:?}");
        assert!(found.contains(&(Kind::Scale, "plan".to_owned())), "{found:?}");
        assert!(found.contains(&(Kind::DoubleCounting, "plan tempo".to_owned())), "{found:?}");
        assert!(!found.iter().any(|(kind, _)| *kind == Kind::Constant), "{found:?}");
    }

    #[test]
    fn a_sound_table_has_no_findings() {
        let rows = table(
            &[("a", 1.0), ("b", -1.0), ("off", 0.0)],
            &[("x", &[1.0, 0.2, 0.5]), ("y", &[0.4, 0.9, 0.5]), ("z", &[0.1, 0.0, 0.5]), ("pass", &[0.2, 0.2, 0.5])],
        );
        assert_eq!(named(&rows), []);
    }

    #[test]
    fn each_finding_needs_its_own_fault() {
        let constant =
            table(&[("a", 1.0), ("b", 1.0), ("c", 1.0)], &[("x", &[0.5, 0.1, 0.3]), ("y", &[0.5, 0.3, 0.1])]);
        assert_eq!(named(&constant), [(Kind::Constant, "a".to_owned())]);
        let double = table(
            &[("a", 1.0), ("b", 1.0)],
            &[("x", &[0.1, 0.9]), ("y", &[0.2, 0.8]), ("z", &[0.4, 0.6]), ("pass", &[0.0, 0.0])],
        );
        // Equal spreads: neither exceeds the other. Pass, which would break the correlation, is left out.
        let spread = named(&double);
        assert!(spread.contains(&(Kind::DoubleCounting, "a b".to_owned())), "{spread:?}");
        let two = table(&[("a", 1.0), ("b", 1.0)], &[("x", &[0.1, 0.9]), ("y", &[0.2, 0.8])]);
        assert_eq!(named(&two), [], "two rows always correlate");
        let half = table(&[("a", 1.0), ("b", 0.9)], &[("x", &[0.1, 0.3]), ("pass", &[0.2, 0.1]), ("y", &[0.3, 0.2])]);
        assert!(!named(&half).iter().any(|(kind, _)| *kind == Kind::Baseline), "half is not more than half");
        let mut barred = article();
        barred[0].barred = "set aside".to_owned();
        assert!(!named(&barred).contains(&(Kind::Scale, "plan".to_owned())), "a barred row does not count");
    }
}
