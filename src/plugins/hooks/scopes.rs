//! The OAuth scopes that plugins declare.

use crate::cx::Session;
use async_trait::async_trait;
use context::Result;
use context::extension::{DeclareScopes, DeclaredScope};
use database::Db;
use plugin_package::manifest::{self, Manifest};

#[async_trait]
impl DeclareScopes for Session {
    fn scopes(&self) -> Vec<DeclaredScope> {
        self.ask(|registry| {
            let mut plugins: Vec<_> = registry.plugins.iter().collect();
            plugins.sort_unstable_by_key(|active| active.name());
            declared(plugins.into_iter().map(|active| &active.manifest))
        })
    }

    async fn stored_scopes(&self, db: &Db) -> Result<Vec<DeclaredScope>> {
        if !self.plugins.run_elsewhere() {
            return Ok(self.scopes());
        }
        let stored = store::plugin::list_manifests(db).await?;
        let manifests: Vec<_> = stored.iter().filter_map(|(_, text, _)| manifest::parse(text).ok()).collect();
        Ok(declared(manifests.iter()))
    }
}

/// The scopes of these manifests; of two with the same name the first counts.
fn declared<'a>(manifests: impl Iterator<Item = &'a Manifest>) -> Vec<DeclaredScope> {
    let mut scopes: Vec<DeclaredScope> = Vec::new();
    for scope in manifests.flat_map(|manifest| &manifest.scopes) {
        if !scopes.iter().any(|known| known.name == scope.name) {
            scopes.push(DeclaredScope { name: scope.name.clone(), description: scope.description.clone() });
        }
    }
    scopes
}
