//! What each account sets for plugins: kept by the server, checked against the schema of the manifest, and filled with its
//! defaults for whoever asks.
//!
//! People set it on a page of the server, plugins by the contract's interface `settings`. Only what was set is stored, so
//! that a default that a later version changes is the new one.

use serde_json::{Map, Value};

use super::{Active, manifest};
use crate::app::App;
use crate::error::{Error, Result};
use model::AccountId;
use store::{Db, Tx, plugin_setting};

/// Largest document of an account's settings, in bytes.
pub const SIZE: usize = 64 * 1024;

/// What a plugin lets people set.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The plugin's name.
    pub plugin: String,
    /// What people call it.
    pub title: String,
    /// Each setting, with what it is for the account.
    pub settings: Vec<Setting>,
}

/// One setting.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// What it says to people: the schema's title, description or at least the name.
    pub label: String,
    /// What it takes.
    pub kind: Kind,
    /// What it is.
    pub value: Value,
}

/// What a setting takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// True or false.
    Flag,
    /// One of these words.
    Choice(Vec<String>),
    /// A whole number, from and to.
    Number(Option<i64>, Option<i64>),
    /// A text.
    Text,
}

impl Kind {
    /// What the part of the schema takes; none for what no form can ask for.
    fn of(schema: &Value) -> Option<Self> {
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            return words.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<_>>().map(Self::Choice);
        }
        let bound = |name: &str| schema.get(name).and_then(Value::as_i64);
        match schema.get("type").and_then(Value::as_str)? {
            "boolean" => Some(Self::Flag),
            "integer" => Some(Self::Number(bound("minimum"), bound("maximum"))),
            "string" => Some(Self::Text),
            _ => None,
        }
    }

    /// The value that a form sends for it; nothing sent is false for a flag.
    fn read(&self, sent: Option<&str>) -> Option<Value> {
        match self {
            Self::Flag => Some(sent.is_some_and(|text| !matches!(text, "" | "0" | "false")).into()),
            Self::Number(..) => sent.map(|text| text.trim().parse::<i64>().map_or_else(|_| text.into(), Value::from)),
            Self::Choice(_) | Self::Text => sent.map(Value::from),
        }
    }
}

/// What all plugins that serve let `account` set.
///
/// # Errors
/// When the database does.
pub async fn offers(app: &App, account: AccountId) -> Result<Vec<Offer>> {
    let registry = app.plugins.current();
    let mut offers = Vec::new();
    for active in registry.plugins.iter().filter(|active| active.settings.is_some()) {
        let stored = plugin_setting::list(&app.db, active.id, &[account]).await?.pop();
        let values = filled(active, &stored.map(|(_, stored)| stored.0).unwrap_or_default());
        let settings: Vec<Setting> = described(active, &values).collect();
        if !settings.is_empty() {
            let plugin = &active.manifest.plugin;
            offers.push(Offer { plugin: plugin.name.clone(), title: plugin.title.clone(), settings });
        }
    }
    Ok(offers)
}

fn described<'a>(active: &'a Active, values: &'a Map<String, Value>) -> impl Iterator<Item = Setting> + 'a {
    let schemas = active.settings.as_ref().and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    schemas.into_iter().flatten().filter_map(|(name, schema)| {
        let text = |key: &str| schema.get(key).and_then(Value::as_str).map(str::to_owned);
        let label = text("title").or_else(|| text("description")).unwrap_or_else(|| name.replace('_', " "));
        Some(Setting { name: name.clone(), label, kind: Kind::of(schema)?, value: values.get(name)?.clone() })
    })
}

/// Sets what `account` sent by the form of [`offers`] for the plugin called `name`.
///
/// # Errors
/// [`Error::NotFound`] when no such plugin serves or it has no settings, [`Error::Invalid`] for what its schema does not take.
pub async fn submit(app: &App, account: AccountId, name: &str, form: &Map<String, Value>) -> Result<()> {
    let registry = app.plugins.current();
    let active = registry.find(name).filter(|active| active.settings.is_some()).ok_or(Error::NotFound)?;
    let sent = |name: &str| form.get(name).and_then(Value::as_str);
    let defaults = filled(active, &Map::new());
    let members = described(active, &defaults)
        .filter_map(|setting| Some((setting.name.clone(), setting.kind.read(sent(&setting.name))?)))
        .collect();
    let mut tx = app.db.begin().await?;
    change(&mut tx, active, account, members).await?;
    tx.commit().await?;
    Ok(())
}

