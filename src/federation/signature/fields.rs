//! Structured fields (RFC 8941), as far as signatures and digests use them: dictionaries of items and inner lists.
//!
//! Stricter than the specification: decimals, a key that occurs twice, and more than [`ENTRIES_MAX`] keys are errors.

use std::fmt;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// The most members of a dictionary, and parameters of an item.
const ENTRIES_MAX: usize = 16;

/// Digits of the largest integer.
const DIGITS_MAX: usize = 15;

/// Base64 with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Integer(i64),
    String(String),
    Token(String),
    Bytes(Vec<u8>),
    Boolean(bool),
}

/// Names and values, each name once, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parameters(Vec<(String, Value)>);

impl Parameters {
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) value: Value,
    pub(super) parameters: Parameters,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InnerList {
    pub(super) items: Vec<Item>,
    pub(super) parameters: Parameters,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Member {
    Item(Item),
    List(InnerList),
}

/// The members of a dictionary, in order.
pub(super) fn dictionary(text: &str) -> Option<Vec<(String, Member)>> {
    Parser { rest: text.trim_matches(' ') }.dictionary()
}

/// Decodes base64, with or without padding.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    BASE64.decode(text).ok()
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !fits(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Takes `c` if it is next.
    fn eat(&mut self, c: char) -> bool {
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn dictionary(mut self) -> Option<Vec<(String, Member)>> {
        let mut members: Vec<(String, Member)> = Vec::new();
        while !self.rest.is_empty() {
            let key = self.key()?;
            if members.len() == ENTRIES_MAX || members.iter().any(|(earlier, _)| *earlier == key) {
                return None;
            }
            let member = self.member()?;
            members.push((key, member));
            self.take_while(is_blank);
            if self.rest.is_empty() {
                break;
            }
            if !self.eat(',') {
                return None;
            }
            self.take_while(is_blank);
            if self.rest.is_empty() {
                return None;
            }
        }
        Some(members)
    }

    fn member(&mut self) -> Option<Member> {
        if !self.eat('=') {
            return Some(Member::Item(Item { value: Value::Boolean(true), parameters: self.parameters()? }));
        }
        if self.eat('(') { self.inner_list().map(Member::List) } else { self.item().map(Member::Item) }
    }

    /// An inner list after its opening parenthesis.
    fn inner_list(&mut self) -> Option<InnerList> {
        let mut items = Vec::new();
        loop {
            self.take_while(|c| c == ' ');
            if self.eat(')') {
                return Some(InnerList { items, parameters: self.parameters()? });
            }
            items.push(self.item()?);
            if !self.rest.starts_with([' ', ')']) {
                return None;
            }
        }
    }

    fn item(&mut self) -> Option<Item> {
        Some(Item { value: self.value()?, parameters: self.parameters()? })
    }

    fn parameters(&mut self) -> Option<Parameters> {
        let mut parameters = Parameters::default();
        while self.eat(';') {
            self.take_while(|c| c == ' ');
            let key = self.key()?;
            let value = if self.eat('=') { self.value()? } else { Value::Boolean(true) };
            if parameters.len() == ENTRIES_MAX || parameters.get(&key).is_some() {
                return None;
            }
            parameters.0.push((key, value));
        }
        Some(parameters)
    }

    fn key(&mut self) -> Option<String> {
        let begins = self.rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '*');
        let key = self.take_while(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-.*".contains(c));
        begins.then(|| key.to_owned())
    }

    fn value(&mut self) -> Option<Value> {
        match self.rest.chars().next()? {
            '"' => self.string().map(Value::String),
            ':' => self.bytes().map(Value::Bytes),
            '?' => self.boolean().map(Value::Boolean),
            '-' | '0'..='9' => self.integer().map(Value::Integer),
            '*' | 'a'..='z' | 'A'..='Z' => {
                Some(Value::Token(self.take_while(|c| c.is_ascii_alphanumeric() || is_token_mark(c)).to_owned()))
            }
            _ => None,
        }
    }

    fn string(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Some(text);
                }
                '\\' => text.push(chars.next().map(|(_, c)| c).filter(|c| matches!(c, '"' | '\\'))?),
                ' '..='~' => text.push(c),
                _ => return None,
            }
        }
        None
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let (encoded, rest) = self.rest.strip_prefix(':')?.split_once(':')?;
        self.rest = rest;
        base64(encoded)
    }

    fn boolean(&mut self) -> Option<bool> {
        self.eat('?');
        let value = self.eat('1');
        (value || self.eat('0')).then_some(value)
    }

    fn integer(&mut self) -> Option<i64> {
        let negative = self.eat('-');
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.len() > DIGITS_MAX || self.rest.starts_with('.') {
            return None;
        }
        digits.parse::<i64>().ok().map(|number| if negative { -number } else { number })
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

fn is_token_mark(c: char) -> bool {
    "!#$%&'*+-.^_`|~:/".contains(c)
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => write!(f, "{number}"),
            Self::String(text) => write!(f, "\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
            Self::Token(text) => f.write_str(text),
            Self::Bytes(bytes) => write!(f, ":{}:", BASE64.encode(bytes)),
            Self::Boolean(value) => write!(f, "?{}", u8::from(*value)),
        }
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(key, value)| match value {
            Value::Boolean(true) => write!(f, ";{key}"),
            value => write!(f, ";{key}={value}"),
        })
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.value, self.parameters)
    }
}

impl fmt::Display for InnerList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items: Vec<_> = self.items.iter().map(ToString::to_string).collect();
        write!(f, "({}){}", items.join(" "), self.parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> InnerList {
        match dictionary(&format!("a={text}")).expect(text).remove(0).1 {
            Member::List(list) => list,
            Member::Item(item) => panic!("{item:?}"),
        }
    }

    #[test]
    fn inner_list_is_written_in_canonical_form() {
        for (text, canonical) in [
            ("()", "()"),
            ("(  \"a\"   \"b\" )", "(\"a\" \"b\")"),
            (r#"("a\"\\";x;y=?0;z=-01; t=to/k:en*);n=12"#, r#"("a\"\\";x;y=?0;z=-1;t=to/k:en*);n=12"#),
            ("(:YWI:);b=?1", "(:YWI=:);b"),
        ] {
            assert_eq!(list(text).to_string(), canonical);
        }
    }

    #[test]
    fn dictionary_keeps_its_order() {
        let members = dictionary(" b=1 ,\ta;x=2, *c=:: ").unwrap();
        let keys: Vec<_> = members.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["b", "a", "*c"]);
        assert_eq!(dictionary(""), Some(Vec::new()));
    }

    #[test]
    fn malformed_dictionary_is_refused() {
        let many: Vec<_> = (0..=ENTRIES_MAX).map(|n| format!("a{n}")).collect();
        let many_parameters = format!("a;{}", many.join(";"));
        for text in [
            "a=",
            "a=1,",
            ",a=1",
            "a=1 b=2",
            "A=1",
            "1a=1",
            "a=1,a=2",
            "a=1;b;b",
            "a=(1",
            "a=(1\"b\")",
            "a=(1\t2)",
            "a=\"b",
            "a=\"\\b\"",
            "a=\"é\"",
            "a=é",
            "a=:a",
            "a=:*:",
            "a=?2",
            "a=?",
            "a=-",
            "a=1.5",
            "a=@1",
            "a=1234567890123456",
            "a=((1))",
            "a=();",
            "a=1;=2",
            &many.join(","),
            &many_parameters,
        ] {
            assert_eq!(dictionary(text), None, "{text}");
        }
    }
}
