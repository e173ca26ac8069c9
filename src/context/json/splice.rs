//! Splicing members into serialised JSON, parsing only its outline.
//!
//! The input must be valid JSON (rendered by the server, or validated before); given anything else, these functions
//! add nothing and never panic.

use std::ops::Range;

/// The object `json` with `members` (`"a":1,"b":2`) appended.
#[must_use]
pub fn append(json: &str, members: &str) -> String {
    let Some(open) = json.strip_suffix('}').filter(|_| !members.is_empty()) else { return json.to_owned() };
    let separator = if open.trim_end().ends_with('{') { "" } else { "," };
    format!("{open}{separator}{members}}}")
}

/// The object `json` with the member `name` of the nested object `parent` set to `value`, added when missing. A
/// `parent` that is not an object stays unchanged.
#[must_use]
pub fn set(json: &str, parent: &str, name: &str, value: &str) -> String {
    let Some(outer) = find(json, parent) else {
        return append(json, &format!("\"{parent}\":{{\"{name}\":{value}}}"));
    };
    let object = &json[outer.clone()];
    if !object.starts_with('{') {
        return json.to_owned();
    }
    let changed = match find(object, name) {
        Some(inner) => format!("{}{value}{}", &object[..inner.start], &object[inner.end..]),
        None => append(object, &format!("\"{name}\":{value}")),
    };
    format!("{}{changed}{}", &json[..outer.start], &json[outer.end..])
}

/// The object `json` with the member `name` added, at the top level or in the nested object `parent`, without
/// changing existing values: list items are appended, any other value is added only when the member is missing.
#[must_use]
pub fn add(json: &str, parent: Option<&str>, name: &str, value: &str) -> String {
    if let Some(parent) = parent {
        let Some(outer) = find(json, parent) else { return set(json, parent, name, value) };
        let object = add(&json[outer.clone()], None, name, value);
        return format!("{}{object}{}", &json[..outer.start], &json[outer.end..]);
    }
    if !json.starts_with('{') {
        return json.to_owned();
    }
    let Some(there) = find(json, name) else { return append(json, &format!("\"{name}\":{value}")) };
    let (list, more) = (&json[there.clone()], value.trim());
    let items = |list: &str| list.strip_prefix('[')?.strip_suffix(']').map(|items| items.trim().to_owned());
    match (items(list), items(more)) {
        (Some(items), Some(more)) if !more.is_empty() => {
            let separator = if items.is_empty() { "" } else { "," };
            format!("{}[{items}{separator}{more}]{}", &json[..there.start], &json[there.end..])
        }
        _ => json.to_owned(),
    }
}

/// The range of the value of the member `name` in the object `json`.
fn find(json: &str, name: &str) -> Option<Range<usize>> {
    let bytes = json.as_bytes();
    let mut at = space(bytes, 0);
    if bytes.get(at) != Some(&b'{') {
        return None;
    }
    at = space(bytes, at + 1);
    while bytes.get(at) == Some(&b'"') {
        let key = at + 1..string(bytes, at)? - 1;
        let colon = space(bytes, key.end + 1);
        let start = space(bytes, colon + 1);
        let end = value(bytes, start)?;
        if json.get(key) == Some(name) {
            return Some(start..end);
        }
        at = space(bytes, end);
        if bytes.get(at) == Some(&b',') {
            at = space(bytes, at + 1);
        }
    }
    None
}

fn space(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// The end of the string that begins at `from`.
fn string(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// The end of the value that begins at `from`.
fn value(bytes: &[u8], from: usize) -> Option<usize> {
    let (mut at, mut depth) = (from, 0_usize);
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = string(bytes, at)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth <= 1 => return Some(if depth == 1 { at + 1 } else { at }),
            b'}' | b']' => {
                depth -= 1;
                at += 1;
            }
            b',' if depth == 0 => return Some(at),
            byte if depth == 0 && byte.is_ascii_whitespace() => return Some(at),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_go_to_the_end() {
        assert_eq!(append("{}", "\"a\":1"), "{\"a\":1}");
        assert_eq!(append("{\"b\":{}}", "\"a\":1"), "{\"b\":{},\"a\":1}");
        assert_eq!(append("{\"b\":1}", ""), "{\"b\":1}");
        assert_eq!(append("null", "\"a\":1"), "null");
    }

    #[test]
    fn object_member_is_added_or_replaced() {
        let account = r#"{"note":"\"settings\":{ \\","settings":{"a":true,"b":"}"},"after":[1,{"settings":{}}]}"#;
        assert_eq!(
            set(account, "settings", "c", "[2]"),
            r#"{"note":"\"settings\":{ \\","settings":{"a":true,"b":"}","c":[2]},"after":[1,{"settings":{}}]}"#
        );
        assert_eq!(
            set(account, "settings", "b", "null"),
            r#"{"note":"\"settings\":{ \\","settings":{"a":true,"b":null},"after":[1,{"settings":{}}]}"#
        );
        assert_eq!(set("{\"s\": {} , \"n\": 1}", "s", "a", "1"), "{\"s\": {\"a\":1} , \"n\": 1}");
        assert_eq!(set("{\"n\": 1 }", "n", "a", "1"), "{\"n\": 1 }");
        assert_eq!(set("{\"n\":1}", "s", "a", "1"), "{\"n\":1,\"s\":{\"a\":1}}");
    }

    #[test]
    fn existing_members_stay() {
        let json = r#"{"title":"A","list":["a"],"none":[],"in":{"b":1}}"#;
        assert_eq!(add(json, None, "title", "\"B\""), json);
        assert_eq!(add(json, Some("in"), "b", "2"), json);
        assert_eq!(add(json, Some("title"), "b", "2"), json);
        assert_eq!(add(json, None, "list", "[]"), json);
        assert_eq!(add(json, None, "list", "[\"b\"]"), json.replace("[\"a\"]", "[\"a\",\"b\"]"));
        assert_eq!(add(json, None, "none", "[1]"), json.replace("[]", "[1]"));
        assert_eq!(add(json, Some("in"), "c", "2"), json.replace("\"b\":1", "\"b\":1,\"c\":2"));
        assert_eq!(add("{}", Some("in"), "c", "2"), "{\"in\":{\"c\":2}}");
    }

    #[test]
    fn malformed_json_does_no_harm() {
        for broken in ["", "{", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":[", "{\"a\":\"\\", "[1]", "{\"a\" 1}"] {
            let _ = set(broken, "a", "b", "1");
            let _ = append(broken, "\"b\":1");
        }
    }
}
