//! Bad input, explained: every reason, each with its field path.

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

/// A list of violations under construction, for one view.
#[derive(Debug, Default)]
pub struct Violations {
    prefix: String,
    list: Vec<Violation>,
}

/// More than this many are counted but not kept: a hostile request must not make us write a book.
const KEPT: usize = 256;

impl Violations {
    /// For paths that all start with `prefix` (`view.lexio`).
    pub fn under(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned(), list: Vec::new() }
    }

    /// Adds one. `path` is relative to the prefix; empty means the prefix itself.
    pub fn add(&mut self, path: &str, code: &'static str, text: impl Into<String>) {
        if self.list.len() >= KEPT {
            return;
        }
        let field = match (self.prefix.is_empty(), path.is_empty()) {
            (true, _) => path.to_owned(),
            (false, true) => self.prefix.clone(),
            (false, false) => format!("{}.{path}", self.prefix),
        };
        self.list.push(Violation { field, code, text: text.into() });
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many so far.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// `Ok(())` when nothing was wrong.
    ///
    /// # Errors
    /// Every violation found.
    pub fn finish(self) -> Result<(), Reject> {
        if self.list.is_empty() { Ok(()) } else { Err(Reject::Invalid(self.list)) }
    }
}

/// Why a view is not decided on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reject {
    /// It breaks rules: all of those that the game's own stages report at once.
    Invalid(Vec<Violation>),
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
