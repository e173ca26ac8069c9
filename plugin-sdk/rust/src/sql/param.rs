//! Values that can be bound to the parameters of a statement. Each type that `queries.sql` declares is the argument of
//! a trait here, so that a value of the wrong type is a compile error. `Option` binds null.

use crate::Id;
use crate::contract::sql::Value;

/// A value that can be bound to a parameter of the declared type `T`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be bound to a parameter that queries.sql declares as {T}",
    label = "not {T}"
)]
pub trait Param<T> {
    /// As a value of the contract.
    fn value(self) -> Value;
}

macro_rules! kinds {
    ($($kind:ident $text:literal),*) => { $(#[doc = $text] #[derive(Debug)] pub enum $kind {})* };
}
kinds!(
    Integer "`integer`", Real "`real`", Boolean "`boolean`", Text "`text`", Blob "`blob`", Json "`json`: JSON as text",
    Integers "`integers`: a list", Texts "`texts`: a list"
);

/// The page of a statement that `returns: page(…)`.
pub use crate::contract::types::Page;

impl<K, T: Param<K>> Param<K> for Option<T> {
    fn value(self) -> Value {
        self.map_or(Value::Null, Param::value)
    }
}

macro_rules! param {
    ($($kind:ident $type:ty, $value:ident => $make:expr;)*) => {
        $(impl Param<$kind> for $type {
            fn value(self) -> Value {
                let $value = self;
                $make
            }
        })*
    };
}
param! {
    Integer i64, number => Value::Integer(number);
    Integer &i64, number => Value::Integer(*number);
    Integer i32, number => Value::Integer(number.into());
    Integer u32, number => Value::Integer(number.into());
    Integer u16, number => Value::Integer(number.into());
    Integer u8, number => Value::Integer(number.into());
    Integer bool, flag => Value::Integer(flag.into());
    Integer usize, number => Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    Integer Id, id => Value::Integer(id.0);
    Integer &Id, id => Value::Integer(id.0);
    Real f64, number => Value::Real(number);
    Boolean bool, flag => Value::Boolean(flag);
    Text String, text => Value::Text(text);
    Text &String, text => Value::Text(text.clone());
    Text &str, text => Value::Text(text.to_owned());
    Blob Vec<u8>, bytes => Value::Blob(bytes);
    Blob &[u8], bytes => Value::Blob(bytes.to_vec());
    Json String, text => Value::Text(text);
    Json &String, text => Value::Text(text.clone());
    Json &str, text => Value::Text(text.to_owned());
    Json serde_json::Value, json => Value::Text(json.to_string());
    Json &serde_json::Value, json => Value::Text(json.to_string());
    Texts &[String], list => Value::Text(array(list.iter().map(|text| serde_json::Value::from(text.as_str()))));
    Texts &[&str], list => Value::Text(array(list.iter().map(|text| serde_json::Value::from(*text))));
    Texts &Vec<String>, list => Param::<Texts>::value(list.as_slice());
    Texts Vec<String>, list => Param::<Texts>::value(list.as_slice());
    Integers Vec<i64>, list => Param::<Integers>::value(list.as_slice());
    Integers Vec<Id>, list => Param::<Integers>::value(list.as_slice());
}

impl<I: Copy + Into<i64>> Param<Integers> for &[I] {
    fn value(self) -> Value {
        Value::Text(array(self.iter().map(|id| serde_json::Value::from((*id).into()))))
    }
}

impl<I: Copy + Into<i64>> Param<Integers> for &Vec<I> {
    fn value(self) -> Value {
        Param::<Integers>::value(self.as_slice())
    }
}

fn array(items: impl Iterator<Item = serde_json::Value>) -> String {
    serde_json::Value::Array(items.collect()).to_string()
}

/// A paging parameter of a statement with `{page:…}`.
#[doc(hidden)]
#[must_use]
pub fn page(page: &Page, name: &str) -> Value {
    let number = match name {
        "max_id" => page.max_id,
        "since_id" => page.since_id,
        "min_id" => page.min_id,
        _ => Some(page.limit.into()),
    };
    number.map_or(Value::Null, Value::Integer)
}
