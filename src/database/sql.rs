//! Statement texts: the macros [`sql!`](crate::sql!) and [`paged!`](crate::paged!), list parameters, and the registry
//! of all statements.
//!
//! SQL is written once, in the subset that SQLite and PostgreSQL share (docs/style.md#a-query). Every text is registered
//! in [`STATEMENTS`] at link time, so that tests can prepare each one on both engines and look at its plan. There is no
//! query builder.

use linkme::distributed_slice;
use model::sqlite::{self, Parameter};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::PgArgumentBuffer;
use sqlx::{Encode, Postgres, Type};
use tracing::field::Empty;
use tracing::{Span, trace_span};

/// A statement: its text for each engine, and its place in the source.
#[derive(Clone, Copy, Debug)]
pub struct Sql {
    /// The text for SQLite, with `?1` in place of `$1`: SQLite binds `?1` by its number.
    pub sqlite: &'static str,
    /// The text for PostgreSQL.
    pub postgres: &'static str,
    /// File and line, for tests that report a broken statement.
    pub place: (&'static str, u32),
    /// The path of the static in the function of the statement, for [`Sql::name`].
    #[doc(hidden)]
    pub path: fn() -> &'static str,
}

impl Sql {
    /// The statement's name: the path of its function, `store::status::find`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        model::span::enclosing((self.path)(), "STATEMENT")
    }

    /// A tracing span for a run of the statement; when disabled, which is the default, it costs one relaxed atomic
    /// load. It contains the statement's name and place, but neither its text nor a value.
    pub(crate) fn span(&self) -> Span {
        trace_span!(
            target: "rookery::statement",
            "statement",
            otel.name = self.name(),
            otel.kind = "client",
            otel.status_code = Empty,
            code.file.path = self.place.0,
            code.line.number = self.place.1
        )
    }
}

/// Every statement of the program, collected at link time from all uses of [`sql!`](crate::sql!).
#[distributed_slice]
#[allow(unsafe_code, reason = "as in the macro below")]
pub static STATEMENTS: [Sql];

/// A statement, written once for both engines.
///
/// String literals and macros that expand to one (such as column lists) are concatenated. They may alternate with:
///
/// - `in("$1")`: a membership test in a list, bound as [`Ids`] or [`Texts`] (`json_each` on SQLite, `ANY` on
///   PostgreSQL);
/// - `each("$1")`: a table with the column `value` from a list of ids, bound as [`Ids`];
/// - `rows("$1")`: a table with the column `value` from a list of records, bound as `Json`; a field of a record is
///   `CAST(value ->> 'id' AS BIGINT)`. PostgreSQL expects a hundred rows of a JSON array, for which it would rather read
///   tables of some thousand rows whole than look one row up; the condition, which always holds, makes it expect one.
///
/// Texts that must differ between engines are written as `sql!(sqlite: …; postgres: …)`.
///
/// Two idioms recur. In `INSERT … SELECT … FROM t WHERE TRUE ON CONFLICT`, SQLite would parse `ON` as a join
/// condition without the `WHERE`. `CAST($1 AS BIGINT)` gives a parameter its type where PostgreSQL could not infer
/// it, or would infer another.
#[macro_export]
macro_rules! sql {
    (@sqlite [$($done:tt)*]) => { concat!($($done)*) };
    (@sqlite [$($done:tt)*] in($n:literal) $($rest:tt)*) => { $crate::sql!(@sqlite [$($done)* " IN (SELECT value FROM json_each(", $n, ")) ",] $($rest)*) };
    (@sqlite [$($done:tt)*] each($n:literal) $($rest:tt)*) => { $crate::sql!(@sqlite [$($done)* " json_each(", $n, ") ",] $($rest)*) };
    (@sqlite [$($done:tt)*] rows($n:literal) $($rest:tt)*) => { $crate::sql!(@sqlite [$($done)* " json_each(", $n, ") ",] $($rest)*) };
    (@sqlite [$($done:tt)*] $name:ident!($($arg:tt)*) $($rest:tt)*) => { $crate::sql!(@sqlite [$($done)* $name!($($arg)*),] $($rest)*) };
    (@sqlite [$($done:tt)*] $text:literal $($rest:tt)*) => { $crate::sql!(@sqlite [$($done)* $text,] $($rest)*) };
    (@postgres [$($done:tt)*]) => { concat!($($done)*) };
    (@postgres [$($done:tt)*] in($n:literal) $($rest:tt)*) => { $crate::sql!(@postgres [$($done)* " = ANY(", $n, ") ",] $($rest)*) };
    (@postgres [$($done:tt)*] each($n:literal) $($rest:tt)*) => { $crate::sql!(@postgres [$($done)* " unnest(", $n, "::bigint[]) AS each(value) ",] $($rest)*) };
    (@postgres [$($done:tt)*] rows($n:literal) $($rest:tt)*) => {
        $crate::sql!(@postgres [$($done)*
            " (SELECT value FROM jsonb_array_elements(", $n, ") WHERE jsonb_typeof(value) IN ('object', 'array')) AS each ",
        ] $($rest)*)
    };
    (@postgres [$($done:tt)*] $name:ident!($($arg:tt)*) $($rest:tt)*) => { $crate::sql!(@postgres [$($done)* $name!($($arg)*),] $($rest)*) };
    (@postgres [$($done:tt)*] $text:literal $($rest:tt)*) => { $crate::sql!(@postgres [$($done)* $text,] $($rest)*) };
    (sqlite: $($sqlite:tt)+) => { $crate::sql!(@split [] $($sqlite)+) };
    (@split [$($sqlite:tt)*] ; postgres: $($postgres:tt)+) => {
        $crate::sql!(@register $crate::sql!(@sqlite [] $($sqlite)*), $crate::sql!(@postgres [] $($postgres)+))
    };
    (@split [$($sqlite:tt)*] $next:tt $($rest:tt)*) => { $crate::sql!(@split [$($sqlite)* $next] $($rest)*) };
    (@register $sqlite:expr, $postgres:expr) => {{
        #[linkme::distributed_slice($crate::sql::STATEMENTS)]
        #[allow(unsafe_code, reason = "linkme places the static in a link section, which the lint counts as unsafe; there is no unsafe block")]
        static STATEMENT: $crate::sql::Sql =
            $crate::sql::Sql {
                sqlite: $crate::sql!(@numbered $sqlite),
                postgres: $postgres,
                place: (file!(), line!()),
                path: || {
                    fn here() {}
                    ::std::any::type_name_of_val(&here)
                },
            };
        STATEMENT
    }};
    (@numbered $text:expr) => {{
        const TEXT: &str = $text;
        const NUMBERED: [u8; TEXT.len()] = $crate::sql::numbered(TEXT.as_bytes());
        match std::str::from_utf8(&NUMBERED) {
            Ok(text) => text,
            Err(_) => TEXT,
        }
    }};
    ($($text:tt)+) => {
        $crate::sql!(@register $crate::sql!(@sqlite [] $($text)+), $crate::sql!(@postgres [] $($text)+))
    };
}

