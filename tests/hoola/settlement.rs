//! Settlement vectors and properties.

use crate::data::{file, int, ints, list, rules, seat, text};
use proptest::prelude::*;
use understudy::bot::{Seat, Seats};
use understudy::games::hoola::rules::Rules;
use understudy::games::hoola::settlement::{End, Finish, Holding, settle};

const ENDS: [End; 8] =
    [End::Out, End::Hoola, End::Chongtong, End::Low, End::High, End::StopOk, End::StopFail, End::Exhausted];

pub fn end(name: &str) -> End {
    ENDS.into_iter().find(|end| end.name() == name).unwrap_or_else(|| panic!("no end {name}"))
}

#[test]
fn every_vector_is_paid_as_written() {
    for case in list(&file("settlement"), "cases") {
        let flags = list(case, "registered").iter().map(|flag| flag.as_bool().expect("a flag"));
        let holdings: Vec<Holding> = ints(&case["sums"])
            .into_iter()
            .zip(flags)
            .zip(ints(&case["sevens"]))
            .map(|((sum, registered), sevens)| Holding { sum: sum as u32, registered, sevens: sevens as u32 })
            .collect();
        let finish =
            Finish { end: end(text(&case["end"])), actor: seat(&case["actor"]), feeder: seat(&case["feeder"]) };
        let starter = Seat(int(&case["starter"]) as u8);
        let paid = settle(&rules(&case["ruleset"]), &holdings, finish, starter);
        assert_eq!(paid.payments[..holdings.len()], ints(&case["payments"]), "{case}");
        let winners = ints(&case["winners"]).into_iter().fold(Seats::default(), |set, w| set.with(Seat(w as u8)));
        assert_eq!(paid.winners, winners, "{case}");
        assert_eq!(i64::from(paid.next_starter.0), int(&case["next_starter"]), "{case}");
    }
}

proptest! {
    #[test]
    fn payments_add_up_and_every_due_is_a_power_of_two(
        held in proptest::collection::vec((0u32..90, any::<bool>(), 0u32..3), 2..=5),
        end in 0usize..8, actor in 0u8..5, feeder in proptest::option::of(0u8..5), starter in 0u8..5,
    ) {
        let holdings: Vec<Holding> =
            held.iter().map(|&(sum, registered, sevens)| Holding { sum, registered, sevens }).collect();
        let players = holdings.len() as u8;
        let rules = Rules { players, ..Rules::default() };
        let actor = Seat(actor % players);
        let feeder = feeder.map(|seat| Seat(seat % players)).filter(|&seat| seat != actor);
        let end = ENDS[end];
        let finish = Finish { end, actor: (end != End::Exhausted).then_some(actor), feeder };
        let paid = settle(&rules, &holdings, finish, Seat(starter % players));
        prop_assert_eq!(paid.payments.iter().sum::<i64>(), 0);
        prop_assert!(paid.winners.contains(paid.next_starter));
        let sole = end == End::StopFail || end == End::Hoola && feeder.is_some();
        for seat in (0..players).map(Seat).filter(|&seat| !paid.winners.contains(seat) && !sole) {
            let due = -paid.payments[seat.index()];
            prop_assert_eq!(due % end.multiplier(&rules), 0);
            prop_assert_eq!((due / end.multiplier(&rules)).count_ones(), 1);
        }
    }
}
