//! Plugin tables owned by accounts: which references to them are permitted; and dropping all data of a plugin.
//!
//! Deleting and exporting the rows of one account is `store::plugin_data`.

use std::collections::{BTreeMap, BTreeSet};

use context::Result;
use database::Tx;
use database::confined::Scope;
use model::PluginId;
use store::plugin_kv;
use store::plugin_schema::{self, ForeignKey};

/// Checks that no reference prevents deleting an account's rows, or rows that are deleted with them.
///
/// # Errors
/// When a table refers to one of `owned` and its rows are kept, as a clause.
pub(super) fn check_references(
    owned: &BTreeMap<String, String>,
    references: &[ForeignKey],
) -> std::result::Result<(), String> {
    let mut going: BTreeSet<String> = owned.keys().map(|table| table.to_ascii_lowercase()).collect();
    let mut open: Vec<String> = going.iter().cloned().collect();
    while let Some(target) = open.pop() {
        for reference in references.iter().filter(|reference| reference.target.eq_ignore_ascii_case(&target)) {
            let ForeignKey { holder, on_delete, .. } = reference;
            match on_delete.as_str() {
                "CASCADE" if going.insert(holder.to_ascii_lowercase()) => open.push(holder.clone()),
                "CASCADE" | "SET NULL" => {}
                _ => {
                    return Err(format!(
                        "{holder} refers to {target}, whose rows go with their account by sql.owner-columns, and would keep \
                         the account from being deleted: write ON DELETE CASCADE there"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Deletes all data of a plugin: tables, key-value entries, and the record of its migrations.
pub async fn drop_all(tx: &mut Tx, plugin: PluginId, name: &str) -> Result<()> {
    let scope = Scope::find(&mut *tx, name, BTreeSet::new()).await?;
    tx.drop_namespace(&scope).await?;
    plugin_schema::forget(tx, plugin).await?;
    plugin_kv::clear(tx, plugin).await?;
    Ok(())
}
