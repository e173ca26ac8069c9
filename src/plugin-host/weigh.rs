//! Size in bytes of a value that crosses between host and guest, for the limits `bytes_in` and `bytes_out`.
//!
//! Used by `plugin` for the parameters of calls, and by `serve` for those of host functions and for their answers.
//! Measures the host's representation, not that of the canonical ABI.

use crate::bindings::exports::{
    activity_filter, activity_handler, decorate, events, jobs, lifecycle, notification_filter, routes, status_filter,
};
use crate::bindings::imports::{core, core_write, feeds, http_client, kv, log, queue, sql, streaming, types};
use crate::host::Transaction;

/// A value that crosses between host and guest.
pub(crate) trait Weigh: Sized {
    /// Whether the type owns no heap memory, so that the items of a list need not be visited.
    const FLAT: bool = false;

    /// Bytes that it owns on the heap.
    fn owned(&self) -> usize {
        0
    }

    /// All its bytes: its own size and what it owns.
    fn weigh(&self) -> usize {
        size_of::<Self>() + self.owned()
    }
}

/// Implements [`Weigh`] for types that own no heap memory.
macro_rules! flat {
    ($($name:ty),* $(,)?) => { $(impl Weigh for $name { const FLAT: bool = true; })* };
}

/// Implements [`Weigh`] for records, of which those fields are listed that own heap memory.
macro_rules! records {
    ($($name:ty { $($field:ident),* $(,)? })*) => {
        $(impl Weigh for $name {
            fn owned(&self) -> usize {
                0 $(+ self.$field.owned())*
            }
        })*
    };
}

flat!((), bool, u8, u16, u32, u64, i64, f64, types::Viewer, types::Page, types::Relationship, log::Level, sql::Dialect);

records! {
    types::Failure { code, message, detail }
    types::Caller { scopes, locale, app }
    types::CallContext { request_id, caller }
    types::Status { domain, uri, searchability, text, language, tags, mentions, extra }
    types::Account { acct, domain, uri, display_name, extra }
    core::Emoji { name, domain, url, static_url }
    core_write::NewStatus { text, spoiler, language, media, recipients, extra, idempotency_key }
    core_write::NewNotification { kind }
    feeds::Entry { feed }
    streaming::Message { topic, event, payload }
    sql::Rows { columns, values }
    sql::Call { statement, params }
    kv::Item { key, value }
    http_client::Request { method, url, headers, body }
    http_client::Response { headers, body, url }
    queue::Job { kind, payload, unique }
    lifecycle::Environment { plugin, version, host_version, api_version, instance_domain, config }
    routes::Request { ctx, route, method, path, params, query, headers, body }
    status_filter::Draft { text, spoiler, language, media, recipients, extra }
    events::Event { kind, subject }
    notification_filter::Draft { kind }
    activity_filter::Envelope { kind, object_kind, actor, host, activity }
    activity_handler::Incoming { kind, activity }
    decorate::Target { code }
    jobs::Task { kind, payload }
}

impl Weigh for Transaction {
    const FLAT: bool = true;
}

impl Weigh for String {
    fn owned(&self) -> usize {
        self.len()
    }
}

impl Weigh for &str {
    fn owned(&self) -> usize {
        self.len()
    }
}

impl<T: Weigh> Weigh for Vec<T> {
    fn owned(&self) -> usize {
        let owned: usize = if T::FLAT { 0 } else { self.iter().map(Weigh::owned).sum() };
        self.len() * size_of::<T>() + owned
    }
}

impl<T: Weigh> Weigh for Option<T> {
    const FLAT: bool = T::FLAT;

    fn owned(&self) -> usize {
        self.as_ref().map_or(0, Weigh::owned)
    }
}

impl<T: Weigh, E: Weigh> Weigh for Result<T, E> {
    fn owned(&self) -> usize {
        match self {
            Ok(value) => value.owned(),
            Err(error) => error.owned(),
        }
    }
}

impl<A: Weigh, B: Weigh> Weigh for (A, B) {
    fn owned(&self) -> usize {
        self.0.owned() + self.1.owned()
    }
}

impl<A: Weigh, B: Weigh, C: Weigh> Weigh for (A, B, C) {
    fn owned(&self) -> usize {
        self.0.owned() + self.1.owned() + self.2.owned()
    }
}

impl<T: Weigh> Weigh for &T {
    fn owned(&self) -> usize {
        (*self).weigh()
    }
}

impl Weigh for feeds::Feed {
    fn owned(&self) -> usize {
        match self {
            Self::Home(_) | Self::ListOf(_) => 0,
            Self::Custom(feed) => feed.name.len(),
        }
    }
}

impl Weigh for sql::Value {
    fn owned(&self) -> usize {
        match self {
            Self::Null | Self::Boolean(_) | Self::Integer(_) | Self::Real(_) => 0,
            Self::Text(text) => text.len(),
            Self::Blob(bytes) => bytes.len(),
        }
    }
}

impl Weigh for http_client::HttpError {
    fn owned(&self) -> usize {
        match self {
            Self::BlockedAddress | Self::Timeout | Self::TooLarge(_) => 0,
            Self::Denied(text) | Self::Dns(text) | Self::Tls(text) | Self::Other(text) => text.len(),
        }
    }
}

impl Weigh for routes::Body {
    fn owned(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Json(text) => text.len(),
            Self::Form(pairs) => pairs.owned(),
            Self::Bytes(bytes) => bytes.len(),
        }
    }
}

impl Weigh for events::Subject {
    fn owned(&self) -> usize {
        match self {
            Self::Status(status) => status.owned(),
            Self::Account(account) => account.owned(),
            Self::Id(_) => 0,
            Self::Json(text) => text.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_weighs_what_it_owns() {
        assert_eq!(vec![0_u8; 1000].owned(), 1000);
        assert_eq!(vec!["ab".to_owned(), "c".to_owned()].owned(), 3 + 2 * size_of::<String>());
        assert_eq!(sql::Value::Text("four".to_owned()).owned(), 4);
        assert_eq!(Some(vec![1_i64, 2]).owned(), 16);
        let nested = vec![("key".to_owned(), vec![sql::Value::Blob(vec![0; 10])])];
        assert!(nested.weigh() >= 13 + size_of::<sql::Value>());
    }
}
