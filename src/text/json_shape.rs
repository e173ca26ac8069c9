//! Limits on external JSON that are checked before it is parsed into a tree: there a value of a few bytes takes up to
//! a hundred times as much memory.
//!
//! Considers only brackets and commas outside of strings; the parser decides whether the text is valid JSON.

use std::fmt;

/// Deepest nesting of arrays and objects.
const MAX_DEPTH: usize = 32;
/// Most values: scalars, arrays and objects.
const MAX_VALUES: usize = 10_000;

/// Why a JSON text is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooComplex {
    /// It is nested too deep.
    Deep,
    /// It has too many values.
    Large,
}

impl fmt::Display for TooComplex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deep => write!(f, "is nested deeper than {MAX_DEPTH} levels"),
            Self::Large => write!(f, "has more than {MAX_VALUES} values"),
        }
    }
}

/// Checks the shape of an external JSON text.
///
/// # Errors
/// When it is nested too deep, or has too many values.
pub fn check(body: &[u8]) -> Result<(), TooComplex> {
    let (mut depth, mut values, mut in_text) = (0_usize, 1_usize, false);
    let mut bytes = body.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_text = !in_text,
            b'\\' if in_text => drop(bytes.next()),
            b'[' | b'{' if !in_text => (depth, values) = (depth + 1, values + 1),
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            b',' if !in_text => values += 1,
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(TooComplex::Deep);
        }
        if values > MAX_VALUES {
            return Err(TooComplex::Large);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_and_number_of_values_are_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(check(nested(MAX_DEPTH).as_bytes()).is_ok());
        assert!(check(nested(MAX_DEPTH + 1).as_bytes()).is_err());
        let side_by_side = |item: &str, count: usize| format!("[{}]", vec![item; count].join(","));
        assert!(check(side_by_side("1", MAX_VALUES - 2).as_bytes()).is_ok());
        for item in ["1", "{}", "{\"\":0}", "[[]]", ""] {
            assert!(check(side_by_side(item, MAX_VALUES).as_bytes()).is_err(), "{item}");
        }
    }

    #[test]
    fn brackets_in_strings_are_not_counted() {
        let text = format!(r#"{{"a\"[[": "{}\\", "b": "{}"}}"#, "[".repeat(100), ",".repeat(2 * MAX_VALUES));
        assert!(check(text.as_bytes()).is_ok());
        assert!(check(format!(r#"{{"a\\": {}"#, "[".repeat(100)).as_bytes()).is_err());
    }
}
