//! Addresses of the pictures of the server: the pictures of the staff's choice, else the built-in ones.
//!
//! Spec: docs/contract/rules.md#27-instance

use context::Cx;
use model::settings::ServerPicture;

/// The size of the thumbnail, and its size for screens of twice the resolution.
pub(crate) const THUMBNAIL: &str = "1200x630";
pub(crate) const LARGE: &str = "2400x1260";

/// The sides of icons, in pixels.
const ICON_SIDES: [u32; 3] = [32, 180, 512];

/// The file of `picture` in the size `size`, such as `32x32`; `None` when the staff chose no picture.
pub(crate) fn file(cx: &Cx, picture: &ServerPicture, size: &str) -> Option<String> {
    picture.files.get(size).map(|key| cx.urls.media(key))
}

/// The thumbnail.
#[must_use]
pub fn thumbnail(cx: &Cx) -> String {
    file(cx, &cx.settings().thumbnail, THUMBNAIL).unwrap_or_else(|| cx.urls.path("/assets/thumbnail.png"))
}

/// The icon of this many pixels on each side: 32, 180 or 512.
#[must_use]
pub fn icon(cx: &Cx, side: u32) -> String {
    let chosen = file(cx, &cx.settings().icon, &format!("{side}x{side}"));
    chosen.unwrap_or_else(|| cx.urls.path(&format!("/assets/icon-{side}.png")))
}

/// Every icon, with its size.
pub fn icons(cx: &Cx) -> impl Iterator<Item = (String, String)> {
    ICON_SIDES.into_iter().map(|side| (format!("{side}x{side}"), icon(cx, side)))
}

/// The icon of the staff in the sizes for browsers: 32 and 180 pixels; `None` when it chose none.
#[must_use]
pub fn chosen_icons(cx: &Cx) -> Option<(String, String)> {
    let is_chosen = !cx.settings().icon.files.is_empty();
    is_chosen.then(|| (icon(cx, 32), icon(cx, 180)))
}

/// The logo of the staff; `None` when it chose none.
#[must_use]
pub fn logo(cx: &Cx) -> Option<String> {
    cx.settings().logo.files.values().next().map(|key| cx.urls.media(key))
}
