//! Things with a title that belong to an account, such as circles: each has an id, a title and an owner. Their content
//! is up to the plugin.
//!
//! A plugin says once, in a [`Kind`], how many there may be and by which of its statements they are stored, and its five
//! routes are a line each:
//!
//! ```ignore
//! const CIRCLES: Kind = Kind {
//!     plural: "circles",
//!     most: 100,
//!     list: sql::circles,
//!     find: sql::circle,
//!     hold: sql::hold_owner,
//!     count: sql::count,
//!     create: sql::create,
//!     rename: sql::rename,
//!     delete: sql::delete,
//! };
//!
//! #[route(post, "/api/v1/circles", scopes = ["write:lists"])]
//! fn create(ctx: &Context, Params(sent): Params<Naming>) -> Result<Output> {
//!     Output::json(&CIRCLES.create(ctx, sent.title.unwrap_or_default())?)
//! }
//! ```

use serde::{Deserialize, Serialize};

use crate::__private::next_column;
use crate::sql::{FromRow, Query, Value};
use crate::{Context, Error, Id, Result};

/// The longest title, in characters.
pub const TITLE_MAX: u32 = 256;

/// A thing, as it is stored and shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Titled {
    /// Its id.
    pub id: Id,
    /// Its title.
    pub title: String,
}

/// Not derived: a derived row is checked against the statements of every plugin, also of plugins without such things.
impl FromRow for Titled {
    const COLUMNS: &'static [&'static str] = &["id", "title"];

    fn from_row(values: &mut dyn Iterator<Item = Value>) -> Result<Self> {
        Ok(Self { id: next_column(values, "id")?, title: next_column(values, "title")? })
    }
}

/// The parameters for creating or renaming a thing.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Naming {
    /// The title; none when it was not sent.
    pub title: Option<String>,
}

/// A kind of thing: its name, its limit, and the plugin's statements, whose parameters are in this order.
///
/// Rows of things have the columns `id` and `title`.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// What several are called in errors, in English: `circles`.
    pub plural: &'static str,
    /// How many a person may have.
    pub most: usize,
    /// The things of an account.
    pub list: fn(Id) -> Query,
    /// The thing of this id, if it belongs to the account.
    pub find: fn(Id, Id) -> Query,
    /// Locks a row of the account until the end of the transaction, so that two requests do not exceed the limit together.
    pub hold: fn(Id) -> Query,
    /// How many things an account has.
    pub count: fn(Id) -> Query,
    /// Creates a thing of the account and returns it.
    pub create: fn(Id, String) -> Query,
    /// Renames the thing of this id, if it belongs to the account, and returns it.
    pub rename: fn(Id, Id, String) -> Query,
    /// Deletes the thing of this id, if it belongs to the account.
    pub delete: fn(Id, Id) -> Query,
}

impl Kind {
    /// The caller's things, in the order of the statement.
    ///
    /// # Errors
    /// As [`Query::all`].
    pub fn list(&self, ctx: &Context) -> Result<Vec<Titled>> {
        (self.list)(ctx.account()).all()
    }

    /// The caller's thing of this id.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none or it belongs to another account; the two look alike.
    pub fn find(&self, ctx: &Context, id: Id) -> Result<Titled> {
        (self.find)(id, ctx.account()).one()
    }

    /// Creates a thing of the caller's.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a title that [`check_title`] refuses, and when there are as many as there may be.
    pub fn create(&self, ctx: &Context, title: String) -> Result<Titled> {
        let title = check_title(title)?;
        (self.hold)(ctx.account()).exec()?;
        if (self.count)(ctx.account()).one::<usize>()? >= self.most {
            let Self { plural, most, .. } = self;
            return Err(Error::invalid(format!("Validation failed: There are {most} {plural}, which is the limit")));
        }
        (self.create)(ctx.account(), title).one()
    }

    /// Changes the caller's thing as a client asks: without a title it stays as it is.
    ///
    /// # Errors
    /// As [`Kind::find`], then as [`check_title`].
    pub fn update(&self, ctx: &Context, id: Id, sent: Naming) -> Result<Titled> {
        let found = self.find(ctx, id)?;
        match sent.title {
            None => Ok(found),
            Some(title) => self.rename(ctx, id, title),
        }
    }

    /// Renames the caller's thing.
    ///
    /// # Errors
    /// As [`check_title`], then as [`Kind::find`].
    pub fn rename(&self, ctx: &Context, id: Id, title: String) -> Result<Titled> {
        (self.rename)(id, ctx.account(), check_title(title)?).one()
    }

    /// Deletes the caller's thing.
    ///
    /// # Errors
    /// As [`Kind::find`].
    pub fn delete(&self, ctx: &Context, id: Id) -> Result<()> {
        match (self.delete)(id, ctx.account()).exec()? {
            0 => Err(Error::NotFound),
            _ => Ok(()),
        }
    }
}

/// The title as it was sent, if it is neither blank nor longer than [`TITLE_MAX`].
///
/// # Errors
/// [`Error::Invalid`] for any other.
pub fn check_title(title: String) -> Result<String> {
    if title.trim().is_empty() {
        return Err(Error::invalid("Validation failed: Title can't be blank"));
    }
    if title.chars().count() > TITLE_MAX as usize {
        let why = format!("Validation failed: Title is too long (maximum is {TITLE_MAX} characters)");
        return Err(Error::invalid(why));
    }
    Ok(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_says_something_and_stays_as_it_is() {
        assert_eq!(check_title(" Rooks ".into()), Ok(" Rooks ".into()));
        assert!(check_title(" \t".into()).is_err() && check_title(String::new()).is_err());
        assert!(check_title("猫".repeat(256)).is_ok() && check_title("猫".repeat(257)).is_err());
    }
}
