//! OAuth scopes that extensions declare.

use async_trait::async_trait;

use crate::error::Result;
use database::Db;

/// OAuth scopes of extensions. The default of every method is the behaviour of a server without extensions.
#[async_trait]
pub trait DeclareScopes {
    /// The OAuth scopes that extensions declare, each once, in the order of the extensions' names. Applications may
    /// request them while the extension is enabled; tokens keep them when it is not.
    fn scopes(&self) -> Vec<DeclaredScope> {
        Vec::new()
    }

    /// As [`DeclareScopes::scopes`], also in a command outside the server, where no extension runs: reads the scopes
    /// that the server stored.
    async fn stored_scopes(&self, _db: &Db) -> Result<Vec<DeclaredScope>> {
        Ok(self.scopes())
    }
}

/// An OAuth scope that an extension declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredScope {
    /// The name in requests of applications: [`model::scope::is_extension`].
    pub name: String,
    /// Its meaning, for the consent page.
    pub description: String,
}
