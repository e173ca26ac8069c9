//! The focal point of an image: the part that must stay visible when it is cropped.
//!
//! Spec: <https://docs.joinmastodon.org/api/guidelines/#focal-points>

/// The focal point could not be parsed; `Display` is shown to clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Focus must be two numbers from -1.0 to 1.0, separated by a comma")]
pub struct Invalid;

/// Parses `"x,y"`, each from -1 (left, bottom) to 1 (right, top), inclusive.
pub fn parse(text: &str) -> Result<(f64, f64), Invalid> {
    let (x, y) = text.split_once(',').ok_or(Invalid)?;
    Ok((coordinate(x)?, coordinate(y)?))
}

/// A number from -1 to 1. Rejects NaN, which no range contains.
fn coordinate(text: &str) -> Result<f64, Invalid> {
    let number = text.trim().parse::<f64>().map_err(|_| Invalid)?;
    if (-1.0..=1.0).contains(&number) { Ok(number) } else { Err(Invalid) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_numbers_within_bounds_are_read() {
        assert_eq!(parse("0,0"), Ok((0.0, 0.0)));
        assert_eq!(parse("-1.0, 1"), Ok((-1.0, 1.0)));
        assert_eq!(parse("0.25,-0.5"), Ok((0.25, -0.5)));
    }

    #[test]
    fn other_values_are_refused() {
        for text in ["", "1", "1,", ",1", "1.01,0", "0,-2", "NaN,0", "inf,0", "0,0,0", "a,b"] {
            assert_eq!(parse(text), Err(Invalid), "{text}");
        }
    }
}
