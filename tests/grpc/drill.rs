//! Policies that misbehave, enrolled beside Lexio's own, and a registry that holds them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use understudy::bot::policy::Heeds;
use understudy::bot::{
    About, Evaluated, Game, Limits, Policy, PolicyKind, Registry, Rng, Round, Turn, Weights, deepen,
};
use understudy::games::apple::Apple;
use understudy::games::hoola::Hoola;
use understudy::games::lexio::Lexio;
use understudy::games::wallgo::Wallgo;

/// What a drill policy does instead of thinking.
#[derive(Clone, Copy)]
pub enum Habit {
    /// Thinks in rounds of one node until its budget ends it.
    Spin,
    /// Holds a core for five milliseconds, whatever the budget says.
    FiveMs,
    /// Hears nothing for this long.
    Deaf(Duration),
    /// A millisecond, but a fifth of a second for seed 13, whatever the budget says.
    Moody,
    /// Always panics.
    Panic,
    /// Quick, but panics for seed 13.
    Touchy,
    /// Quick, but its first decision takes a twentieth of a second.
    Cold,
}

struct Drill {
    habit: Habit,
    warm: AtomicBool,
    easy: std::sync::Arc<dyn Policy<Lexio>>,
}

impl Drill {
    fn new(habit: Habit) -> Self {
        Self {
            habit,
            warm: AtomicBool::new(false),
            easy: Lexio::roster().find("easy").expect("lexio has easy").policy.clone(),
        }
    }
}

fn hold_core(time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

impl Policy<Lexio> for Drill {
    fn about(&self) -> About {
        let kind = if matches!(self.habit, Habit::Touchy) { PolicyKind::Rules } else { PolicyKind::Search };
        let spins = matches!(self.habit, Habit::Spin);
        About {
            kind,
            anytime: spins,
            default_limits: if spins { Limits::NONE.with_time(Duration::from_millis(30)) } else { Limits::NONE },
            heeds: Heeds { time: spins, nodes: spins, depth: spins, worlds: false },
            aliases: &[],
            ..self.easy.about()
        }
    }

    fn evaluate(&self, view: &<Lexio as Game>::View, turn: &mut Turn<'_>) -> Evaluated<Lexio> {
        let mut rng = Rng::new(0);
        let table = self.easy.evaluate(view, &mut Turn { budget: turn.budget, rng: &mut rng });
        match self.habit {
            Habit::Spin => {
                return deepen(table, turn, |_, best, turn| {
                    turn.budget.tick()?;
                    hold_core(Duration::from_micros(2));
                    Ok(Round::Deeper(best.clone()))
                });
            }
            Habit::FiveMs => hold_core(Duration::from_millis(5)),
            Habit::Deaf(time) => std::thread::sleep(time),
            Habit::Moody if turn.rng == &Rng::new(13) => std::thread::sleep(Duration::from_millis(200)),
            Habit::Moody => hold_core(Duration::from_millis(1)),
            Habit::Panic => panic!("drill"),
            Habit::Cold if self.warm.swap(true, Ordering::Relaxed) => {}
            Habit::Cold => std::thread::sleep(Duration::from_millis(50)),
            Habit::Touchy => assert_ne!(turn.rng, &Rng::new(13), "drill: unlucky"),
        }
        table
    }

    fn weights(&self) -> Vec<Weights<<Lexio as Game>::Terms>> {
        self.easy.weights()
    }
}

/// Every game, and in Lexio the drill policies too.
pub fn registry() -> Registry {
    registry_with(Duration::from_millis(120))
}

/// The same with a `deaf` that sleeps for another time.
pub fn registry_with(deaf: Duration) -> Registry {
    let mut registry = Registry::default();
    let lexio = Lexio::roster()
        .bot("spin", Drill::new(Habit::Spin))
        .bot("five_ms", Drill::new(Habit::FiveMs))
        .bot("deaf", Drill::new(Habit::Deaf(deaf)))
        .bot("moody", Drill::new(Habit::Moody))
        .bot("panic", Drill::new(Habit::Panic))
        .bot("touchy", Drill::new(Habit::Touchy))
        .bot("cold", Drill::new(Habit::Cold));
    registry.enrol(lexio);
    registry.enrol(Wallgo::roster()).enrol(Apple::roster()).enrol(Hoola::roster());
    registry
}
