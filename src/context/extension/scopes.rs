//! OAuth scopes that extensions declare.

use async_trait::async_trait;

use crate::error::Result;
use database::Db;

/// Asks extensions for the OAuth scopes that they declare. The default of every method is the behaviour of a server without extensions.
#[async_trait]
pub trait DeclareScopes {
    /// The OAuth scopes that extensions declare, each once, in the order of the extensions' names. Applications may ask for
    /// them while the extension is on; tokens keep them when it is not.
    fn scopes(&self) -> Vec<DeclaredScope> {
        Vec::new()
    }

    /// As [`DeclareScopes::scopes`], also in a program beside the server, where no extension runs: as the server stored them.
    async fn stored_scopes(&self, _db: &Db) -> Result<Vec<DeclaredScope>> {
        Ok(self.scopes())
    }
}

/// An OAuth scope that an extension declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredScope {
    /// As applications ask for it: [`model::scope::is_extension`].
    pub name: String,
    /// Its meaning, for the consent page.
    pub description: String,
}
