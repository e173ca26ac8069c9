//! Lists of domains: import and export of blocks and allows.
//!
//! Reached from `/api/v1/admin/domain_blocks/import`, its siblings and `rookery domain`. A list is parsed as a whole
//! ([`parse`]), its effect is shown ([`preview`]), and then it is applied in one transaction ([`import()`]): each line is
//! taken, or named with its number and the reason. Lists that are fetched daily are in [`subscription`], and domains that
//! no list may block in [`exclusion`]. Decisions about single domains are in
//! [`domain_decision`](crate::domain_decision).
//!
//! Spec: docs/contract/admin.csv, docs/contract/federation.md#10-limited-federation-and-domain-policy

mod bounds;
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

pub use bounds::{ENTRIES_MAX, LIST_MAX, ListPolicy};
pub use export::{Exported, export};
pub use impact::{DomainImpact, Impact};
pub use import::{Import, Imported, Preview, import, preview};
pub use parse::Fault;
