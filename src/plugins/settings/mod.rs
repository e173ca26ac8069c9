//! Settings of each account for plugins: stored by the server, validated against the schema of the manifest, and filled
//! with its defaults when read.
//!
//! Accounts change them on the page `/settings/extensions`, plugins by the contract's interface `settings`. Only values
//! that were set are stored, so that a later version of the plugin can change a default.

mod schema;

use serde_json::{Map, Value};

use super::Active;
use crate::Cx;
use context::Language;
use context::error::{Error, Result};
use database::Tx;
use model::AccountId;
use plugin_package::manifest;
pub use schema::SettingsSchema;
use store::plugin_setting;

/// Largest stored document of an account's settings for a plugin, in bytes.
pub const SIZE: usize = 64 * 1024;

/// How often a change is begun again because the settings were changed by someone else meanwhile.
pub const TRIES: usize = 3;

/// A change of an account's settings that was validated.
#[derive(Debug)]
pub struct PreparedChange {
    /// The stored settings that it was made from.
    before: Map<String, Value>,
    after: Map<String, Value>,
}

/// The settings that one plugin offers an account.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The plugin's name.
    pub plugin: String,
    pub title: String,
    /// Each setting, with the account's value.
    pub settings: Vec<Setting>,
}

#[derive(Clone, Debug)]
pub struct Setting {
    pub name: String,
    /// Its label: the title in the language of the page or the description in the schema, else the name.
    pub label: String,
    pub kind: SettingKind,
    /// Its current value.
    pub value: Value,
}

/// The type of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// True or false.
    Flag,
    /// One of these values, each with its title.
    Choice(Vec<[String; 2]>),
    /// A whole number with an optional minimum and maximum.
    Number(Option<i64>, Option<i64>),
    /// Free text.
    Text,
}

impl SettingKind {
    /// The type that the property's schema describes, with titles in `language`; none where no form field fits.
    fn of(schema: &Value, language: Language) -> Option<Self> {
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let titled = |value: &str| [value.to_owned(), schema::value_title(schema, value, language)];
            return values.iter().map(|value| value.as_str().map(titled)).collect::<Option<_>>().map(Self::Choice);
        }
        let bound = |name: &str| schema.get(name).and_then(Value::as_i64);
        match schema.get("type").and_then(Value::as_str)? {
            "boolean" => Some(Self::Flag),
            "integer" => Some(Self::Number(bound("minimum"), bound("maximum"))),
            "string" => Some(Self::Text),
            _ => None,
        }
    }

    /// Parses the value sent by a form; a missing value is false for a flag.
    fn read(&self, sent: Option<&str>) -> Option<Value> {
        match self {
            Self::Flag => Some(sent.is_some_and(|text| !matches!(text, "" | "0" | "false")).into()),
            Self::Number(..) => sent.map(|text| text.trim().parse::<i64>().map_or_else(|_| text.into(), Value::from)),
            Self::Choice(_) | Self::Text => sent.map(Value::from),
        }
    }
}

/// The settings that active plugins offer `account`, with labels in the language of the request.
pub async fn offers(cx: &Cx, account: AccountId) -> Result<Vec<Offer>> {
    let registry = cx.registry();
    let mut offers = Vec::new();
    for active in registry.plugins.iter().filter(|active| active.settings.is_some()) {
        let stored = plugin_setting::list(&cx.db, active.id, &[account]).await?.pop();
        let values = filled(active, &stored.map(|(_, stored)| stored.0).unwrap_or_default());
        let settings: Vec<Setting> = described(active, &values, cx.language()).collect();
        if !settings.is_empty() {
            let plugin = &active.manifest.plugin;
            let schema = active.settings.as_ref().map(|settings| &settings.schema);
            let title = schema.and_then(|schema| schema::title(schema, cx.language())).unwrap_or(&plugin.title);
            offers.push(Offer { plugin: plugin.name.clone(), title: title.to_owned(), settings });
        }
    }
    Ok(offers)
}

fn described<'a>(
    active: &'a Active,
    values: &'a Map<String, Value>,
    language: Language,
) -> impl Iterator<Item = Setting> + 'a {
    let schemas = active.settings.as_ref().and_then(|of| of.schema.get("properties")).and_then(Value::as_object);
    schemas.into_iter().flatten().filter_map(move |(name, schema)| {
        let description = || schema.get("description").and_then(Value::as_str);
        let written = schema::title(schema, language).or_else(description);
        let label = written.map_or_else(|| name.replace('_', " "), str::to_owned);
        let kind = SettingKind::of(schema, language)?;
        Some(Setting { name: name.clone(), label, kind, value: values.get(name)?.clone() })
    })
}

