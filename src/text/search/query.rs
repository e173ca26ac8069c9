//! The syntax of search queries: words, `"phrases"`, `+` and `-`, and operators such as `from:someone`.
//!
//! One pass from left to right, in linear time. The caller interprets the values of operators.

use super::Phrase;

/// Most words, phrases and operators of a query.
pub const MAX_CLAUSES: usize = 32;

/// A part of a query; all parts must match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Preceded by `-`: the clause must not match.
    pub negated: bool,
    /// The condition.
    pub kind: Kind,
}

/// The condition of a clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A word, or words in order.
    Words(Phrase),
    /// `name:value`.
    Operator { name: String, value: String },
}

/// A query of more than [`MAX_CLAUSES`] clauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// Parses a query; parts without words and without an operator are skipped.
///
/// # Errors
/// [`TooLong`] for too many clauses.
pub fn parse(query: &str) -> Result<Vec<Clause>, TooLong> {
    let (mut clauses, mut rest) = (Vec::new(), query.trim_start());
    while !rest.is_empty() {
        let (clause, after) = next(rest);
        if let Some(clause) = clause {
            if clauses.len() == MAX_CLAUSES {
                return Err(TooLong);
            }
            clauses.push(clause);
        }
        rest = after.trim_start();
    }
    Ok(clauses)
}

/// The clause at the beginning of `text`, which does not begin with a space, and the remaining text.
fn next(text: &str) -> (Option<Clause>, &str) {
    let negated = text.starts_with('-');
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    if body.starts_with(is_quote) {
        let (phrase, after) = quoted(body);
        return (Phrase::new(phrase).map(|phrase| Clause { negated, kind: Kind::Words(phrase) }), after);
    }
    if let Some((name, value)) = operator(body) {
        let (value, after) = if value.starts_with(is_quote) { quoted(value) } else { word(value) };
        let operator = Kind::Operator { name: name.to_owned(), value: value.to_owned() };
        return (Some(Clause { negated, kind: operator }), after);
    }
    let (word, after) = word(body);
    (Phrase::new(word).map(|phrase| Clause { negated, kind: Kind::Words(phrase) }), after)
}

/// `name:value`, but not an address or a time: a name consists of lower-case letters, and a value is not empty.
fn operator(body: &str) -> Option<(&str, &str)> {
    let (name, value) = body.split_once(':')?;
    let named = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    let valued = !value.is_empty() && !value.starts_with(char::is_whitespace) && !value.starts_with("//");
    (named && valued).then_some((name, value))
}

fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// The text between the opening quotation mark and the next one, or the end.
fn quoted(text: &str) -> (&str, &str) {
    let inner = text.strip_prefix(is_quote).unwrap_or(text);
    match inner.split_once(is_quote) {
        Some((inner, after)) => (inner, after),
        None => (inner, ""),
    }
}

/// Typographic quotation marks count as `"`.
fn is_quote(c: char) -> bool {
    matches!(
        c,
        '"' | '\u{ab}'
            | '\u{bb}'
            | '\u{201c}'..='\u{201f}'
            | '\u{2033}'
            | '\u{300c}'..='\u{300f}'
            | '\u{301d}'..='\u{301f}'
            | '\u{ff02}'
    )
}