/// Changes members of what `account` set; null puts one back to its default.
///
/// # Errors
/// [`Error::NotFound`] when no such account is here, [`Error::Invalid`] for what the schema does not take.
pub async fn change(tx: &mut Tx, active: &Active, account: AccountId, members: Map<String, Value>) -> Result<()> {
    let mut settings = plugin_setting::lock(tx, active.id, account).await?.ok_or(Error::NotFound)?;
    for (name, value) in members {
        match value {
            Value::Null => settings.remove(&name),
            value => settings.insert(name, value),
        };
    }
    check(active, &settings).map_err(Error::invalid)?;
    plugin_setting::upsert(tx, active.id, account, settings).await?;
    // What the plugin adds to the account may show it.
    store::account::bump_all(tx, &[account]).await?;
    Ok(())
}

/// All that `account` set, by plugin, also of plugins that are off: what is its owner's to have.
///
/// # Errors
/// When the database does.
pub async fn export_account(db: &Db, account: AccountId) -> Result<Map<String, Value>> {
    let set = plugin_setting::list_of(db, account).await?;
    Ok(set.into_iter().map(|(plugin, set)| (plugin, Value::Object(set.0))).collect())
}

/// The defaults, and `stored` over them. A member that a later version of the plugin dropped is left out.
#[must_use]
pub fn filled(active: &Active, stored: &Map<String, Value>) -> Map<String, Value> {
    let mut filled = active.settings.as_ref().map(manifest::defaults).unwrap_or_default();
    for (name, value) in &mut filled {
        if let Some(stored) = stored.get(name) {
            *value = stored.clone();
        }
    }
    filled
}

/// What is wrong with `settings`, in words.
fn check(active: &Active, settings: &Map<String, Value>) -> Result<(), String> {
    let schema = active.settings.as_ref().ok_or("The plugin has no settings")?;
    let known = manifest::defaults(schema);
    if let Some(unknown) = settings.keys().find(|name| !known.contains_key(*name)) {
        return Err(format!("There is no setting {unknown:?}"));
    }
    let size = Value::Object(settings.clone()).to_string().len();
    if size > SIZE {
        return Err(format!("The settings have {size} bytes: at most {SIZE}"));
    }
    let validator = jsonschema::draft202012::new(schema).map_err(|error| error.to_string())?;
    validator.validate(&Value::Object(filled(active, settings))).map_err(|error| {
        let path = error.instance_path().to_string();
        format!("{} {error}", path.trim_start_matches('/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_form_asks_for_what_it_can_and_reads_what_was_sent() {
        let kind = |schema: Value| Kind::of(&schema);
        assert_eq!(kind(json!({"type": "boolean"})), Some(Kind::Flag));
        assert_eq!(
            kind(json!({"type": "string", "enum": ["a", "b"]})),
            Some(Kind::Choice(vec!["a".into(), "b".into()]))
        );
        assert_eq!(kind(json!({"type": "integer", "minimum": 1})), Some(Kind::Number(Some(1), None)));
        assert_eq!(kind(json!({"type": "string"})), Some(Kind::Text));
        assert_eq!((kind(json!({"type": "array"})), kind(json!({"enum": [1]})), kind(json!({}))), (None, None, None));

        assert_eq!(Kind::Flag.read(None), Some(json!(false)));
        assert_eq!(Kind::Flag.read(Some("1")), Some(json!(true)));
        assert_eq!(Kind::Number(None, None).read(Some(" 7 ")), Some(json!(7)));
        assert_eq!(Kind::Number(None, None).read(Some("x")), Some(json!("x")), "the schema says what is wrong");
        assert_eq!((Kind::Text.read(None), Kind::Text.read(Some(""))), (None, Some(json!(""))));
    }
}
