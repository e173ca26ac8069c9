//! Implements the sandbox's host trait: each function of the contract delegates to the module for its interface.

use std::sync::Arc;

use async_trait::async_trait;
use rookery_plugin_host::Host;
use rookery_plugin_host::imports::types::Failure;
use rookery_plugin_host::imports::{http_client, log};

use super::Call;
use super::transaction::late;
use crate::failure::{TRANSACTION_TIME, log_cause};

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

    fn permit(&self, permission: &'static str) -> Result<(), Failure> {
        self.need_write(permission)
    }

    async fn late(&self) {
        late(&self.deadline).await;
    }

    fn is_late(&self, failure: &Failure) -> bool {
        failure.code == TRANSACTION_TIME
    }

    async fn end_late(&self) -> Failure {
        self.end_late_transaction().await
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
