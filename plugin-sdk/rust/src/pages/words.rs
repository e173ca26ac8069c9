//! Words of many pages, and how numbers are written.

use super::Text;
use crate::Context;

/// The label of a title.
pub const TITLE: Text = Text(&[("en", "Title"), ("de", "Titel"), ("ja", "タイトル")]);
/// The button that makes something.
pub const CREATE: Text = Text(&[("en", "Create"), ("de", "Anlegen"), ("ja", "作成")]);
/// The button that keeps changes.
pub const SAVE: Text = Text(&[("en", "Save"), ("de", "Speichern"), ("ja", "保存")]);
/// The button that deletes something.
pub const DELETE: Text = Text(&[("en", "Delete"), ("de", "Löschen"), ("ja", "削除")]);

/// The separator of thousands.
const THOUSANDS: Text = Text(&[("en", ","), ("de", "."), ("ja", ",")]);

/// A number as the caller's language writes it: `1,204`, `1.204`.
#[must_use]
pub fn number(ctx: &Context, number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or_default());
    groups.collect::<Vec<_>>().join(THOUSANDS.of(ctx))
}

/// The address of an account: `@alice`, or `@bob@elsewhere.example`.
#[must_use]
pub fn address(username: &str, domain: Option<&str>) -> String {
    match domain {
        Some(domain) => format!("@{username}@{domain}"),
        None => format!("@{username}"),
    }
}
