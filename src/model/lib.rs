//! The domain model: plain types and newtype ids. No SQL; what clients see is built from these in `entity`.

// What `#[derive(Row)]` generates names this crate, here as elsewhere.
extern crate self as model;

pub mod account;
pub mod actor;
pub mod card;
pub mod clock;
mod cursor;
pub mod emoji;
pub mod filter;
mod grant;
mod id;
pub mod instance;
pub mod job;
pub mod link;
pub mod list;
pub mod marker;
pub mod media;
pub mod notification;
pub mod oauth;
pub mod params;
pub mod poll;
pub mod relationship;
pub mod report;
pub mod row;
pub mod scheduled_status;
pub mod scope;
pub mod settings;
pub mod severance;
pub mod span;
pub mod sqlite;
pub mod status;
pub mod suggestion;
mod text_enum;
mod time;
pub mod transfer;
pub mod translation;
pub mod trend;
pub mod urls;

pub use ::macros::{boxed, parameters, use_case};
pub use account::{Account, Field};
pub use actor::{Actor, Permissions, Preferences};
pub use card::PreviewCard;
pub use cursor::Cursor;
pub use emoji::{Emoji, Emojis};
pub use grant::Grant;
pub use id::{
    AccountId, AppId, ConversationId, FilterId, JobId, MediaId, NotificationId, PluginId, PollId, RowId, RuleId,
    ScheduledStatusId, StatusId, TagId, TokenId,
};
pub use media::MediaAttachment;
pub use notification::{Notification, NotificationType};
pub use oauth::Application;
pub use poll::Poll;
pub use row::Row;
pub use scheduled_status::ScheduledStatus;
pub use scope::Scopes;
pub use settings::Settings;
pub use sqlx::types::Json;
pub use status::{QuotePolicy, Status, Visibility};
pub use time::Time;

/// What the code of [`text_enum!`] names, wherever it is used.
#[doc(hidden)]
pub mod macros {
    pub use {schemars, serde, sqlx};
}
