//! View models of web pages and feeds: template values for accounts and statuses, built a page at a time.
//!
//! Built from the JSON of the API's entities (`source`): one statement per kind of row, whatever the page's length. A field
//! called `*_html` is sanitised and is not escaped.

mod account;
mod author;
mod clip;
mod notification;
mod poll;
mod reactions;
mod request;
mod source;
mod status;
mod view;

pub use account::{Moved, WebAccount, WebField, account, with_emojis};
pub use author::{Author, authors, authors_of, relationship};
pub use clip::clip;
pub use notification::{WebConversation, WebNotification, WebSender, conversations, notifications, senders};
pub use poll::{WebOption, WebPoll};
pub use reactions::{WebReaction, WebReactions};
pub use request::{WebRequest, WebTarget, requests};
pub use source::WebCard;
pub use status::{Enclosure, FeedStatus, feed, media, statuses, statuses_of};
pub use view::{Media, WebFilter, WebMarks, WebQuote, WebStatus};
