//! The keywords `x-titles` and `x-enum-titles` of a JSON Schema and its properties: titles in further languages.
//!
//! A validator ignores them. The page of settings renders them (`plugins`).

use serde_json::Value;

/// Titles of a property by language; its `title` is in English.
const TITLES: &str = "x-titles";

/// Titles of the values in `enum`, by value and language; English is one of them.
const VALUE_TITLES: &str = "x-enum-titles";

/// Checks both keywords of the schema itself and of every property.
///
/// # Errors
/// A message about the mistake.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    check_property(schema)?;
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        check_property(property).map_err(|problem| format!("the property {name:?}: {problem}"))?;
    }
    Ok(())
}

fn check_property(property: &Value) -> Result<(), String> {
    if let Some(titles) = property.get(TITLES) {
        check_texts(TITLES, titles)?;
        if !property.get("title").is_some_and(Value::is_string) {
            return Err(format!("it has {TITLES}, and no title in English"));
        }
    }
    let Some(values) = property.get(VALUE_TITLES) else { return Ok(()) };
    let values = values.as_object().ok_or_else(|| format!("{VALUE_TITLES} is not an object of titles by value"))?;
    let known = property.get("enum").and_then(Value::as_array);
    for (value, titles) in values {
        if !known.into_iter().flatten().any(|known| known.as_str() == Some(value.as_str())) {
            return Err(format!("{VALUE_TITLES} names {value:?}, and enum does not"));
        }
        let key = format!("{VALUE_TITLES}.{value}");
        check_texts(&key, titles)?;
        if titles.get("en").is_none() {
            return Err(format!("{key} has no title in English (en)"));
        }
    }
    Ok(())
}

fn check_texts(key: &str, titles: &Value) -> Result<(), String> {
    let titles = titles.as_object().ok_or_else(|| format!("{key} is not an object of texts by language"))?;
    for (language, text) in titles {
        if language.len() > 8 || !language.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(format!("{key}: {language:?} is not the code of a language, as en"));
        }
        if text.as_str().is_none_or(|text| text.trim().is_empty()) {
            return Err(format!("{key}.{language} is not a text"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn titles_are_texts_by_language_beside_english() {
        let checked = |property: Value| check(&json!({"properties": {"colour": property}}));
        let problem = |property: Value| checked(property).expect_err("a mistake");

        assert_eq!(check(&json!({"type": "object"})), Ok(()));
        assert_eq!(checked(json!({"title": "Colour", "x-titles": {"de": "Farbe", "ja": "色"}})), Ok(()));
        let red = json!({"en": "Red", "de": "Rot"});
        assert_eq!(checked(json!({"enum": ["red", "blue"], "x-enum-titles": {"red": red}})), Ok(()));

        let texts = problem(json!({"title": "Colour", "x-titles": "Farbe"}));
        assert_eq!(texts, "the property \"colour\": x-titles is not an object of texts by language");
        assert!(problem(json!({"title": "Colour", "x-titles": {"de": 1}})).contains("x-titles.de is not a text"));
        assert!(problem(json!({"title": "Colour", "x-titles": {"de": " "}})).contains("x-titles.de is not a text"));
        assert!(problem(json!({"title": "Colour", "x-titles": {"de_DE": "Farbe"}})).contains("code of a language"));
        assert!(problem(json!({"x-titles": {"de": "Farbe"}})).contains("no title in English"));

        assert!(problem(json!({"enum": ["red"], "x-enum-titles": ["Red"]})).contains("not an object of titles"));
        assert!(
            problem(json!({"enum": ["red"], "x-enum-titles": {"red": "Red"}})).contains("x-enum-titles.red is not")
        );
        assert!(problem(json!({"enum": ["blue"], "x-enum-titles": {"red": red}})).contains("names \"red\""));
        let german = json!({"red": {"de": "Rot"}});
        assert!(problem(json!({"enum": ["red"], "x-enum-titles": german})).contains("no title in English"));
    }
}