/// `text` with `?1` in place of `$1` and so on.
#[doc(hidden)]
#[must_use]
pub const fn numbered<const LENGTH: usize>(text: &[u8]) -> [u8; LENGTH] {
    let mut numbered = [0; LENGTH];
    let mut at = 0;
    while at < LENGTH {
        let parameter = text[at] == b'$' && at + 1 < LENGTH && text[at + 1].is_ascii_digit();
        numbered[at] = if parameter { b'?' } else { text[at] };
        at += 1;
    }
    numbered
}

/// A statement for keyset pagination: `paged!(cursor, "SELECT … WHERE …", by "s.id", limit "$4")`.
///
/// The column after `by` is the paging key. Ordered ascending when the cursor has a `min_id`, otherwise descending,
/// so that the limit keeps the rows next to the cursor; `Cursor::newest_first` puts the rows in the order of the
/// response. The text itself must compare the key with `Cursor::before` and `Cursor::after`. There is no `OFFSET`.
#[macro_export]
macro_rules! paged {
    ($cursor:expr, $($text:tt)+) => { $crate::paged!(@split $cursor, [] $($text)+) };
    (@split $cursor:expr, [$($text:tt)*] , by $column:literal, limit $limit:literal) => {
        if $cursor.ascending() {
            $crate::sql!($($text)* " ORDER BY " $column " ASC LIMIT " $limit)
        } else {
            $crate::sql!($($text)* " ORDER BY " $column " DESC LIMIT " $limit)
        }
    };
    (@split $cursor:expr, [$($text:tt)*] $next:tt $($rest:tt)*) => { $crate::paged!(@split $cursor, [$($text)* $next] $($rest)*) };
}

/// A list of ids for `in("$n")`: an array on PostgreSQL, a JSON array on SQLite.
#[derive(Clone, Debug)]
pub struct Ids(Vec<i64>);

impl Ids {
    /// A list of `ids` of any id type.
    pub fn of<T: Into<i64> + Copy>(ids: impl IntoIterator<Item = T>) -> Self {
        Self(ids.into_iter().map(Into::into).collect())
    }
}

/// A list of texts for `in("$n")`.
#[derive(Clone, Debug)]
pub struct Texts(Vec<String>);

impl Texts {
    /// A list of `texts`.
    pub fn of<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self(texts.into_iter().map(Into::into).collect())
    }
}

macro_rules! list {
    ($list:ty, $element:ty) => {
        impl Type<Postgres> for $list {
            fn type_info() -> <Postgres as sqlx::Database>::TypeInfo {
                <Vec<$element> as Type<Postgres>>::type_info()
            }
        }
        impl Encode<'_, Postgres> for $list {
            fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
                <Vec<$element> as Encode<Postgres>>::encode_by_ref(&self.0, buffer)
            }
        }
        impl sqlite::Encode for $list {
            fn encode(&self) -> Result<Parameter, BoxDynError> {
                Ok(Parameter::Text(serde_json::to_string(&self.0)?))
            }
        }
    };
}
list!(Ids, i64);
list!(Texts, String);
