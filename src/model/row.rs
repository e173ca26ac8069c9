//! Rows of the database as structs: the traits that `#[derive(Row)]` implements, and the only code that accesses the
//! driver.
//!
//! `store`, which has the SQL, decodes every row and binds every inserted struct through these traits. Only the
//! implementations of [`Columns`] depend on how a driver returns columns: the implementation for PostgreSQL is below,
//! the one for SQLite is beside its connections, in `database::sqlite`.

use sqlx::postgres::PgRow;
use sqlx::{Decode, Encode, Postgres, Type};

pub use ::macros::Row;

/// The error of decoding a row.
pub type Error = sqlx::Error;

/// A value that both engines decode from a column.
pub trait Value:
    crate::sqlite::Decode + for<'r> Decode<'r, Postgres> + Type<Postgres> + Send + Unpin + 'static
{
}
impl<V> Value for V where
    V: crate::sqlite::Decode + for<'r> Decode<'r, Postgres> + Type<Postgres> + Send + Unpin + 'static
{
}

/// A value that both engines encode as a parameter.
pub trait Bind<'q>: crate::sqlite::Encode + Encode<'q, Postgres> + Type<Postgres> {}
impl<'q, V> Bind<'q> for V where V: crate::sqlite::Encode + Encode<'q, Postgres> + Type<Postgres> {}

/// The columns of one row.
pub trait Columns {
    /// The value of the column named `column`.
    ///
    /// # Errors
    /// When there is no such column, or its value is not a `V`.
    fn named<V: Value>(&self, column: &'static str) -> Result<V, Error>;

    /// The value of a column by its position, from 0.
    ///
    /// # Errors
    /// As [`Columns::named`].
    fn at<V: Value>(&self, index: usize) -> Result<V, Error>;
}

/// The target of decoding a row: a struct, by the names of its columns (`#[derive(Row)]`), or a tuple, by their
/// order.
pub trait Row: Sized + Send + Unpin + 'static {
    /// Decodes a row; unused columns are ignored.
    ///
    /// # Errors
    /// When a column is missing or has another type.
    fn decode(columns: &impl Columns) -> Result<Self, Error>;
}

/// A struct that is a row of a table, for an insert: `#[derive(Row)]` with `#[row(table = "…")]`.
pub trait Table {
    /// Binds every field, in the order of the struct, which is the order of the columns in its `…_insert!()`.
    fn bind_to<B: Binder>(&self, binder: B) -> B;
}

/// A statement to which values are bound in order.
pub trait Binder: Sized {
    /// Binds the next value.
    #[must_use]
    fn value<'q>(self, value: impl Bind<'q>) -> Self;
}

impl Columns for PgRow {
    fn named<V: Value>(&self, column: &'static str) -> Result<V, Error> {
        sqlx::Row::try_get(self, column)
    }
    fn at<V: Value>(&self, index: usize) -> Result<V, Error> {
        sqlx::Row::try_get(self, index)
    }
}

macro_rules! tuples {
    ($(($($value:ident $index:literal),+)),+ $(,)?) => {$(
        impl<$($value: Value),+> Row for ($($value,)+) {
            fn decode(columns: &impl Columns) -> Result<Self, Error> {
                Ok(($(columns.at::<$value>($index)?,)+))
            }
        }
    )+};
}
tuples!(
    (A 0),
    (A 0, B 1),
    (A 0, B 1, C 2),
    (A 0, B 1, C 2, D 3),
    (A 0, B 1, C 2, D 3, E 4),
    (A 0, B 1, C 2, D 3, E 4, F 5),
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6),
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7),
);

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Row)]
    #[row(table = "birds", alias = "b")]
    struct BirdRow {
        id: i64,
        #[row(rename = "type")]
        kind: String,
        ring: Option<i64>,
    }

    struct Counted(usize);

    impl Binder for Counted {
        fn value<'q>(self, _: impl Bind<'q>) -> Self {
            Self(self.0 + 1)
        }
    }

    #[test]
    fn lists_name_every_field_in_order() {
        assert_eq!(bird_columns!(), "b.id, b.type, b.ring");
        assert_eq!(bird_insert!(), "INSERT INTO birds (id, type, ring) VALUES ($1, $2, $3)");
        assert_eq!(
            bird_insert!("seen_at", "nest"),
            "INSERT INTO birds (seen_at, nest, id, type, ring) VALUES ($1, $2, $3, $4, $5)"
        );
    }

    #[test]
    fn table_binds_every_field() {
        let bird = BirdRow { id: 1, kind: "rook".to_owned(), ring: None };
        assert_eq!(bird.bind_to(Counted(0)).0, 3);
    }
}
