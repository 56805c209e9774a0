//! Bearer tokens from a file: one `name token` a line, `#` comments.

use std::path::Path;
use std::sync::Arc;

use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::status::Error;

/// Shorter tokens can be guessed.
const SHORTEST: usize = 16;

/// The tokens that are accepted. Debug shows names only.
pub struct Tokens(Vec<(Arc<str>, Box<[u8]>)>);

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl Tokens {
    /// Reads a file.
    ///
    /// # Errors
    /// Why it is a bad file, without a word of what might be a secret.
    pub fn load(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut tokens = Vec::new();
        for (number, line) in text.lines().enumerate() {
            // A `#` inside a token is a part of it.
            let mut words = line.split_whitespace().take_while(|word| !word.starts_with('#')).peekable();
            if words.peek().is_none() {
                continue;
            }
            let (Some(name), Some(token), None) = (words.next(), words.next(), words.next()) else {
                return Err(format!("line {}: not `name token`", number + 1));
            };
            if token.len() < SHORTEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(format!("line {}: a token has at least {SHORTEST} visible ASCII characters", number + 1));
            }
            tokens.push((Arc::from(name), token.as_bytes().into()));
        }
        if tokens.is_empty() { Err("no token in it".to_owned()) } else { Ok(Self(tokens)) }
    }

    /// The name of the token that a call came with.
    ///
    /// # Errors
    /// Missing or wrong; which one is not told.
    pub fn identify(&self, headers: &HeaderMap) -> Result<Arc<str>, Error> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else { return Err(Error::Unauthenticated) };
        let bytes = value.as_bytes();
        let (scheme, given) = bytes.split_at(bytes.len().min(7));
        if !scheme.eq_ignore_ascii_case(b"bearer ") {
            return Err(Error::Unauthenticated);
        }
        // Every token is compared to its end, whichever fits, so that the time tells nothing.
        let mut found = None;
        for (name, token) in &self.0 {
            if same(given, token) {
                found = Some(name);
            }
        }
        found.cloned().ok_or(Error::Unauthenticated)
    }
}

/// Whether two texts are equal, in a time that depends on the length of the second only.
fn same(given: &[u8], token: &[u8]) -> bool {
    let mut difference = given.len() ^ token.len();
    for (place, byte) in token.iter().enumerate() {
        difference |= usize::from(byte ^ given.get(place).copied().unwrap_or(0));
    }
    std::hint::black_box(difference) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, value.parse().unwrap_or_else(|_| unreachable!("a header value")));
        headers
    }

    #[test]
    fn files_are_read_strictly() {
        let good = Tokens::parse("# who\nshop 0123456789abcdef  # the shop\n\nlobby  fedcba9876543210\n");
        assert_eq!(good.map(|tokens| format!("{tokens:?}")), Ok(r#"["shop", "lobby"]"#.to_owned()));
        for (bad, line) in [("", "no token"), ("# only\n", "no token"), ("shop short", "line 1"), ("a b c", "line 1")] {
            assert!(Tokens::parse(bad).is_err_and(|error| error.contains(line)), "{bad:?}");
        }
        let hash = Tokens::parse("shop 0123456789#abcdef");
        assert!(hash.is_ok_and(|tokens| tokens.identify(&headers("Bearer 0123456789#abcdef")).is_ok()));
        let secret = Tokens::parse("shop tooshortbutsecret\nx y").err().unwrap_or_default();
        assert!(!secret.contains("secret"));
    }

    #[test]
    fn only_the_whole_token_opens() {
        let Ok(tokens) = Tokens::parse("shop 0123456789abcdef\nlobby fedcba9876543210") else {
            unreachable!("a good file")
        };
        assert_eq!(tokens.identify(&headers("Bearer fedcba9876543210")).as_deref(), Ok("lobby"));
        assert_eq!(tokens.identify(&headers("bearer 0123456789abcdef")).as_deref(), Ok("shop"));
        for bad in
            ["", "Bearer", "Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0", "Basic 0123456789abcdef"]
        {
            assert_eq!(tokens.identify(&headers(bad)), Err(Error::Unauthenticated), "{bad:?}");
        }
        assert_eq!(tokens.identify(&HeaderMap::new()), Err(Error::Unauthenticated));
    }
}
