//! API actions of a person, one method each.
//!
//! Methods that write a status return the [`Published`] status and advance the clock first, so that no two statuses
//! have the same time. All others return the request: the test states the expected result with `.ok().await` or
//! `.fails(404).await`.

use std::fmt;
use std::ops::Deref;

use model::{AccountId, StatusId};
use serde_json::{Value, json};

use super::{Client, RequestBuilder};

/// The response to the author of a new status. It is displayed as its id.
#[derive(Clone, Debug, PartialEq)]
pub struct Published(Value);

impl Published {
    pub fn id(&self) -> &str {
        self.0["id"].as_str().expect("a status has an id")
    }

    pub fn into_id(self) -> String {
        self.id().to_owned()
    }

    /// The id as an integer.
    pub fn number(&self) -> i64 {
        self.id().parse().unwrap()
    }

    /// The path of the status, followed by `rest`: `status.path("/context")`.
    pub fn path(&self, rest: &str) -> String {
        status_path(self, rest)
    }

    pub fn into_json(self) -> Value {
        self.0
    }
}

impl Deref for Published {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl fmt::Display for Published {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.id())
    }
}

impl PartialEq<Value> for Published {
    fn eq(&self, other: &Value) -> bool {
        self.0 == *other
    }
}

impl PartialEq<Published> for Value {
    fn eq(&self, other: &Published) -> bool {
        *self == other.0
    }
}

/// Body of a new status: its text, or the JSON of the whole request.
pub trait Draft {
    fn body(self) -> Value;
}

impl Draft for &str {
    fn body(self) -> Value {
        json!({ "status": self })
    }
}

impl Draft for &String {
    fn body(self) -> Value {
        json!({ "status": self })
    }
}

impl Draft for Value {
    fn body(self) -> Value {
        self
    }
}

impl Draft for &Value {
    fn body(self) -> Value {
        self.clone()
    }
}

/// A status or account in any of the forms that tests use, with the id for a path.
pub trait Identified {
    fn id_text(&self) -> String;
}

impl<T: Identified + ?Sized> Identified for &T {
    fn id_text(&self) -> String {
        (**self).id_text()
    }
}

impl Identified for Published {
    fn id_text(&self) -> String {
        self.id().to_owned()
    }
}

/// A document with an id, or the id alone.
impl Identified for Value {
    fn id_text(&self) -> String {
        self.as_str().or_else(|| self["id"].as_str()).expect("an id").to_owned()
    }
}

impl Identified for Client {
    fn id_text(&self) -> String {
        self.id().to_string()
    }
}

impl Identified for str {
    fn id_text(&self) -> String {
        self.to_owned()
    }
}

impl Identified for String {
    fn id_text(&self) -> String {
        self.clone()
    }
}

impl Identified for i64 {
    fn id_text(&self) -> String {
        self.to_string()
    }
}

impl Identified for AccountId {
    fn id_text(&self) -> String {
        self.to_string()
    }
}

impl Identified for StatusId {
    fn id_text(&self) -> String {
        self.to_string()
    }
}

/// The path of a status, followed by `rest`: `status_path(&status, "/context")`.
pub fn status_path(status: &(impl Identified + ?Sized), rest: &str) -> String {
    format!("/api/v1/statuses/{}{rest}", status.id_text())
}

/// The path of an account, followed by `rest`: `account_path(&bob, "/statuses")`.
pub fn account_path(account: &(impl Identified + ?Sized), rest: &str) -> String {
    format!("/api/v1/accounts/{}{rest}", account.id_text())
}

/// Statuses.
impl Client {
    pub async fn publish(&self, draft: impl Draft) -> Published {
        self.server.tick();
        Published(self.post("/api/v1/statuses").json(&draft.body()).ok().await)
    }

    /// Publishes with a visibility: `public`, `unlisted`, `private` or `direct`.
    pub async fn publish_to(&self, visibility: &str, text: &str) -> Published {
        self.publish(json!({ "status": text, "visibility": visibility })).await
    }

    pub async fn reply(&self, parent: &(impl Identified + ?Sized), text: &str) -> Published {
        self.publish(json!({ "status": text, "in_reply_to_id": parent.id_text() })).await
    }