/// Saves the form that [`offers`] describes, for the plugin called `name`.
///
/// # Errors
/// [`Error::NotFound`] when there is no such active plugin or it has no settings, [`Error::Invalid`] for values that
/// its schema refuses.
pub async fn submit(cx: &Cx, account: AccountId, name: &str, form: &Map<String, Value>) -> Result<()> {
    let registry = cx.registry();
    let active = registry.find(name).filter(|active| active.settings.is_some()).ok_or(Error::NotFound)?;
    let sent = |name: &str| form.get(name).and_then(Value::as_str);
    let defaults = filled(active, &Map::new());
    let members: Map<String, Value> = described(active, &defaults, cx.language())
        .filter_map(|setting| Some((setting.name.clone(), setting.kind.read(sent(&setting.name))?)))
        .collect();
    for _ in 0..TRIES {
        let stored = plugin_setting::list(&cx.db, active.id, &[account]).await?.pop();
        let change = prepare(active, stored.map(|(_, stored)| stored.0).unwrap_or_default(), &members)?;
        let mut tx = cx.db.begin().await?;
        let applied = apply(&mut tx, active, account, change).await?;
        tx.commit().await?;
        if applied {
            return Ok(());
        }
    }
    Err(changed_meanwhile())
}

/// The error of a change that others were faster than, again and again.
pub fn changed_meanwhile() -> Error {
    Error::Conflict("The settings were changed meanwhile, try again".into())
}

/// Changes members of the stored settings `before`; null resets one to its default. To be called with no transaction
/// open: a schema may take its time.
///
/// # Errors
/// [`Error::Invalid`] for values that the schema refuses.
pub fn prepare(active: &Active, before: Map<String, Value>, members: &Map<String, Value>) -> Result<PreparedChange> {
    let mut after = before.clone();
    for (name, value) in members {
        match value {
            Value::Null => after.remove(name),
            value => after.insert(name.clone(), value.clone()),
        };
    }
    check(active, &after).map_err(Error::invalid)?;
    Ok(PreparedChange { before, after })
}

/// Stores a change; false, without a change, when the stored settings differ from the settings before it.
///
/// # Errors
/// [`Error::NotFound`] when there is no such local account.
pub async fn apply(tx: &mut Tx, active: &Active, account: AccountId, change: PreparedChange) -> Result<bool> {
    let stored = plugin_setting::lock(tx, active.id, account).await?.ok_or(Error::NotFound)?;
    if stored != change.before {
        return Ok(false);
    }
    plugin_setting::upsert(tx, active.id, account, change.after).await?;
    // The plugin's decoration of the account may depend on it.
    store::account::bump_all(tx, &[account]).await?;
    Ok(true)
}

/// The defaults, overridden by `stored`. A member that a later version of the plugin dropped is left out.
#[must_use]
pub fn filled(active: &Active, stored: &Map<String, Value>) -> Map<String, Value> {
    let mut filled = active.settings.as_ref().map(|of| manifest::defaults(&of.schema)).unwrap_or_default();
    for (name, value) in &mut filled {
        if let Some(stored) = stored.get(name) {
            *value = stored.clone();
        }
    }
    filled
}

/// Validates `settings`; the error is in words.
fn check(active: &Active, settings: &Map<String, Value>) -> Result<(), String> {
    let SettingsSchema { schema, validator } = active.settings.as_ref().ok_or("The plugin has no settings")?;
    let known = manifest::defaults(schema);
    if let Some(unknown) = settings.keys().find(|name| !known.contains_key(*name)) {
        return Err(format!("There is no setting {unknown:?}"));
    }
    let size = Value::Object(settings.clone()).to_string().len();
    if size > SIZE {
        return Err(format!("The settings have {size} bytes: at most {SIZE}"));
    }
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
    fn form_asks_for_settings_and_reads_them() {
        let kind = |schema: Value| SettingKind::of(&schema, Language::English);
        assert_eq!(kind(json!({"type": "boolean"})), Some(SettingKind::Flag));
        assert_eq!(
            kind(json!({"type": "string", "enum": ["a", "b_c"], "x-enum-titles": {"a": {"en": "A"}}})),
            Some(SettingKind::Choice(vec![["a".into(), "A".into()], ["b_c".into(), "b c".into()]]))
        );
        assert_eq!(kind(json!({"type": "integer", "minimum": 1})), Some(SettingKind::Number(Some(1), None)));
        assert_eq!(kind(json!({"type": "string"})), Some(SettingKind::Text));
        assert_eq!((kind(json!({"type": "array"})), kind(json!({"enum": [1]})), kind(json!({}))), (None, None, None));

        assert_eq!(SettingKind::Flag.read(None), Some(json!(false)));
        assert_eq!(SettingKind::Flag.read(Some("1")), Some(json!(true)));
        assert_eq!(SettingKind::Number(None, None).read(Some(" 7 ")), Some(json!(7)));
        assert_eq!(SettingKind::Number(None, None).read(Some("x")), Some(json!("x")), "the schema says what is wrong");
        assert_eq!((SettingKind::Text.read(None), SettingKind::Text.read(Some(""))), (None, Some(json!(""))));
    }
}
