//! A fake server for native tests: `cargo test` runs a plugin's functions against it.
//!
//! It holds the accounts, statuses, follows and emojis that a test adds, runs the plugin's SQL on SQLite in memory, has
//! a fixed clock, and records the plugin's actions. It answers native routes from the statement or feed that the
//! manifest names. It is simpler than the server: visibility follows a few rules, and limits and permissions are not
//! enforced. Test those with `rookery plugin test`, which runs the real server.
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
mod native;
mod pages;
mod queries;
mod render;
mod request;
mod sign_ups;
mod sql;
mod state;

pub use fixtures::{account, status};
pub use pages::Visit;
pub use request::{TestRequest, TestResponse};
pub use state::{Fake, State, StatusCounts};
