//! What stands in for the server in native tests: `cargo test` runs a plugin's own functions against it.
//!
//! Knows accounts, statuses, follows and emojis that a test tells it, runs the plugin's SQL on SQLite in memory, has a
//! clock that stands still, and keeps what the plugin did. It decides less than the server does: who may see a status
//! follows simple rules, and limits are not kept. What matters there is tested with `rookery plugin test`.
//!
//! ```ignore
//! let fake = Fake::new::<ReactionDeck>();
//! let alice = fake.account("alice");
//! let deck = fake.get("/api/v1/reaction_deck").as_account(alice).send().ok();
//! assert_eq!(deck, json!([]));
//! ```

mod calls;
mod core_views;
mod fixtures;
pub(crate) mod imports;
mod queries;
mod render;
mod request;
mod sql;
mod state;

pub use fixtures::{account, status};
pub use request::{Answer, Asked};
pub use state::{Fake, State};
