//! What a list of domains is for, and how large it may be.

/// Largest list, in bytes.
pub const LIST_MAX: usize = 16 * 1024 * 1024;
/// Most entries of a list.
pub const ENTRIES_MAX: usize = 500_000;

/// The effect of the domains of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListPolicy {
    /// They are blocked.
    Block,
    /// Limited federation admits them.
    Allow,
}
