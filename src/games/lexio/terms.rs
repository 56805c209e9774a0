//! What the rows of a Lexio table are weighed by: the list of terms.

crate::terms! {
    /// The terms of all Lexio policies; each policy shows those it names.
    pub LexioTerms, LexioTerm {
        Preference preference: Good, "1 - i/n for the i-th of n moves in the order of preference, from 0.";
    }
}
