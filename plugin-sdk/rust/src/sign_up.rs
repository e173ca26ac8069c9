//! What hooks on sign-ups are given.

use serde::de::DeserializeOwned;

use crate::Result;

/// A sign-up: the parameters that the manifest lists.
#[derive(Clone, Debug)]
pub struct SignUp {
    params: String,
}

impl SignUp {
    #[doc(hidden)]
    #[must_use]
    pub fn new(params: String) -> Self {
        Self { params }
    }

    /// A parameter, parsed leniently as in routes; `None` when it was not sent.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) that names the parameter.
    pub fn param<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let params: serde_json::Value = serde_json::from_str(&self.params)?;
        match params.get(name) {
            None | Some(serde_json::Value::Null) => Ok(None),
            Some(value) if value.as_str() == Some("") => Ok(None),
            Some(value) => crate::params::read_member(name, value).map(Some),
        }
    }
}
