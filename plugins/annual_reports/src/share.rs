//! The link of a report for others: its key is the secret.
//!
//! A report gets its key when it is made, and keeps it. A report from before there were links gets one when its owner reads
//! it next; the first of two concurrent readers gives it.

use rookery_plugin::prelude::*;

use crate::{StoredReport, sql};

/// Bytes of a key.
const KEY: u32 = 16;

/// A new key: 128 random bits, in hexadecimal.
pub(crate) fn new_key() -> String {
    system::random(KEY).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a text has the form of a key.
pub(crate) fn is_key(text: &str) -> bool {
    text.len() == 2 * KEY as usize && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The path of the page of a report for others.
///
/// # Errors
/// [`Error::NotFound`] when the report was removed meanwhile.
pub(crate) fn path(account: Id, report: &StoredReport) -> Result<String> {
    let key = match &report.share_key {
        Some(key) => key.clone(),
        None => {
            sql::give_key(account, report.year, new_key()).exec()?;
            sql::share_key(account, report.year).one()?
        }
    };
    Ok(format!("/annual_reports/{}/{key}", report.year))
}

#[cfg(test)]
mod tests {
    use super::is_key;

    #[test]
    fn key_is_of_32_hexadecimal_digits() {
        assert!(is_key("0123456789abcdef0123456789abcdef"));
        for other in [
            "",
            "0123456789abcdef0123456789abcde",
            "0123456789ABCDEF0123456789abcdef",
            "%123456789abcdef0123456789abcdef",
        ] {
            assert!(!is_key(other), "{other}");
        }
    }
}