    /// The account with this address, looked up as apps do.
    pub async fn search_account(&self, address: &str) -> Value {
        let found = self.get(&format!("/api/v2/search?q=@{address}&resolve=true&type=accounts")).ok().await;
        found["accounts"].get(0).cloned().unwrap_or_else(|| panic!("{address} was not found: {found}"))
    }

    /// The status with this URL, looked up as apps do.
    pub async fn search_status(&self, url: &Value) -> Value {
        let url: String = url::form_urlencoded::byte_serialize(url.as_str().unwrap().as_bytes()).collect();
        let found = self.get(&format!("/api/v2/search?q={url}&resolve=true&type=statuses")).ok().await;
        found["statuses"].get(0).cloned().unwrap_or_else(|| panic!("{url} was not found: {found}"))
    }

    pub fn status(&self, status: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.get(&status_path(status, ""))
    }

    pub fn edit(&self, status: &(impl Identified + ?Sized), draft: impl Draft) -> RequestBuilder {
        self.put(&status_path(status, "")).json(&draft.body())
    }

    pub fn delete_status(&self, status: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.delete(&status_path(status, ""))
    }

    pub fn favourite(&self, status: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.post(&status_path(status, "/favourite"))
    }

    pub fn unfavourite(&self, status: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.post(&status_path(status, "/unfavourite"))
    }

    pub fn reblog(&self, status: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.post(&status_path(status, "/reblog"))
    }

    pub fn unreblog(&self, status: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.post(&status_path(status, "/unreblog"))
    }

    pub fn bookmark(&self, status: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.post(&status_path(status, "/bookmark"))
    }

    pub fn unbookmark(&self, status: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.post(&status_path(status, "/unbookmark"))
    }

    pub fn pin(&self, status: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.post(&status_path(status, "/pin"))
    }

    pub fn unpin(&self, status: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.post(&status_path(status, "/unpin"))
    }

    pub fn mute_conversation(&self, status: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.post(&status_path(status, "/mute"))
    }

    pub fn unmute_conversation(&self, status: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.post(&status_path(status, "/unmute"))
    }
}

/// Other people.
impl Client {
    pub fn follow(&self, target: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.post(&account_path(target, "/follow"))
    }

    pub fn unfollow(&self, target: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.post(&account_path(target, "/unfollow"))
    }

    pub fn block(&self, target: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.post(&account_path(target, "/block"))
    }

    pub fn unblock(&self, target: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.post(&account_path(target, "/unblock"))
    }

    pub fn mute(&self, target: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.post(&account_path(target, "/mute"))
    }

    pub fn unmute(&self, target: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.post(&account_path(target, "/unmute"))
    }

    /// Accepts a follow request.
    pub fn authorize(&self, follower: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.post(&format!("/api/v1/follow_requests/{}/authorize", follower.id_text()))
    }

    /// Declines a follow request.
    pub fn reject(&self, follower: &(impl Identified + ?Sized)) -> RequestBuilder {
        self.post(&format!("/api/v1/follow_requests/{}/reject", follower.id_text()))
    }
}

/// The person's own records.
impl Client {
    /// Changes the profile or preferences: `alice.update_profile(json!({ "locked": true }))`.
    #[expect(clippy::needless_pass_by_value, reason = "what is passed is written at the call")]
    pub fn update_profile(&self, changes: Value) -> RequestBuilder {
        self.patch("/api/v1/accounts/update_credentials").json(&changes)
    }

    /// Creates a list and returns its id.
    pub async fn make_list(&self, title: &str) -> String {
        self.make_list_with(json!({ "title": title })).await
    }

    /// Creates a list with these parameters and returns its id.
    pub async fn make_list_with(&self, parameters: Value) -> String {
        self.post("/api/v1/lists").json(&parameters).ok().await.id_text()
    }

    pub fn add_to_list(&self, list: &str, people: &[&Self]) -> RequestBuilder {
        let ids: Vec<String> = people.iter().map(Identified::id_text).collect();
        self.post(&format!("/api/v1/lists/{list}/accounts")).json(&json!({ "account_ids": ids }))
    }

    pub fn upload(&self, file: &[u8]) -> RequestBuilder {
        self.upload_with(file, &[])
    }

    /// Uploads a file with fields, such as `description`.
    pub fn upload_with(&self, file: &[u8], fields: &[(&str, &str)]) -> RequestBuilder {
        self.post("/api/v2/media").multipart(fields, &[("file", "file", file)])
    }
}
