//! Sizes and times as manifests write them: `64KiB`, `5m`.

/// `16KiB`, `1MiB` or a number of bytes.
pub(super) fn bytes(text: &str) -> Option<usize> {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1), ("", 1)];
    units.into_iter().find_map(|(unit, factor)| number(text, unit)?.checked_mul(factor))
}

/// `30s`, `5m`, `3h` or `1d`, in seconds.
pub(super) fn seconds(text: &str) -> Option<i64> {
    let units = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)];
    let found = units.into_iter().find_map(|(unit, factor)| number(text, unit)?.checked_mul(factor))?;
    i64::try_from(found).ok().filter(|seconds| *seconds > 0)
}

fn number(text: &str, unit: &str) -> Option<usize> {
    let digits = text.strip_suffix(unit)?.trim_end();
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_and_nonsense_is_not() {
        assert_eq!(
            [bytes("64KiB"), bytes("1 MiB"), bytes("512"), bytes("7B")],
            [Some(65_536), Some(1 << 20), Some(512), Some(7)]
        );
        assert_eq!([bytes(""), bytes("KiB"), bytes("-1KiB"), bytes("1KB"), bytes("99999999999999999999")], [None; 5]);
        assert_eq!(
            [seconds("5m"), seconds("3h"), seconds("1d"), seconds("30s")],
            [Some(300), Some(10_800), Some(86_400), Some(30)]
        );
        assert_eq!([seconds("0s"), seconds("5"), seconds("m"), seconds("5w")], [None; 4]);
    }
}
