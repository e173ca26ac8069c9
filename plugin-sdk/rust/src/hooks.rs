//! Helper methods on the records that hooks and jobs receive and return.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::contract::decorate::Extra;
use crate::contract::events::{Event, Subject};
use crate::contract::jobs::{Outcome, Task};
use crate::contract::status_filter::{Change, Draft};
use crate::contract::types::Status;
use crate::{Error, Id, Result};

impl Event {
    /// The subject, if it is a status.
    #[must_use]
    pub fn status(&self) -> Option<&Status> {
        if let Subject::Status(status) = &self.subject { Some(status) } else { None }
    }

    /// The id of the subject: a status, an account or a bare id.
    #[must_use]
    pub fn id(&self) -> Option<i64> {
        match &self.subject {
            Subject::Status(status) => Some(status.id),
            Subject::Account(account) => Some(account.id),
            Subject::Id(id) => Some(*id),
            Subject::Json(_) => None,
        }
    }

    /// The subject, if it is JSON; [`Error::Internal`] for any other.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        match &self.subject {
            Subject::Json(text) => Ok(serde_json::from_str(text)?),
            _ => Err(Error::internal(format!("{} carries no JSON", self.kind))),
        }
    }

    /// Two ids of a JSON subject: `event.pair("account", "status")`.
    pub fn pair(&self, first: &str, second: &str) -> Result<(Id, Id)> {
        let object: std::collections::BTreeMap<String, serde_json::Value> = self.json()?;
        let id = |name: &str| {
            object
                .get(name)
                .and_then(|value| value.as_str()?.parse().ok())
                .ok_or_else(|| Error::internal(format!("{} has no {name}", self.kind)))
        };
        Ok((id(first)?, id(second)?))
    }
}

impl Draft {
    /// A parameter of the request, listed under `params` in the manifest and parsed leniently, as in routes; `None`
    /// when it was not sent.
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the parameter.
    pub fn param<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let extra: serde_json::Value = serde_json::from_str(&self.extra)?;
        match extra.get(name) {
            None | Some(serde_json::Value::Null) => Ok(None),
            Some(value) if value.as_str() == Some("") => Ok(None),
            Some(value) => crate::params::read_member(name, value).map(Some),
        }
    }
}

/// Changes nothing: write `Change { sensitive: Some(true), ..Change::default() }`.
impl Default for Change {
    fn default() -> Self {
        Self {
            text: None,
            spoiler: None,
            visibility: None,
            limited_scope: None,
            sensitive: None,
            language: None,
            recipients: None,
            extra: None,
            new_conversation: false,
        }
    }
}

impl Task {
    /// The payload with which it was queued.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T> {
        Ok(serde_json::from_str(&self.payload)?)
    }
}

/// The result of the function of a job: nothing, or an outcome.
pub trait IntoOutcome {
    /// As the outcome of the contract.
    fn into_outcome(self) -> Outcome;
}

impl IntoOutcome for () {
    fn into_outcome(self) -> Outcome {
        Outcome::Done
    }
}

impl IntoOutcome for Outcome {
    fn into_outcome(self) -> Outcome {
        self
    }
}

/// The members that a `decorate` hook adds to its targets.
#[derive(Clone, Debug, Default)]
pub struct Extras(Vec<Extra>);

impl Extras {
    /// No members.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a member to `targets[index]`. `a.b` is member `b` of the object `a`.
    pub fn set<T: Serialize + ?Sized>(&mut self, index: usize, field: &str, value: &T) -> Result<()> {
        let index = u32::try_from(index).map_err(Error::internal)?;
        let member = (field.to_owned(), serde_json::to_string(value)?);
        match self.0.last_mut().filter(|extra| extra.index == index) {
            Some(extra) => extra.fields.push(member),
            None => self.0.push(Extra { index, fields: vec![member] }),
        }
        Ok(())
    }

    #[doc(hidden)]
    #[must_use]
    pub fn into_list(self) -> Vec<Extra> {
        self.0
    }
}
