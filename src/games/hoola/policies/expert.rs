//! `expert`: the value of `hard` as prior, bettered by playing the best candidates out in sampled worlds.

use std::sync::Arc;

use crate::bot::policy::Heeds;
use crate::bot::{
    About, Evaluated, Evaluation, Limits, Payoff, Policy, PolicyKind, Rng, Seat, TermSet, Turn, Unit, WeightTable,
    Weights, WeightsError,
};
use crate::games::hoola::Hoola;
use crate::games::hoola::appraise::{Appraisal, Candidate, Continuation, Prospect, appraise};
use crate::games::hoola::moves::Move;
use crate::games::hoola::phase::Phase;
use crate::games::hoola::policies::hard::{Hard, STAGES, table, with_facts};
use crate::games::hoola::policies::rows::{END_TERMS, RowMaker, STATE_TERMS};
use crate::games::hoola::terms::{HoolaTerm, HoolaTerms};
use crate::games::hoola::view::View;
use crate::games::hoola::worlds;

/// Worlds when a request names no budget: more buy nothing while `easy` plays them out.
const WORLDS: u32 = 100;
/// The prior counts as much as this many worlds.
const PRIOR: f64 = 100.0;
/// Payments beyond this are cut off in the mean that decides.
const CLIP: f64 = 64.0;
/// Moves of a turn that are played out.
const TURN_ROWS: usize = 8;
/// Lines of a window that are played out: passing, and the three best turns of each claim.
const WINDOW_LINES: usize = 10;

const SAMPLED: TermSet = TermSet::of(&[HoolaTerm::Rollouts as usize, HoolaTerm::Offset as usize]);
const TERMS: TermSet = STATE_TERMS.union(END_TERMS).union(SAMPLED);

/// Determinized rollouts over common worlds.
#[derive(Clone, Debug, Default)]
pub struct Expert {
    prior: Hard,
}

impl Policy<Hoola> for Expert {
    fn about(&self) -> About {
        About {
            version: 1,
            summary: "Plays the best candidates of hard to the end in sampled worlds, with its value as prior.",
            kind: PolicyKind::Search,
            anytime: true,
            uses_seed: true,
            default_limits: Limits::worlds(WORLDS),
            heeds: Heeds { time: true, worlds: true, ..Heeds::default() },
            terms: TERMS,
            aliases: &[],
            stages: &STAGES,
        }
    }

    fn evaluate(&self, view: &View, turn: &mut Turn<'_>) -> Evaluated<Hoola> {
        let rows = self.prior.rows(view.rules().players).map(shown);
        let appraisal = appraise(view, &rows);
        let maker = RowMaker { view, rows: &rows, appraisal: &appraisal, shown: TERMS, off: self.prior.off() };
        let lines = lines(view, &appraisal);
        if lines.len() < 2 {
            return table(&maker);
        }
        let samples = sample(view, &appraisal, &lines, turn);
        let table = tabulate(&maker, &lines, &samples);
        with_facts(table, &appraisal).spent(turn.budget)
    }

    fn weights(&self) -> Vec<Weights<HoolaTerms>> {
        self.prior.weights().into_iter().map(shown).collect()
    }

    fn tunable(&self) -> TermSet {
        STATE_TERMS
    }

    fn with_weights(
        &self,
        table: &WeightTable,
        players: Option<u8>,
    ) -> Result<Arc<dyn Policy<Hoola>>, WeightsError> {
        Ok(Arc::new(Self { prior: self.prior.reweighed(table, players)? }))
    }

    fn table(&self, players: Option<u8>) -> Option<WeightTable> {
        self.prior.table(players)
    }
}

/// The same weights with the sampled terms shown.
fn shown(row: Weights<HoolaTerms>) -> Weights<HoolaTerms> {
    SAMPLED.iter().fold(row, |row, place| row.set(place, 0.0))
}

/// A candidate going on in one way.
struct Line<'a> {
    candidate: &'a Candidate,
    way: &'a Continuation,
    moves: Vec<Move>,
}

