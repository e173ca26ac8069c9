//! Size in bytes of a value that crosses between host and guest, for the limits `bytes_in` and `bytes_out`.
//!
//! Used by `plugin` for the parameters and results of calls, by `serve` for parameters and results of host functions,
//! and by a [`Host`](crate::Host) that stops at the [allowed](crate::Host::allow) size. Measures the host's
//! representation, not the canonical ABI.

use std::sync::Arc;

use crate::bindings::exports::{
    activity_filter, activity_handler, decorate, events, jobs, lifecycle, notification_filter, pages, routes, sign_up,
    status_filter,
};
use crate::bindings::imports::{core, core_write, feeds, http_client, kv, log, queue, sql, streaming, types};

/// A value that crosses between host and guest.
pub trait ByteSize: Sized {
    /// Whether the type owns no heap memory, so that the items of a list need not be visited.
    const NO_HEAP: bool = false;

    /// Bytes that it owns on the heap.
    fn heap_bytes(&self) -> usize {
        0
    }

    /// All its bytes: its own size and the memory that it owns.
    fn total_bytes(&self) -> usize {
        size_of::<Self>() + self.heap_bytes()
    }
}

/// Implements [`ByteSize`] for types that own no heap memory.
macro_rules! flat {
    ($($name:ty),* $(,)?) => { $(impl ByteSize for $name { const NO_HEAP: bool = true; })* };
}

/// Implements [`ByteSize`] for records, of which those fields are listed that own heap memory.
macro_rules! records {
    ($($name:ty { $($field:ident),* $(,)? })*) => {
        $(impl ByteSize for $name {
            fn heap_bytes(&self) -> usize {
                0 $(+ self.$field.heap_bytes())*
            }
        })*
    };
}

flat!(
    (),
    bool,
    u8,
    u16,
    u32,
    u64,
    i64,
    f64,
    types::Viewer,
    types::Page,
    types::Relationship,
    log::Level,
    sign_up::Admission
);

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
    routes::Response { headers, output }
    decorate::Extra { fields }
    pages::Request { ctx, page, params, after }
    pages::Choice { value, label }
    pages::Field { name, label, hint, input, value }
    pages::Form { id, title, fields, submit }
    pages::Action { id, label }
    pages::Item { id, title, lines, link, url, actions }
    pages::Items { title, items, none }
    pages::Figure { value, label }
    pages::Figures { title, figures }
    pages::Bar { label }
    pages::Bars { title, bars }
    pages::TitledStatus { title }
    pages::Statuses { title, statuses }
    pages::Person { line }
    pages::People { title, people }
    pages::Picture { id, title, lead, figures, bars, words, alt }
    pages::View { title, blocks, next }
    pages::Submission { form, item, values }
    status_filter::Change { text, spoiler, limited_scope, language, recipients, extra }
}

impl ByteSize for String {
    fn heap_bytes(&self) -> usize {
        self.len()
    }
}

impl ByteSize for &str {
    fn heap_bytes(&self) -> usize {
        self.len()
    }
}

impl<T: ByteSize> ByteSize for Vec<T> {
    fn heap_bytes(&self) -> usize {
        let heap_bytes: usize = if T::NO_HEAP { 0 } else { self.iter().map(ByteSize::heap_bytes).sum() };
        self.len() * size_of::<T>() + heap_bytes
    }
}

impl<T: ByteSize> ByteSize for Option<T> {
    const NO_HEAP: bool = T::NO_HEAP;

    fn heap_bytes(&self) -> usize {
        self.as_ref().map_or(0, ByteSize::heap_bytes)
    }
}

impl<T: ByteSize, E: ByteSize> ByteSize for Result<T, E> {
    fn heap_bytes(&self) -> usize {
        match self {
            Ok(value) => value.heap_bytes(),
            Err(error) => error.heap_bytes(),
        }
    }
}

impl<A: ByteSize, B: ByteSize> ByteSize for (A, B) {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes() + self.1.heap_bytes()
    }
}

