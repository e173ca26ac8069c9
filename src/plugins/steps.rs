//! The further steps of running commands, so that a run is logged once.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// Further steps of running commands that are remembered; a step that was forgotten is logged as a command of its own.
const STEPS: usize = 256;

/// Steps that commands asked for, with their plugins and commands: they belong to a run that is logged.
#[derive(Debug, Default)]
pub struct Steps(Mutex<VecDeque<u64>>);

impl Steps {
    fn named(name: &str, command: &str, args: &Value) -> u64 {
        let mut hasher = DefaultHasher::new();
        (name, command, args.to_string()).hash(&mut hasher);
        hasher.finish()
    }

    /// Notes that the next step of a command takes `args`.
    pub(crate) fn expect(&self, name: &str, command: &str, args: &Value) {
        let mut steps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if steps.len() >= STEPS {
            steps.pop_front();
        }
        steps.push_back(Self::named(name, command, args));
    }

    /// True for a step that a command asked for, once.
    pub(crate) fn take(&self, name: &str, command: &str, args: &Value) -> bool {
        let step = Self::named(name, command, args);
        let mut steps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = steps.iter().position(|known| *known == step);
        place.and_then(|place| steps.remove(place)).is_some()
    }
}
