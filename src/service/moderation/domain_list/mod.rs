//! Lists of domains: import and export of blocks and allows.
//!
//! Reached from `/api/v1/admin/domain_blocks/import`, its siblings and `rookery domain`. A list is parsed as a whole
//! ([`parse`]), its effect is shown ([`preview`]), and then it is applied in one transaction ([`import`]): each line is
//! taken, or named with its number and the reason. Lists that are fetched daily are in [`subscription`], and domains that
//! no list may block in [`exclusion`]. Decisions about single domains are in
//! [`domain_decision`](crate::domain_decision).
//!
//! Spec: docs/contract/admin.csv, docs/contract/federation.md#10-limited-federation-and-domain-policy

mod bulk;
mod csv_text;
pub mod exclusion;
mod export;
mod host;
mod impact;
mod import;
mod json_text;
mod parameter;
mod parse;
mod plan;
pub mod subscription;

pub use export::{Exported, export};
pub use impact::{DomainImpact, Impact};
pub use import::{Import, Imported, Preview, import, preview};
pub use parse::Fault;

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
