//! Codes of the plugin contract.

use model::Visibility;

/// The contract's code of a visibility.
#[must_use]
pub(crate) fn visibility_code(visibility: Visibility) -> u8 {
    match visibility {
        Visibility::Public => 0,
        Visibility::Unlisted => 1,
        Visibility::Private => 2,
        Visibility::Direct => 3,
        Visibility::Limited => 4,
        Visibility::PublicUnlisted => 5,
        Visibility::Login => 6,
    }
}

/// The visibility of a code; none for a code that the contract does not have.
#[must_use]
pub(crate) fn visibility_of(code: u8) -> Option<Visibility> {
    Visibility::ALL.iter().copied().find(|visibility| visibility_code(*visibility) == code)
}
