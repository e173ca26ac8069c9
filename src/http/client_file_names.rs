//! The names of files of [another web client](crate::client_folder): media types, and hashes of the content.

/// Media types by extension. Any other file is `application/octet-stream`.
const TYPES: [(&str, &str); 28] = [
    ("avif", "image/avif"),
    ("css", "text/css; charset=utf-8"),
    ("gif", "image/gif"),
    ("htm", "text/html; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("ico", "image/x-icon"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("map", "application/json"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("ogg", "audio/ogg"),
    ("otf", "font/otf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("ttf", "font/ttf"),
    ("txt", "text/plain; charset=utf-8"),
    ("wasm", "application/wasm"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webmanifest", "application/manifest+json"),
    ("webp", "image/webp"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
    ("xml", "application/xml"),
];

/// The media type of a file, by the extension of its name.
pub(super) fn media_type(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    let known = TYPES.iter().find(|(known, _)| *known == extension);
    known.map_or("application/octet-stream", |(_, kind)| kind)
}

/// True for types that responses are compressed in.
pub(super) fn is_text(kind: &str) -> bool {
    ["text/", "application/json", "application/manifest+json", "application/xml", "image/svg+xml"]
        .iter()
        .any(|text| kind.starts_with(text))
}

/// True when the name of a file has a hash of its content, as bundlers write it: before the extension, after a dot or a
/// hyphen, or as the whole name, either 8 to 64 hexadecimal digits with a letter and a number (`index.3f2a9b1c.js`), or 8
/// characters of base64url with an upper-case letter, a lower-case letter and a number (`index-DiwR5Tda.js`). Other
/// hashes are not recognised, which costs a request that is answered 304.
pub(super) fn has_hash(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let name = name.strip_suffix(".map").unwrap_or(name);
    let stem = name.rsplit_once('.').map_or("", |(stem, _)| stem);
    let last = stem.rsplit(['.', '-']).next().unwrap_or_default();
    let is_hex = (8..=64).contains(&last.len())
        && last.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && last.bytes().any(|byte| byte.is_ascii_digit())
        && last.bytes().any(|byte| byte.is_ascii_lowercase());
    is_hex || stem.len().checked_sub(8).is_some_and(|start| ends_with_base64(stem, start))
}

fn ends_with_base64(stem: &str, start: usize) -> bool {
    let (before, hash) = match (stem.get(..start), stem.get(start..)) {
        (Some(before), Some(hash)) => (before, hash.as_bytes()),
        _ => return false,
    };
    (before.is_empty() || before.ends_with(['.', '-']))
        && hash.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte))
        && hash.iter().any(u8::is_ascii_digit)
        && hash.iter().any(u8::is_ascii_uppercase)
        && hash.iter().any(u8::is_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_bundlers_are_recognised() {
        for name in ["assets/index-DiwR5Tda.js", "main.3f2a9b1c.css", "_nuxt/DlAUqK2U.js", "a-b_D-w4g7.js.map"] {
            assert!(has_hash(name), "{name}");
        }
        for name in [
            "index.html",
            "sw.js",
            "assets/settings.js",
            "icon-1024x1024.png",
            "photo-20240101.jpg",
            "apple-touch-icon.png",
            "nav-NavPanel.js",
            "",
            "é-12345678",
        ] {
            assert!(!has_hash(name), "{name}");
        }
    }

    #[test]
    fn media_types_follow_the_extension() {
        assert_eq!(media_type("a/b.JS"), "text/javascript; charset=utf-8");
        assert_eq!(media_type("a.woff2"), "font/woff2");
        assert_eq!(media_type("LICENSE"), "application/octet-stream");
    }
}
