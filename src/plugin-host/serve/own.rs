//! Host functions of a plugin's own state: logs and metrics, time, configuration, sealing, cache.

use wasmtime::Result;

use crate::bindings::imports::types::Failure;
use crate::bindings::imports::{cache, config, log, sealing, system, types};
use crate::byte_size::ByteSize;
use crate::call::one_line;
use crate::error::CallErrorKind;
use crate::state::State;

/// Most random bytes in one call.
const RANDOM: u32 = 64 << 10;

impl types::Host for State {}

impl log::Host for State {
    async fn emit(&mut self, level: log::Level, message: String, fields: Vec<(String, String)>) -> Result<()> {
        let bytes = message.heap_bytes() + fields.heap_bytes();
        self.ask("log.emit", 1, bytes, |host| host.emit(level, &message, &fields))?;
        if let Some(scope) = self.scope.as_mut().filter(|_| level == log::Level::Error) {
            scope.last_words = Some(one_line(&message));
        }
        Ok(())
    }

    async fn counter(&mut self, name: String, labels: Vec<(String, String)>, add: u64) -> Result<()> {
        self.ask("log.counter", 1, name.heap_bytes() + labels.heap_bytes(), |host| host.counter(&name, &labels, add))
    }

    async fn observe(&mut self, name: String, labels: Vec<(String, String)>, value: f64) -> Result<()> {
        self.ask("log.observe", 1, name.heap_bytes() + labels.heap_bytes(), |host| host.observe(&name, &labels, value))
    }
}

impl system::Host for State {
    async fn now(&mut self) -> Result<i64> {
        self.ask("system.now", 1, 0, |host| host.now())
    }

    async fn elapsed(&mut self) -> Result<u64> {
        let began = self.scope.as_ref().map(|scope| scope.began);
        let elapsed = began.map_or(0, |began| u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX));
        self.ask("system.elapsed", 1, 0, |_| elapsed)
    }

    async fn random(&mut self, length: u32) -> Result<Vec<u8>> {
        if length > RANDOM {
            return Err(
                self.trip(CallErrorKind::Limit, format!("random: asked for {length} of {RANDOM} bytes at once"))
            );
        }
        self.ask("system.random", 1, 0, |host| host.random(usize::try_from(length).unwrap_or(0)))
    }
}

impl config::Host for State {
    async fn get(&mut self, key: String) -> Result<Option<String>> {
        self.ask("config.get", 1, key.heap_bytes(), |host| host.config_get(&key))
    }

    async fn all(&mut self) -> Result<String> {
        self.ask("config.all", 1, 0, |host| host.config_all())
    }

    async fn secret(&mut self, name: String) -> Result<Option<String>> {
        self.ask("config.secret", 1, name.heap_bytes(), |host| host.config_secret(&name))
    }

    async fn version(&mut self) -> Result<u64> {
        self.ask("config.version", 1, 0, |host| host.config_version())
    }
}

impl sealing::Host for State {
    async fn seal(&mut self, purpose: String, text: String) -> Result<Result<String, Failure>> {
        let bytes = purpose.heap_bytes() + text.heap_bytes();
        self.ask("sealing.seal", 1, bytes, |host| host.seal(&purpose, &text))
    }

    async fn open(&mut self, purpose: String, token: String) -> Result<Option<String>> {
        let bytes = purpose.heap_bytes() + token.heap_bytes();
        self.ask("sealing.open", 1, bytes, |host| host.open(&purpose, &token))
    }
}

impl cache::Host for State {
    async fn get(&mut self, key: String) -> Result<Option<Vec<u8>>> {
        let found = self.ask("cache.get", 1, key.heap_bytes(), |host| host.cache_get(&key))?;
        Ok(found.map(|value| value.to_vec()))
    }

    async fn set(&mut self, key: String, value: Vec<u8>, ttl_ms: u32) -> Result<()> {
        let bytes = key.heap_bytes() + value.heap_bytes();
        self.ask("cache.set", 1, bytes, |host| host.cache_set(key, value, ttl_ms))
    }

    async fn drop_prefix(&mut self, prefix: String) -> Result<()> {
        self.ask("cache.drop-prefix", 1, prefix.heap_bytes(), |host| host.cache_drop_prefix(&prefix))
    }
}
