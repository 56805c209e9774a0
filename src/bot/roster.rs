//! The policies of one game, with their names: where a new policy takes its one line.

use std::sync::Arc;

use super::game::Game;
use super::policy::Policy;

/// One policy and its name.
pub struct Entry<G: Game> {
    /// As requests name it.
    pub name: &'static str,
    /// Only opponents for the arena: not served, not listed.
    pub arena_only: bool,
    /// How it plays.
    pub policy: Arc<dyn Policy<G>>,
}

/// The policies of a game, easiest first.
pub struct Roster<G: Game> {
    /// In the order they are listed.
    pub entries: Vec<Entry<G>>,
}

impl<G: Game> Clone for Entry<G> {
    fn clone(&self) -> Self {
        Self { name: self.name, arena_only: self.arena_only, policy: Arc::clone(&self.policy) }
    }
}

impl<G: Game> Default for Roster<G> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<G: Game> Roster<G> {
    /// Adds a policy that everybody may ask for.
    #[must_use]
    pub fn bot(mut self, name: &'static str, policy: impl Policy<G>) -> Self {
        self.entries.push(Entry { name, arena_only: false, policy: Arc::new(policy) });
        self
    }

    /// Adds an opponent for the arena: a recorded baseline, say.
    #[must_use]
    pub fn sparring(mut self, name: &'static str, policy: impl Policy<G>) -> Self {
        self.entries.push(Entry { name, arena_only: true, policy: Arc::new(policy) });
        self
    }

    /// The entry with this name or alias.
    pub fn find(&self, name: &str) -> Option<&Entry<G>> {
        self.entries.iter().find(|entry| entry.name == name || entry.policy.about().aliases.contains(&name))
    }

    /// Puts another policy under an existing name; false when there is no such name.
    pub fn replace(&mut self, name: &str, policy: Arc<dyn Policy<G>>) -> bool {
        match self.entries.iter_mut().find(|entry| entry.name == name) {
            Some(entry) => {
                entry.policy = policy;
                true
            }
            None => false,
        }
    }
}