/// What is worth playing out: in a turn the best moves, in a window passing and the best turns of each claim. At turn
/// start nothing: rollouts by `easy` undervalue the draw. Where a row wins at once there is nothing to find out.
fn lines<'a>(view: &View, appraisal: &'a Appraisal) -> Vec<Line<'a>> {
    let candidates = &appraisal.candidates;
    let wins = |candidate: &Candidate| matches!(candidate.best().prospect, Prospect::Out(_) | Prospect::Certain(_));
    if view.phase() == Phase::TurnStart || candidates.iter().any(wins) {
        return Vec::new();
    }
    let mut ways: Vec<(&Candidate, &Continuation)> = match view.phase() {
        Phase::Window => candidates.iter().flat_map(|c| c.ways().map(move |way| (c, way))).collect(),
        _ => candidates.iter().map(|c| (c, c.best())).collect(),
    };
    // Stable, so equal values stay in canonical order; passing is never dropped.
    ways.sort_by(|(a, x), (b, y)| {
        let passing = |candidate: &Candidate| candidate.mv == Move::Pass;
        passing(b).cmp(&passing(a)).then(y.value.total_cmp(&x.value))
    });
    ways.truncate(if view.phase() == Phase::Window { WINDOW_LINES } else { TURN_ROWS });
    let line = |(candidate, way): (&'a Candidate, &'a Continuation)| {
        Line { candidate, way, moves: candidate.line(way, view) }
    };
    ways.into_iter().map(line).collect()
}

/// Payments of one line over the worlds.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    clipped: f64,
    sum: f64,
    squares: f64,
}

/// The samples of each line, and how many worlds they are from.
struct Samples {
    lines: Vec<Sample>,
    worlds: u32,
}

/// Plays every line out in the same worlds, until the budget ends it after a whole world.
fn sample(view: &View, appraisal: &Appraisal, lines: &[Line<'_>], turn: &mut Turn<'_>) -> Samples {
    let open = worlds::open_cards(view);
    let stream: Rng = turn.rng.split("hoola.worlds");
    let mut samples = Samples { lines: vec![Sample::default(); lines.len()], worlds: 0 };
    while turn.budget.world().is_ok() {
        let mut rng = stream.fork(u64::from(samples.worlds));
        let world = worlds::deal(&open, view, appraisal.unseen, &mut rng);
        for (sample, line) in samples.lines.iter_mut().zip(lines) {
            sample.add(payment(&world, view.seat(), &line.moves));
        }
        samples.worlds += 1;
    }
    samples
}

fn payment(world: &crate::games::hoola::state::Round, seat: Seat, moves: &[Move]) -> f64 {
    worlds::play_out(world, seat, moves).payments[seat.index()] as f64
}

impl Sample {
    fn add(&mut self, points: f64) {
        self.clipped += points.clamp(-CLIP, CLIP);
        self.sum += points;
        self.squares += points * points;
    }

    fn payoff(&self, worlds: u32) -> Payoff {
        let count = f64::from(worlds);
        let mean = self.sum / count;
        let variance = if worlds > 1 { (self.squares - count * mean * mean).max(0.0) / (count - 1.0) } else { 0.0 };
        Payoff { mean, standard_error: (variance / count).sqrt(), samples: worlds }
    }
}

fn tabulate(maker: &RowMaker<'_>, lines: &[Line<'_>], samples: &Samples) -> Evaluated<Hoola> {
    let row = |candidate: &Candidate| {
        let own = lines.iter().zip(&samples.lines).filter(|(line, _)| line.candidate.mv == candidate.mv);
        let sampled = own.map(|(line, sample)| sampled_row(maker, line, sample, samples.worlds));
        let best = sampled.reduce(|best, row| if row.total() > best.total() { row } else { best });
        best.unwrap_or_else(|| maker.row(candidate, candidate.best()).barred("not_searched"))
    };
    Evaluated::new(maker.appraisal.candidates.iter().map(row).collect())
}

/// The row of a line that was played out: total = (sum of clipped payments + 100 V) / (worlds + 100).
fn sampled_row(maker: &RowMaker<'_>, line: &Line<'_>, sample: &Sample, worlds: u32) -> Evaluation<Hoola> {
    let Prospect::Goes(state) = line.way.prospect else { return maker.row(line.candidate, line.way) };
    if worlds == 0 {
        return maker.row(line.candidate, line.way);
    }
    let count = f64::from(worlds);
    let prior = PRIOR / (count + PRIOR);
    let share = count / (count + PRIOR);
    let mut weights = maker.rows[state.row() as usize];
    for place in STATE_TERMS.iter() {
        weights = weights.times(place, prior);
    }
    weights = weights.set(HoolaTerm::Rollouts as usize, 2.0 * CLIP * share).set(HoolaTerm::Offset as usize, -CLIP * share);
    let terms = HoolaTerms {
        rollouts: Unit::clamp((sample.clipped / count + CLIP) / (2.0 * CLIP)),
        offset: Unit::ONE,
        ..maker.terms(&state)
    };
    Evaluation::weigh(line.candidate.mv, terms, &weights)
        .fact("weights", super::rows::row_number(state.row()), "")
        .line(line.moves.clone())
        .payoff(sample.payoff(worlds))
}
