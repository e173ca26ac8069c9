//! An invitation, independent of its storage.

use rookery_plugin::prelude::*;

/// The letters and digits of codes: none that are taken for each other.
const ALPHABET: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
/// Length of a code.
const LENGTH: usize = 8;
/// Bits of an account's state that make its invitations unusable: suspended, disabled.
const UNUSABLE: u32 = 1 | 32;

/// An invitation as it is kept.
#[derive(Clone, Debug, PartialEq, Row)]
pub(crate) struct Invite {
    pub(crate) id: Id,
    pub(crate) code: String,
    pub(crate) account_id: Id,
    pub(crate) max_uses: Option<i64>,
    pub(crate) uses: i64,
    pub(crate) expires_at: Option<i64>,
    pub(crate) autofollow: bool,
    pub(crate) comment: String,
}

impl Invite {
    /// True while it lasts.
    pub(crate) fn lasts(&self, now: i64) -> bool {
        self.expires_at.is_none_or(|at| at > now)
    }

    /// True while it lasts and has uses left. The inviter is another question: [`may_invite`].
    pub(crate) fn is_open(&self, now: i64) -> bool {
        self.lasts(now) && self.max_uses.is_none_or(|most| self.uses < most)
    }
}

/// True while the account can be used: confirmed, approved, neither suspended nor disabled.
pub(crate) fn may_invite(account: Id) -> Result<bool> {
    // Unconfirmed and pending accounts are not found.
    let found = core::accounts(&[account])?.pop().flatten();
    Ok(found.is_some_and(|account| account.state & UNUSABLE == 0))
}

/// A code that cannot be guessed.
pub(crate) fn new_code() -> String {
    let mut code = String::with_capacity(LENGTH);
    while code.len() < LENGTH {
        // Bytes beyond a whole number of alphabets would favour some letters.
        let fair = system::random(16)
            .into_iter()
            .map(usize::from)
            .filter(|byte| *byte < 256 / ALPHABET.len() * ALPHABET.len());
        let letters = fair.map(|byte| char::from(ALPHABET[byte % ALPHABET.len()]));
        code.extend(letters.take(LENGTH - code.len()));
    }
    code
}

#[cfg(test)]
mod tests {
    use rookery_plugin::test::Fake;

    use super::*;

    #[test]
    fn code_has_eight_letters_that_are_not_taken_for_each_other() {
        let _fake = Fake::bare();
        let codes: Vec<String> = (0..200).map(|_| new_code()).collect();
        for code in &codes {
            assert_eq!(code.len(), 8);
            assert!(code.bytes().all(|byte| byte.is_ascii_alphanumeric() && !b"01IlO".contains(&byte)), "{code}");
        }
        let used: std::collections::BTreeSet<u8> = codes.iter().flat_map(|code| code.bytes()).collect();
        assert_eq!(used.len(), ALPHABET.len(), "every letter is used");
        assert_eq!(ALPHABET.len(), 62 - 5);
    }

    #[test]
    fn invitation_is_open_while_it_lasts_and_has_uses_left() {
        let invite = |max_uses, uses, expires_at| Invite {
            id: Id(1),
            code: "abcdefgh".to_owned(),
            account_id: Id(2),
            max_uses,
            uses,
            expires_at,
            autofollow: false,
            comment: String::new(),
        };
        assert!(invite(None, 1_000, None).is_open(10));
        assert!(invite(Some(2), 1, Some(11)).is_open(10));
        assert!(!invite(Some(2), 2, None).is_open(10));
        assert!(!invite(None, 0, Some(10)).is_open(10), "its time is over at that moment");
        assert!(invite(Some(2), 2, Some(11)).lasts(10), "used up, and it can still be expired");
    }
}
