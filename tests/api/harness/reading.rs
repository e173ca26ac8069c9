//! Reads ids, account names and paths from JSON.

use serde_json::Value;

/// The id of an entity.
pub fn id(entity: &Value) -> &str {
    entity["id"].as_str().expect("an entity has an id")
}

/// The ids of entities, in order.
pub fn ids(entities: &Value) -> Vec<&str> {
    entities.as_array().expect("a list").iter().map(id).collect()
}

/// The names of accounts, in order.
pub fn accts(accounts: &Value) -> Vec<&str> {
    accounts.as_array().expect("a list").iter().map(|account| account["acct"].as_str().expect("an account")).collect()
}

/// The path of a URL of this server.
pub fn path(address: &Value) -> &str {
    address.as_str().unwrap().strip_prefix("https://example.test").unwrap()
}
