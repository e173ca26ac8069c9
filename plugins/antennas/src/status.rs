//! What of a status antennas look at.

use rookery_plugin::prelude::Status as Record;

/// A status, borrowed from the host's record.
#[derive(Clone, Debug)]
pub struct Status<'a> {
    pub id: i64,
    pub account: i64,
    pub domain: Option<&'a str>,
    pub local: bool,
    pub reblog: bool,
    pub visibility: Visibility,
    pub searchability: &'a str,
    /// Empty for a reblog, which has no text.
    pub text: &'a str,
    pub tags: &'a [String],
    pub mentions: &'a [i64],
    pub media: bool,
}

impl<'a> From<&'a Record> for Status<'a> {
    fn from(record: &'a Record) -> Self {
        let reblog = record.reblog_of.is_some();
        Self {
            id: record.id,
            account: record.account,
            domain: record.domain.as_deref(),
            local: record.domain.is_none(),
            reblog,
            visibility: Visibility::from_code(record.visibility),
            searchability: &record.searchability,
            text: if reblog { "" } else { &record.text },
            tags: if reblog { &[] } else { &record.tags },
            mentions: &record.mentions,
            media: record.media_count > 0,
        }
    }
}

/// The contract's code of a visibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    Public,
    Unlisted,
    Private,
    Direct,
    Limited,
    PublicUnlisted,
    Login,
}

impl Visibility {
    /// From the contract's code. One that a later server made up is taken for the narrowest.
    #[must_use]
    pub fn from_code(code: u8) -> Self {
        match code {
            0 => Self::Public,
            1 => Self::Unlisted,
            2 => Self::Private,
            4 => Self::Limited,
            5 => Self::PublicUnlisted,
            6 => Self::Login,
            _ => Self::Direct,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A public status of local account 1, without text.
    pub(crate) fn status() -> Status<'static> {
        Status {
            id: 100,
            account: 1,
            domain: None,
            local: true,
            reblog: false,
            visibility: Visibility::Public,
            searchability: "public",
            text: "",
            tags: &[],
            mentions: &[],
            media: false,
        }
    }

    #[test]
    fn an_unknown_visibility_is_the_narrowest() {
        assert_eq!([Visibility::from_code(0), Visibility::from_code(3)], [Visibility::Public, Visibility::Direct]);
        assert_eq!(Visibility::from_code(200), Visibility::Direct);
    }
}
