//! Rounds to take positions from: a mix of random moves and the bots' own.

use understudy::bot::{Ask, Budget, Evaluated, Policy, Referee, Rng, Seat, Seats, Turn, decide};
use understudy::games::hoola::Hoola;
use understudy::games::hoola::moves::Move;
use understudy::games::hoola::policies::hard::Hard;
use understudy::games::hoola::rules::Rules;
use understudy::games::hoola::state::State;
use understudy::games::hoola::view::View;

/// No limit.
pub fn budget() -> Budget {
    Budget::unlimited()
}

/// The table of a policy that needs neither budget nor seed.
pub fn table(policy: &dyn Policy<Hoola>, view: &View) -> Evaluated<Hoola> {
    policy.evaluate(view, &mut Turn { budget: &budget(), rng: &mut Rng::new(0) })
}

/// Shows every decision of this many rounds, from seed 0 on.
pub fn rounds(count: u64, see: &mut dyn FnMut(&State, Seat)) {
    rounds_from(0, count, see);
}

/// Shows every decision of this many rounds: `hard` plays two of three, the rest is random; rulesets and numbers of
/// players take turns.
pub fn rounds_from(seed: u64, count: u64, see: &mut dyn FnMut(&State, Seat)) {
    let sets = [
        "",
        "run_wrap=ACE_HIGH_OR_LOW",
        "discard_draw=FREE",
        "hoola_layoff=OWN run_wrap=ACE_LOW",
        "seven_hand_value=14",
    ];
    for seed in seed..seed + count {
        let rules = Rules::parse(&format!("hoola.standard.v1 {}", sets[seed as usize % sets.len()])).expect("rules");
        let mut state = Hoola::deal(&rules, 2 + (seed % 4) as u8, seed);
        let mut rng = Rng::new(seed).split("moves");
        loop {
            let seats = match Hoola::ask(&state) {
                Ask::Over(_) => break,
                Ask::One(seat) => Seats::default().with(seat),
                Ask::Window(seats) => seats,
            };
            let answers: Vec<(Seat, Move)> = seats
                .iter()
                .map(|seat| {
                    see(&state, seat);
                    let legal = state.round().scene(seat).legal();
                    let any = legal[rng.below(legal.len() as u64) as usize];
                    let own = || *decide(&table(&Hard::default(), &state.view(seat))).mv();
                    (seat, if rng.below(3) == 0 { any } else { own() })
                })
                .collect();
            Hoola::resolve(&mut state, &answers).expect("legal");
        }
    }
}
