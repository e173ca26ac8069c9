//! Recorders of the steps of a lookup: the context, which keeps them for `rookery federation explain`, or nothing.

use context::Cx;

/// Takes the steps of a lookup.
pub(crate) trait Steps {
    /// Takes a step: its name, whether the lookup goes on, and a text that is made only when it is kept.
    fn step(&self, name: &'static str, passed: bool, text: impl FnOnce() -> String);
}

impl Steps for Cx {
    fn step(&self, name: &'static str, passed: bool, text: impl FnOnce() -> String) {
        Self::step(self, name, passed, text);
    }
}

#[cfg(test)]
impl Steps for () {
    fn step(&self, _: &'static str, _: bool, _: impl FnOnce() -> String) {}
}
