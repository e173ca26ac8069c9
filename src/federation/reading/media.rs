//! Files of notes and of objects that are files themselves.

use service::remote::media::RemoteMedia;

use crate::address::is_usable;
use crate::vocabulary::{Attachment, Image, Link, Note};

/// Longest media type and blurhash, in bytes.
const SHORT: usize = 128;
/// The height of the picture of a video that is preferred among several, in pixels.
const HEIGHT: i64 = 720;
/// The kinds of files that apps show.
const KINDS: [&str; 3] = ["image", "video", "audio"];
/// Media types by the ending of a file, for servers that do not state them.
const ENDINGS: [(&str, &str); 13] = [
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("png", "image/png"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("avif", "image/avif"),
    ("mp4", "video/mp4"),
    ("webm", "video/webm"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("ogg", "audio/ogg"),
    ("flac", "audio/flac"),
    ("m4a", "audio/mp4"),
];

/// The files of `note`: of a video, sound or picture itself first, and the picture of an article that has no other.
pub(super) fn media(note: &Note) -> Vec<RemoteMedia> {
    let attached = note.attachment.iter().filter_map(attachment);
    if !note.is_converted() {
        return attached.collect();
    }
    let mut files: Vec<RemoteMedia> = own(note).into_iter().collect();
    files.extend(attached);
    if files.is_empty() {
        files.extend(note.image.first().and_then(picture));
    }
    let mut urls: Vec<String> = Vec::new();
    files.retain(|file| {
        let is_new = !urls.contains(&file.url);
        urls.push(file.url.clone());
        is_new
    });
    files
}

/// The pages that `note` links to by its attachments.
pub(super) fn links(note: &Note) -> impl Iterator<Item = &str> {
    let links = note.attachment.iter().filter(|file| is_link(file));
    links.filter_map(|file| address(file)).filter(|link| is_usable(link))
}

/// True for an attachment that is a page, not a file.
fn is_link(file: &Attachment) -> bool {
    let kind = media_type(file.media_type.as_deref(), None, address(file).unwrap_or_default());
    file.kind.iter().any(|kind| kind == "Link") && !kind.is_some_and(|kind| is_file(&kind))
}

fn is_file(media_type: &str) -> bool {
    KINDS.iter().any(|kind| media_type.strip_prefix(kind).is_some_and(|rest| rest.starts_with('/')))
}

fn address(file: &Attachment) -> Option<&str> {
    file.url.first().map(|link| link.href.as_str()).or(file.href.as_deref())
}

/// The media type: as stated, or by the ending of the URL, or the type of the object.
fn media_type(stated: Option<&str>, kind: Option<&str>, url: &str) -> Option<String> {
    let stated = stated.filter(|kind| kind.len() <= SHORT && kind.contains('/'));
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let ending = path.rsplit_once('.').map(|(_, ending)| ending);
    let guessed = || ENDINGS.iter().find(|(known, _)| ending.is_some_and(|ending| ending.eq_ignore_ascii_case(known)));
    let of_kind = || KINDS.iter().find(|known| kind.is_some_and(|kind| kind.eq_ignore_ascii_case(known)));
    let found = stated.map(str::to_owned).or_else(|| guessed().map(|(_, kind)| (*kind).to_owned()));
    found.or_else(|| of_kind().map(|kind| format!("{kind}/*")))
}

fn attachment(file: &Attachment) -> Option<RemoteMedia> {
    let url = address(file).filter(|url| is_usable(url))?;
    if is_link(file) {
        return None;
    }
    let stated = file.media_type.as_deref().or_else(|| file.url.first()?.media_type.as_deref());
    Some(RemoteMedia {
        url: url.to_owned(),
        mime: media_type(stated, file.kind.first().map(String::as_str), url).unwrap_or_default(),
        description: file.summary.0.clone().or_else(|| file.name.0.clone()),
        blurhash: file.blurhash.0.clone().filter(|text| text.len() <= SHORT),
        focus: file.focal_point.0,
        size: file.width.0.zip(file.height.0),
        preview_url: thumbnail(&file.icon),
        seconds: file.duration.as_deref().and_then(seconds),
    })
}

fn thumbnail(icons: &[Image]) -> Option<String> {
    // The last one is the largest where there are several.
    icons.last().and_then(|icon| icon.url.first()).filter(|url| is_usable(url)).map(|url| url.0.clone())
}

fn picture(image: &Image) -> Option<RemoteMedia> {
    let url = image.url.first().filter(|url| is_usable(url))?;
    Some(RemoteMedia {
        mime: media_type(image.media_type.as_deref(), Some("image"), url)?,
        description: image.name.0.clone(),
        ..RemoteMedia::at(url.0.clone())
    })
}

/// The file that a video, sound or picture is.
fn own(note: &Note) -> Option<RemoteMedia> {
    let kind = note.kind.iter().find(|kind| ["Video", "Audio", "Image"].contains(&kind.as_str()))?.to_ascii_lowercase();
    let fits = |link: &&Link| {
        let stated = link.media_type.as_deref().unwrap_or_default();
        is_usable(&link.href) && stated.strip_prefix(&*kind).is_some_and(|rest| rest.starts_with('/'))
    };
    let mut files: Vec<&Link> = note.url.iter().filter(fits).collect();
    if files.is_empty() {
        files = note.url.iter().flat_map(|link| &link.parts).filter(fits).collect();
    }
    let unusual = |link: &&&Link| link.media_type.as_deref() != Some("video/mp4");
    let height = |link: &Link| link.height.unwrap_or_default();
    // The largest of those that are not too large, else the smallest.
    let rank = |link: &&&Link| match height(link) {
        height if height <= HEIGHT => (0, -height),
        height => (1, height),
    };
    let file = files.iter().min_by_key(|link| (unusual(link), rank(link)))?;
    Some(RemoteMedia {
        mime: file.media_type.clone()?,
        size: file.width.zip(file.height),
        preview_url: thumbnail(&note.icon).or_else(|| thumbnail(&note.image)),
        seconds: note.duration.as_deref().and_then(seconds),
        ..RemoteMedia::at(file.href.clone())
    })
}

/// The seconds of a duration such as `PT1H2M3.5S`; days and longer units are not recordings.
fn seconds(duration: &str) -> Option<f64> {
    let mut total = 0.0;
    let mut rest = duration.strip_prefix("PT").filter(|rest| rest.len() <= 32)?;
    for (unit, factor) in [('H', 3600.0), ('M', 60.0), ('S', 1.0)] {
        if let Some((number, after)) = rest.split_once(unit) {
            total += number.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)? * factor;
            rest = after;
        }
    }
    (rest.is_empty() && total > 0.0 && total < 1e7).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_seconds() {
        assert_eq!(seconds("PT1H2M3.5S"), Some(3723.5));
        assert_eq!(seconds("PT210S"), Some(210.0));
        for other in ["", "PT", "P1D", "PT1X", "PT-1S", "PT1S2M", "PTNaNS", "PTinfS", "PT0S"] {
            assert_eq!(seconds(other), None, "{other}");
        }
    }

    #[test]
    fn media_types_are_guessed_by_endings() {
        let of = |stated, kind, url| media_type(stated, kind, url);
        assert_eq!(of(Some("image/heic"), None, "https://a.test/x.png").as_deref(), Some("image/heic"));
        assert_eq!(of(None, Some("Document"), "https://a.test/x.PNG?y=.mp4").as_deref(), Some("image/png"));
        assert_eq!(of(Some("png"), Some("Image"), "https://a.test/x").as_deref(), Some("image/*"));
        assert_eq!(of(None, Some("Link"), "https://a.test/x.html"), None);
    }
}