impl<A: ByteSize, B: ByteSize, C: ByteSize> ByteSize for (A, B, C) {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes() + self.1.heap_bytes() + self.2.heap_bytes()
    }
}

impl<T: ByteSize> ByteSize for &T {
    fn heap_bytes(&self) -> usize {
        (*self).total_bytes()
    }
}

impl ByteSize for feeds::Feed {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Home(_) | Self::ListOf(_) => 0,
            Self::Custom(feed) => feed.name.len(),
        }
    }
}

impl ByteSize for sql::Value {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Null | Self::Boolean(_) | Self::Integer(_) | Self::Real(_) => 0,
            Self::Text(text) => text.len(),
            Self::Blob(bytes) => bytes.len(),
        }
    }
}

impl ByteSize for http_client::HttpError {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::BlockedAddress | Self::Timeout | Self::TooLarge(_) => 0,
            Self::Denied(text) | Self::Dns(text) | Self::Tls(text) | Self::Other(text) => text.len(),
        }
    }
}

impl ByteSize for Arc<[u8]> {
    fn heap_bytes(&self) -> usize {
        self.len()
    }
}

impl ByteSize for routes::Output {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Empty | Self::Status(_) | Self::Account(_) => 0,
            Self::Json(text) | Self::Template(text) => text.len(),
            Self::Statuses(ids) | Self::Accounts(ids) => ids.heap_bytes(),
            Self::Bytes(content) => content.heap_bytes(),
        }
    }
}

impl ByteSize for status_filter::Verdict {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Pass => 0,
            Self::Change(change) => change.heap_bytes(),
            Self::Refuse(failure) => failure.heap_bytes(),
        }
    }
}

impl ByteSize for activity_filter::Verdict {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Pass => 0,
            Self::Rewrite(text) | Self::Drop(text) | Self::Reject(text) => text.len(),
        }
    }
}

impl ByteSize for pages::Input {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Text(_) | Self::Integer(_) | Self::Flag => 0,
            Self::Choice(choices) => choices.heap_bytes(),
        }
    }
}

impl ByteSize for pages::Block {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Form(form) => form.heap_bytes(),
            Self::Items(items) => items.heap_bytes(),
            Self::Figures(figures) => figures.heap_bytes(),
            Self::Bars(bars) => bars.heap_bytes(),
            Self::Statuses(statuses) => statuses.heap_bytes(),
            Self::People(people) => people.heap_bytes(),
            Self::Picture(picture) => picture.heap_bytes(),
        }
    }
}

impl ByteSize for pages::Value {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Integer(_) | Self::Flag(_) => 0,
        }
    }
}

impl ByteSize for pages::Outcome {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Done(done) => done.heap_bytes(),
            Self::Invalid(faults) => faults.heap_bytes(),
        }
    }
}

impl ByteSize for jobs::Outcome {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Done | Self::Again(_) => 0,
            Self::GiveUp(why) => why.len(),
        }
    }
}

impl ByteSize for routes::Body {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Json(text) => text.len(),
            Self::Form(pairs) => pairs.heap_bytes(),
            Self::Bytes(bytes) => bytes.len(),
        }
    }
}

impl ByteSize for events::Subject {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Status(status) => status.heap_bytes(),
            Self::Account(account) => account.heap_bytes(),
            Self::Id(_) => 0,
            Self::Json(text) => text.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_weighs_its_owned_bytes() {
        assert_eq!(vec![0_u8; 1000].heap_bytes(), 1000);
        assert_eq!(vec!["ab".to_owned(), "c".to_owned()].heap_bytes(), 3 + 2 * size_of::<String>());
        assert_eq!(sql::Value::Text("four".to_owned()).heap_bytes(), 4);
        assert_eq!(Some(vec![1_i64, 2]).heap_bytes(), 16);
        let nested = vec![("key".to_owned(), vec![sql::Value::Blob(vec![0; 10])])];
        assert!(nested.total_bytes() >= 13 + size_of::<sql::Value>());
    }
}
