//! Bad input, explained: every reason, each with its field path.

use std::fmt::Display;

/// One rule that the input breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Path in the request: `view.lexio.hand[3]`.
    pub field: String,
    /// The reason code that the game's spec names; empty where it names none. Only the code is contract.
    pub code: &'static str,
    /// A sentence for a person.
    pub text: String,
}

impl Violation {
    /// As it stands in `BadRequest.description`: `code: sentence`.
    pub fn description(&self) -> String {
        if self.code.is_empty() { self.text.clone() } else { format!("{}: {}", self.code, self.text) }
    }
}

/// What is wrong with one input: the first violations whole, all of them counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violations {
    prefix: String,
    kept: Vec<Violation>,
    count: usize,
}

/// More than this many are counted but not written out: a hostile request must not make us write a book, and a status
/// shows half of these.
const KEPT: usize = 32;

impl Violations {
    /// For paths that all start with `prefix` (`view.lexio`).
    pub fn under(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned(), ..Self::default() }
    }

    /// Adds one. `path` is relative to the prefix; empty means the prefix itself. In a loop over what a client sent,
    /// give both as `format_args!`: they are written out only where they are kept.
    pub fn add(&mut self, path: impl Display, code: &'static str, text: impl Display) {
        self.count += 1;
        if self.kept.len() >= KEPT {
            return;
        }
        let path = path.to_string();
        let field = match (self.prefix.is_empty(), path.is_empty()) {
            (true, _) => path,
            (false, true) => self.prefix.clone(),
            (false, false) => format!("{}.{path}", self.prefix),
        };
        self.kept.push(Violation { field, code, text: text.to_string() });
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many so far, kept or not.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// The first ones.
    pub fn kept(&self) -> &[Violation] {
        &self.kept
    }

    /// `Ok(())` when nothing was wrong.
    ///
    /// # Errors
    /// Every violation found.
    pub fn finish(self) -> Result<(), Reject> {
        if self.is_empty() { Ok(()) } else { Err(Reject::Invalid(self)) }
    }
}

impl IntoIterator for Violations {
    type Item = Violation;
    type IntoIter = std::vec::IntoIter<Violation>;

    /// Those that were kept.
    fn into_iter(self) -> Self::IntoIter {
        self.kept.into_iter()
    }
}

/// Why a view is not decided on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reject {
    /// It breaks rules: all of those that the game's own stages report at once.
    Invalid(Violations),
    /// It is valid, but has no move; the sentence says so in the game's words.
    NothingToDecide(String),
}

/// Accepted, but worth a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Field path, as in a violation.
    pub field: String,
    /// The code that the game's spec names.
    pub code: &'static str,
    /// A sentence for a person.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fmt;

    use super::*;

    /// A text that counts how often it is written out.
    struct Counted<'a>(&'a Cell<usize>);

    impl Display for Counted<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.set(self.0.get() + 1);
            f.write_str("text")
        }
    }

    #[test]
    fn all_are_counted_and_only_the_first_are_written_out() {
        let (paths, texts) = (Cell::new(0), Cell::new(0));
        let mut wrong = Violations::under("view.game");
        for _ in 0..100_000 {
            wrong.add(Counted(&paths), "code", Counted(&texts));
        }
        assert_eq!((wrong.len(), wrong.kept().len()), (100_000, KEPT));
        assert_eq!((paths.get(), texts.get()), (KEPT, KEPT));
        assert_eq!(wrong.kept()[0].field, "view.game.text");
    }

    #[test]
    fn no_path_is_the_view_itself() {
        let mut wrong = Violations::under("view.game");
        wrong.add("", "", "game over");
        assert_eq!((wrong.kept()[0].field.as_str(), wrong.is_empty()), ("view.game", false));
        assert_eq!(wrong.clone().finish(), Err(Reject::Invalid(wrong)));
    }
}
