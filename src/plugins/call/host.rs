//! Implements the sandbox's host trait: each function of the contract delegates to the module for its interface.

use std::sync::Arc;

use async_trait::async_trait;
use rookery_plugin_host::Host;
use rookery_plugin_host::imports::types::{Account, Failure, Page, Relationship, Status, Viewer};
use rookery_plugin_host::imports::{core, core_write, feeds, http_client, kv, log, queue, sql, streaming};

use super::Call;
use super::failure::log_cause;

#[async_trait]
impl Host for Call {
    fn allow(&self, bytes: usize) {
        self.allow_answer(bytes);
    }

    fn person(&self) -> Option<i64> {
        Some(self.on_behalf_of()?.into())
    }

    fn failed(&self, function: &'static str, failure: &mut Failure) {
        log_cause(self.active.name(), function, failure);
    }

    fn emit(&self, level: log::Level, message: &str, fields: &[(String, String)]) {
        self.log(level, message, fields);
    }
    fn counter(&self, name: &str, labels: &[(String, String)], add: u64) {
        self.count(name, labels, add);
    }
    fn observe(&self, name: &str, labels: &[(String, String)], value: f64) {
        self.measure(name, labels, value);
    }

    fn now(&self) -> i64 {
        self.cx.clock.now().timestamp_millis()
    }
    fn random(&self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        crypto::fill_random(&mut bytes);
        bytes
    }

    fn config_get(&self, key: &str) -> Option<String> {
        self.active.config.0.get(key).map(ToString::to_string)
    }
    fn config_all(&self) -> String {
        self.active.config.0.to_string()
    }
    fn config_secret(&self, name: &str) -> Option<String> {
        self.active.secrets.get(name).map(|secret| secret.expose().to_owned())
    }
    fn config_version(&self) -> u64 {
        self.active.config.1
    }

    fn seal(&self, purpose: &str, text: &str) -> Result<String, Failure> {
        self.seal_text(purpose, text)
    }
    fn open(&self, purpose: &str, token: &str) -> Option<String> {
        self.open_token(purpose, token)
    }

    async fn settings_get(&self, accounts: Vec<i64>) -> Result<Vec<String>, Failure> {
        self.in_time(self.read_settings(accounts)).await
    }
    async fn settings_set(&self, account: i64, members: String) -> Result<(), Failure> {
        self.in_time(self.write_settings(account, &members)).await
    }

    async fn statuses(&self, viewer: Viewer, ids: Vec<i64>) -> Result<Vec<Option<Status>>, Failure> {
        self.read_statuses(viewer, ids).await
    }
    async fn accounts(&self, ids: Vec<i64>) -> Result<Vec<Option<Account>>, Failure> {
        self.read_accounts(ids).await
    }
    async fn accounts_by_acct(&self, accts: Vec<String>) -> Result<Vec<Option<Account>>, Failure> {
        self.read_accounts_by_acct(accts).await
    }
    async fn relationships(&self, of: i64, others: Vec<i64>) -> Result<Vec<Relationship>, Failure> {
        self.read_relationships(of, others).await
    }
    async fn visible(&self, viewer: Viewer, ids: Vec<i64>) -> Result<Vec<bool>, Failure> {
        self.read_visible(viewer, ids).await
    }
    async fn followers_among(&self, of: i64, among: Vec<i64>) -> Result<Vec<i64>, Failure> {
        self.read_followers_among(of, among).await
    }
    async fn emojis(&self, names: Vec<String>) -> Result<Vec<Option<core::Emoji>>, Failure> {
        self.read_emojis(names).await
    }
    async fn normalise(&self, kind: String, texts: Vec<String>) -> Result<Vec<Option<String>>, Failure> {
        self.normal_forms(&kind, &texts)
    }

