//! The games, one line each.

use crate::bot::{Referee, Registry, Wire};

/// Does something with a game's type: how generic code (arena, tune, tests) reaches a game by its name.
pub trait Visitor {
    /// What it makes.
    type Output;
    /// Called with the game that was named.
    fn visit<G: Referee + Wire>(self) -> Self::Output;
}

macro_rules! games {
    ($($module:ident :: $game:ident),* $(,)?) => {
        $(pub mod $module;)*

        /// Every game with every policy.
        #[must_use]
        pub fn registry() -> Registry {
            #[allow(unused_mut)]
            let mut registry = Registry::default();
            $(registry.enrol(<$module::$game as crate::bot::Game>::roster());)*
            registry
        }

        /// The keys of all games.
        pub const KEYS: &[&str] = &[$(<$module::$game as crate::bot::Game>::KEY),*];

        /// Hands the game with this key to the visitor; `None` when there is none.
        pub fn visit<V: Visitor>(key: &str, visitor: V) -> Option<V::Output> {
            $(if key == <$module::$game as crate::bot::Game>::KEY {
                return Some(visitor.visit::<$module::$game>());
            })*
            let _ = (key, visitor);
            None
        }
    };
}

// A new game is one folder and one line here.
games! {
    lexio::Lexio,
    wallgo::Wallgo,
    apple::Apple,
    hoola::Hoola,
}
