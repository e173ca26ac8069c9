//! The cache of rendered metrics, and numbers as they are shown.

use std::sync::Arc;

use context::Cx;
use context::error::Result;
use context::json::Fragment;

/// How long a rendered metric is served, in seconds (docs/contract/admin.csv).
const AGE_SECONDS: i64 = 5 * 60;

/// The metric rendered by `make`, or as it was rendered for the same `key` in the last five minutes.
pub(super) async fn cached(cx: &Cx, key: String, make: impl Future<Output = Result<Fragment>>) -> Result<Fragment> {
    let now = cx.clock.now().timestamp();
    if let Some(known) = cx.caches.metrics.at_least(&key, now - AGE_SECONDS + 1) {
        return Ok(Fragment::from_json(&known));
    }
    let made = make.await?;
    cx.caches.metrics.insert_at(key, now, Arc::from(made.as_str()));
    Ok(made)
}

/// A size with a unit: `1.5 MB`.
pub(super) fn human_size(bytes: i64) -> String {
    const UNITS: [&str; 6] = ["Bytes", "KB", "MB", "GB", "TB", "PB"];
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let mut size = bytes as f64;
    let mut unit = 0;
    while size.abs() >= 1024.0 && unit < UNITS.len() - 1 {
        size /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && size.abs() < 100.0);
    format!("{size:.digits$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_is_shown_with_its_unit() {
        let sizes = [0, 1023, 1024, 1_572_864, 500 << 20, i64::MAX].map(human_size);
        assert_eq!(sizes, ["0 Bytes", "1023 Bytes", "1.0 KB", "1.5 MB", "500 MB", "8192 PB"]);
    }
}