    async fn create_statuses(&self, items: Vec<core_write::NewStatus>) -> Result<Vec<Result<i64, Failure>>, Failure> {
        self.in_time(self.publish_statuses(items)).await
    }
    async fn delete_statuses(&self, ids: Vec<i64>) -> Result<u32, Failure> {
        self.in_time(self.remove_statuses(ids)).await
    }
    async fn bookmark(&self, account: i64, statuses: Vec<i64>) -> Result<Vec<bool>, Failure> {
        self.in_time(self.bookmark_statuses(account, statuses)).await
    }
    async fn notify(&self, items: Vec<core_write::NewNotification>) -> Result<u32, Failure> {
        self.in_time(self.notify_accounts(items)).await
    }
    async fn retract(&self, kind: String, activities: Vec<i64>) -> Result<u32, Failure> {
        self.in_time(self.retract_notifications(kind, activities)).await
    }
    async fn touch(&self, kind: String, ids: Vec<i64>) -> Result<(), Failure> {
        self.in_time(self.touch_entities(&kind, ids)).await
    }
    async fn follow(&self, account: i64, targets: Vec<i64>) -> Result<Vec<bool>, Failure> {
        self.in_time(self.follow_accounts(account, &targets)).await
    }
    async fn remove_profile_images(&self, account: i64, images: Vec<String>) -> Result<u32, Failure> {
        self.in_time(self.remove_images(account, &images)).await
    }

    async fn feeds_insert(&self, entries: Vec<feeds::Entry>) -> Result<u32, Failure> {
        self.in_time(self.insert_entries(entries)).await
    }
    async fn feeds_remove(&self, feed: feeds::Feed, ids: Vec<i64>) -> Result<u32, Failure> {
        self.in_time(self.remove_entries(feed, ids)).await
    }
    async fn feeds_remove_authors(&self, feeds: Vec<feeds::Feed>, authors: Vec<i64>) -> Result<u32, Failure> {
        self.in_time(self.remove_authors(feeds, authors)).await
    }
    async fn feeds_range(&self, feed: feeds::Feed, page: Page) -> Result<Vec<i64>, Failure> {
        self.in_time(self.read_range(feed, page)).await
    }
    async fn feeds_drop(&self, feeds: Vec<feeds::Feed>) -> Result<(), Failure> {
        self.in_time(self.drop_feeds(feeds)).await
    }

    async fn publish(&self, messages: Vec<streaming::Message>) -> Result<u32, Failure> {
        self.publish_messages(messages)
    }

    async fn sql_query(&self, statement: String, params: Vec<sql::Value>) -> Result<sql::Rows, Failure> {
        self.in_time(self.query(statement, params)).await
    }
    async fn sql_batch(&self, calls: Vec<sql::Call>) -> Result<Vec<sql::Rows>, Failure> {
        self.in_time(self.batch(calls)).await
    }
    async fn sql_many(&self, statement: String, width: u16, params: Vec<sql::Value>) -> Result<u64, Failure> {
        self.in_time(self.many(statement, width, params)).await
    }

    async fn enqueue(&self, jobs: Vec<queue::Job>) -> Result<u32, Failure> {
        self.in_time(self.enqueue_jobs(jobs)).await
    }
    async fn cancel(&self, kind: String, unique: Vec<String>) -> Result<u32, Failure> {
        self.in_time(self.cancel_jobs(&kind, &unique)).await
    }

    async fn kv_get(&self, keys: Vec<String>) -> Result<Vec<Option<Vec<u8>>>, Failure> {
        self.in_time(self.get_values(keys)).await
    }
    async fn kv_set(&self, items: Vec<kv::Item>) -> Result<(), Failure> {
        self.in_time(self.set_values(items)).await
    }
    async fn kv_delete(&self, keys: Vec<String>) -> Result<u32, Failure> {
        self.in_time(self.delete_values(keys)).await
    }
    async fn kv_add(&self, key: String, delta: i64) -> Result<i64, Failure> {
        self.in_time(self.add_to_value(key, delta)).await
    }
    async fn kv_scan(&self, prefix: String, after: Option<String>, limit: u16) -> Result<Vec<kv::Item>, Failure> {
        self.in_time(self.scan_values(&prefix, after.as_deref(), limit)).await
    }

    fn cache_get(&self, key: &str) -> Option<Arc<[u8]>> {
        self.remembered(key)
    }
    fn cache_set(&self, key: String, value: Vec<u8>, ttl_ms: u32) {
        self.remember(key, value, ttl_ms);
    }
    fn cache_drop_prefix(&self, prefix: &str) {
        self.forget(prefix);
    }

    async fn fetch(
        &self,
        requests: Vec<http_client::Request>,
    ) -> Vec<Result<http_client::Response, http_client::HttpError>> {
        self.fetch_all(requests).await
    }
}
