//! Words of many pages, and how numbers are written.

use super::Text;
use crate::Context;
use crate::time::iso;

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

/// The months, shortened, separated by spaces.
const MONTHS: Text = Text(&[
    ("en", "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"),
    ("de", "Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez."),
    ("ja", "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月"),
]);
/// A day, of its parts.
const DAY: Text =
    Text(&[("en", "{day} {month} {year}"), ("de", "{day}. {month} {year}"), ("ja", "{year}年{month}{day}日")]);
/// A moment, of its day and its time in UTC.
const MOMENT: Text = Text(&[("en", "{day}, {time} UTC"), ("de", "{day}, {time} UTC"), ("ja", "{day} {time} UTC")]);

/// A day in UTC as the caller's language writes it: `20 Nov 2026`, `20. Nov. 2026`; of a time in milliseconds since 1970.
#[must_use]
pub fn day(ctx: &Context, millis: i64) -> String {
    let iso = iso(millis);
    let part = |range: std::ops::Range<usize>| iso.get(range).unwrap_or_default().trim_start_matches('0');
    let month = part(5..7).parse().unwrap_or(1_usize);
    let month = MONTHS.of(ctx).split(' ').nth(month - 1).unwrap_or_default();
    DAY.of(ctx).replace("{day}", part(8..10)).replace("{month}", month).replace("{year}", part(0..4))
}

/// As [`day`], with the time: `20 Nov 2026, 08:12 UTC`.
#[must_use]
pub fn moment(ctx: &Context, millis: i64) -> String {
    let time = iso(millis).get(11..16).unwrap_or_default().to_owned();
    MOMENT.of(ctx).replace("{day}", &day(ctx, millis)).replace("{time}", &time)
}

/// The address of an account: `@alice`, or `@bob@elsewhere.example`.
#[must_use]
pub fn address(username: &str, domain: Option<&str>) -> String {
    match domain {
        Some(domain) => format!("@{username}@{domain}"),
        None => format!("@{username}"),
    }
}
