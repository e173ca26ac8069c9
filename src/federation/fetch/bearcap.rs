//! Bearer capabilities: the address of a limited status with the token that opens it.
//!
//! Written `bear:?t=TOKEN&u=URL`; the request carries the token instead of a signature
//! (docs/contract/federation.md#3-documents-sent).

use context::Cx;

use super::document;
use crate::Failure;
use crate::vocabulary::{Note, parse};

/// A capability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bearcap {
    pub url: String,
    pub token: String,
}

impl Bearcap {
    /// Reads one; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let query = text.strip_prefix("bear:?")?;
        let value = |wanted: &str| {
            let mut pairs = url::form_urlencoded::parse(query.as_bytes());
            pairs.find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned())
        };
        Some(Self { url: value("u")?, token: value("t")? })
    }
}

impl std::fmt::Display for Bearcap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.append_pair("t", &self.token).append_pair("u", &self.url);
        write!(f, "bear:?{}", query.finish())
    }
}

/// Fetches the note that `bearcap` opens.
///
/// # Errors
/// [`Failure`].
pub async fn by_bearcap(cx: &Cx, bearcap: &Bearcap) -> Result<Note, Failure> {
    let fetched = document::with_token(cx, &bearcap.url, &bearcap.token).await?;
    let note: Note = parse(&fetched.body)?;
    // The id decides, as everywhere: no redirect leads to another note.
    if note.id == bearcap.url { Ok(note) } else { Err(Failure::Disbelieved("the id is not the address")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capability_is_read_as_it_is_written() {
        let bearcap = Bearcap { url: "https://a.test/1?x=y".to_owned(), token: "a&b".to_owned() };
        assert_eq!(Bearcap::parse(&bearcap.to_string()), Some(bearcap));
        assert_eq!(Bearcap::parse("https://a.test/1"), None);
        assert_eq!(Bearcap::parse("bear:?t=x"), None);
    }
}
