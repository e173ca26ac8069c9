//! Enums with one text form, which is the same in the database, in requests and in responses.

/// Declares an enum with a text form: parsing, `Display`, serde, a JSON Schema, and SQL encoding for both engines.
#[macro_export]
macro_rules! text_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant),+
        }

        impl $name {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The text form of every variant.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The text form.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;
            /// The error lists all valid texts.
            fn from_str(word: &str) -> Result<Self, String> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(format!("must be one of {}", [$($word),+].join(", "))),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::macros::serde::Serialize for $name {
            fn serialize<S: $crate::macros::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> $crate::macros::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::macros::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <std::borrow::Cow<'de, str> as $crate::macros::serde::Deserialize>::deserialize(deserializer)?;
                word.parse().map_err($crate::macros::serde::de::Error::custom)
            }
        }

        impl $crate::macros::schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut $crate::macros::schemars::SchemaGenerator) -> $crate::macros::schemars::Schema {
                $crate::macros::schemars::json_schema!({ "type": "string", "enum": [$($word),+] })
            }
        }

        impl<DB: $crate::macros::sqlx::Database> $crate::macros::sqlx::Type<DB> for $name
        where
            String: $crate::macros::sqlx::Type<DB>,
        {
            fn type_info() -> DB::TypeInfo {
                <String as $crate::macros::sqlx::Type<DB>>::type_info()
            }
            fn compatible(info: &DB::TypeInfo) -> bool {
                <String as $crate::macros::sqlx::Type<DB>>::compatible(info)
            }
        }

        impl<'q, DB: $crate::macros::sqlx::Database> $crate::macros::sqlx::Encode<'q, DB> for $name
        where
            String: $crate::macros::sqlx::Encode<'q, DB>,
        {
            fn encode_by_ref(
                &self,
                buffer: &mut <DB as $crate::macros::sqlx::Database>::ArgumentBuffer,
            ) -> Result<$crate::macros::sqlx::encode::IsNull, $crate::macros::sqlx::error::BoxDynError> {
                <String as $crate::macros::sqlx::Encode<'q, DB>>::encode(self.as_str().to_owned(), buffer)
            }
        }

        impl $crate::sqlite::Encode for $name {
            fn encode(&self) -> Result<$crate::sqlite::Parameter, $crate::macros::sqlx::error::BoxDynError> {
                $crate::sqlite::Encode::encode(self.as_str())
            }
        }

        impl $crate::sqlite::Decode for $name {
            fn decode(value: $crate::sqlite::ValueRef<'_>) -> Result<Self, $crate::macros::sqlx::error::BoxDynError> {
                $crate::sqlite::text(value)?.parse().map_err(Into::into)
            }
        }

        impl<'r, DB: $crate::macros::sqlx::Database> $crate::macros::sqlx::Decode<'r, DB> for $name
        where
            &'r str: $crate::macros::sqlx::Decode<'r, DB>,
        {
            fn decode(value: <DB as $crate::macros::sqlx::Database>::ValueRef<'r>) -> Result<Self, $crate::macros::sqlx::error::BoxDynError> {
                <&'r str as $crate::macros::sqlx::Decode<'r, DB>>::decode(value)?.parse().map_err(Into::into)
            }
        }
    };
}
