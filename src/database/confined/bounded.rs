//! Replacements for built-in SQL functions in plugins' statements on SQLite.
//!
//! The progress handler is not called within a function, and only the time limit bounds the memory of a built-in
//! aggregate. These functions behave like the built-in ones (<https://www.sqlite.org/lang_corefunc.html>,
//! <https://www.sqlite.org/json1.html>), reject patterns longer than [`MAX_PATTERN_BYTES`], and stop at
//! [`MAX_VALUE_BYTES`]. The check in `plugin_package::sql` substitutes their names; the server's own statements do
//! not use them. On PostgreSQL functions of the schema `core_v1` do the same
//! (`migrations/postgres/0020_core_views.sql`).

use std::borrow::Cow;

use libsqlite3_sys as ffi;
use rusqlite::functions::{Aggregate, Context, FunctionFlags, SubType};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result};

use super::functions::{MAX_PATTERN_BYTES, MAX_VALUE_BYTES};

/// The subtype of a JSON string, so that another JSON function does not quote it.
const JSON: u32 = 74;

/// Registers the functions on a connection for plugins' statements.
pub(super) fn register(connection: &Connection) -> Result<()> {
    let plain = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    let json = plain | FunctionFlags::SQLITE_SUBTYPE | FunctionFlags::SQLITE_RESULT_SUBTYPE;
    connection.create_scalar_function("rookery_instr", 2, plain, instr)?;
    connection.create_scalar_function("rookery_replace", 3, plain, replace)?;
    for arguments in [1, 2] {
        connection.create_scalar_function("rookery_trim", arguments, plain, |cx| trim(cx, true, true))?;
        connection.create_scalar_function("rookery_ltrim", arguments, plain, |cx| trim(cx, true, false))?;
        connection.create_scalar_function("rookery_rtrim", arguments, plain, |cx| trim(cx, false, true))?;
    }
    connection.create_aggregate_function("rookery_json_group_array", 1, json, GroupArray)?;
    connection.create_aggregate_function("rookery_json_group_object", 2, json, GroupObject)
}

fn too_large() -> Error {
    Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_TOOBIG), None)
}

/// An argument as text; `None` for NULL.
fn text<'a>(cx: &'a Context<'_>, index: usize) -> Option<Cow<'a, [u8]>> {
    Some(match cx.get_raw(index) {
        ValueRef::Null => return None,
        ValueRef::Integer(value) => Cow::Owned(value.to_string().into_bytes()),
        ValueRef::Real(value) => Cow::Owned(format!("{value:?}").into_bytes()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Cow::Borrowed(bytes),
    })
}

/// An argument that multiplies the cost of a call.
fn pattern<'a>(cx: &'a Context<'_>, index: usize) -> Result<Option<Cow<'a, [u8]>>> {
    let found = text(cx, index);
    match &found {
        Some(bytes) if bytes.len() > MAX_PATTERN_BYTES => {
            let sentence = format!("what is searched for is longer than {MAX_PATTERN_BYTES} bytes");
            Err(Error::UserFunctionError(sentence.into()))
        }
        _ => Ok(found),
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() { Some(0) } else { bytes.windows(part.len()).position(|window| window == part) }
}

/// The position of a substring, from 1, in characters (in bytes for blobs); 0 when it is absent.
fn instr(cx: &Context<'_>) -> Result<Option<i64>> {
    let (Some(whole), Some(part)) = (text(cx, 0), pattern(cx, 1)?) else { return Ok(None) };
    let blobs = [0, 1].iter().all(|index| matches!(cx.get_raw(*index), ValueRef::Blob(_)));
    let place = find(&whole, &part).map_or(0, |at| {
        1 + if blobs { at } else { whole[..at].iter().filter(|byte| !is_continuation(**byte)).count() }
    });
    Ok(i64::try_from(place).ok())
}

/// True for a byte of UTF-8 that does not begin a character.
fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

fn replace(cx: &Context<'_>) -> Result<Option<String>> {
    let (Some(whole), Some(part), Some(by)) = (text(cx, 0), pattern(cx, 1)?, pattern(cx, 2)?) else {
        return Ok(None);
    };
    let mut replaced = Vec::with_capacity(whole.len());
    let mut rest = &*whole;
    while let Some(at) = find(rest, &part).filter(|_| !part.is_empty()) {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(&by);
        rest = &rest[at + part.len()..];
        if replaced.len() > MAX_VALUE_BYTES {
            return Err(too_large());
        }
    }
    replaced.extend_from_slice(rest);
    Ok(Some(String::from_utf8_lossy(&replaced).into_owned()))
}

/// Removes the characters of the second argument, by default spaces, from the start and the end of a text.
fn trim(cx: &Context<'_>, start: bool, end: bool) -> Result<Option<String>> {
    let set = if cx.len() > 1 { pattern(cx, 1)? } else { Some(Cow::Borrowed(b" ".as_slice())) };
    let (Some(whole), Some(set)) = (text(cx, 0), set) else { return Ok(None) };
    let (whole, set) = (String::from_utf8_lossy(&whole), String::from_utf8_lossy(&set));
    let ascii = set.chars().filter(char::is_ascii).fold(0_u128, |set, character| set | 1 << u32::from(character));
    let among = |character: char| match u32::from(character) {
        code @ 0..=127 => ascii & (1 << code) != 0,
        _ => set.contains(character),
    };
    let mut rest = &*whole;
    if start {
        rest = rest.trim_start_matches(among);
    }
    if end {
        rest = rest.trim_end_matches(among);
    }
    Ok(Some(rest.to_owned()))
}

/// Appends an argument to JSON.
fn push_json(json: &mut String, cx: &Context<'_>, index: usize) -> Result<()> {
    match cx.get_raw(index) {
        ValueRef::Null => json.push_str("null"),
        ValueRef::Integer(value) => json.push_str(&value.to_string()),
        ValueRef::Real(value) if value.is_finite() => json.push_str(&format!("{value:?}")),
        ValueRef::Real(_) => json.push_str("null"),
        ValueRef::Text(bytes) if cx.get_subtype(index) == JSON => json.push_str(&String::from_utf8_lossy(bytes)),
        ValueRef::Text(bytes) => push_quoted(json, bytes)?,
        ValueRef::Blob(_) => return Err(Error::UserFunctionError("JSON cannot hold BLOB values".into())),
    }
    if json.len() > MAX_VALUE_BYTES { Err(too_large()) } else { Ok(()) }
}

fn push_quoted(json: &mut String, bytes: &[u8]) -> Result<()> {
    let quoted = serde_json::to_string(&*String::from_utf8_lossy(bytes));
    json.push_str(&quoted.map_err(|error| Error::UserFunctionError(error.into()))?);
    Ok(())
}

/// Appends the separator before a member.
fn separate(json: &mut String, open: char) {
    json.push(if json.is_empty() { open } else { ',' });
}

fn close(json: Option<String>, empty: &str, end: char) -> (String, SubType) {
    match json.filter(|json| !json.is_empty()) {
        Some(json) => (json + &end.to_string(), Some(JSON)),
        None => (empty.to_owned(), Some(JSON)),
    }
}

struct GroupArray;

impl Aggregate<String, (String, SubType)> for GroupArray {
    fn init(&self, _cx: &mut Context<'_>) -> Result<String> {
        Ok(String::new())
    }

    fn step(&self, cx: &mut Context<'_>, json: &mut String) -> Result<()> {
        separate(json, '[');
        push_json(json, cx, 0)
    }

    fn finalize(&self, _cx: &mut Context<'_>, json: Option<String>) -> Result<(String, SubType)> {
        Ok(close(json, "[]", ']'))
    }
}

/// Skips members whose name is NULL.
struct GroupObject;

impl Aggregate<String, (String, SubType)> for GroupObject {
    fn init(&self, _cx: &mut Context<'_>) -> Result<String> {
        Ok(String::new())
    }

    fn step(&self, cx: &mut Context<'_>, json: &mut String) -> Result<()> {
        let Some(name) = text(cx, 0) else { return Ok(()) };
        separate(json, '{');
        push_quoted(json, &name)?;
        json.push(':');
        push_json(json, cx, 1)
    }

    fn finalize(&self, _cx: &mut Context<'_>, json: Option<String>) -> Result<(String, SubType)> {
        Ok(close(json, "{}", '}'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        connection
    }

    #[test]
    fn own_functions_do_what_built_in_ones_do() {
        let connection = connection();
        for call in [
            "instr('grüße', 'ße')",
            "instr('abc', '')",
            "instr('abc', 'x')",
            "instr(x'e3bc', x'bc')",
            "instr(NULL, 'x')",
            "instr(1234, 23)",
            "replace('a.b.c', '.', '--')",
            "replace('abc', '', 'x')",
            "replace('aaa', 'aa', 'b')",
            "replace('aaa', NULL, 'b')",
            "trim('  a b ')",
            "trim('ßaß', 'ß')",
            "ltrim('xxabcxx', 'x')",
            "rtrim('xxabcxyx', 'xy')",
            "rtrim('xxabc', '')",
            "json_object('all', json_group_array(json(value)))",
            "json_group_array(value)",
            "json_group_array('say \"' || value || '\"' || char(10))",
            "json_group_object('k' || value, value + 0.5)",
        ] {
            let own = ["instr", "replace", "ltrim", "rtrim", "json_group_array", "json_group_object"]
                .iter()
                .fold(call.to_owned(), |text, name| text.replace(&format!("{name}("), &format!("rookery_{name}(")));
            let own = if call.starts_with("trim") { format!("rookery_{call}") } else { own };
            let text = format!("SELECT {call} IS {own}, {own} FROM json_each('[1,2,null]')");
            let (same, found): (bool, rusqlite::types::Value) =
                connection.query_row(&text, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            assert!(same, "{own} is {found:?}");
        }
    }

    #[test]
    fn long_patterns_and_large_results_are_refused() {
        let connection = connection();
        let code = |text: &str| match connection.query_row(text, [], |row| row.get::<_, Option<String>>(0)) {
            Err(Error::SqliteFailure(error, _)) => error.extended_code,
            other => panic!("{text}: {other:?}"),
        };
        let long = "hex(zeroblob(200))";
        for call in ["instr('a', LONG)", "trim('a', LONG)", "replace('a', LONG, 'x')", "replace('a', 'a', LONG)"] {
            let text = format!("SELECT rookery_{}", call.replace("LONG", long));
            assert_eq!(code(&text), ffi::SQLITE_ERROR, "{text}");
        }
        let much = "json_each('[' || replace(hex(zeroblob(500)), '0', '1,') || '1]')";
        for call in ["json_group_array(hex(zeroblob(2000)))", "json_group_object(value, hex(zeroblob(2000)))"] {
            assert_eq!(code(&format!("SELECT rookery_{call} FROM {much}")), ffi::SQLITE_TOOBIG, "{call}");
        }
        let grown = "SELECT rookery_replace(hex(zeroblob(9000)), '0', '12345678901234567890')";
        assert_eq!(code(grown), ffi::SQLITE_TOOBIG);
    }
}
