//! Where the files of documents are.

use model::urls::Urls;

/// The location of the files of a document.
#[derive(Clone, Copy, Debug)]
pub enum Files<'a> {
    /// On this server.
    Served(&'a Urls),
    /// Beside the document, under their storage keys.
    Beside,
}

impl Files<'_> {
    /// The address of the file with this storage key.
    pub(super) fn address(self, key: &str) -> String {
        match self {
            Self::Served(urls) => urls.media(key),
            Self::Beside => key.to_owned(),
        }
    }
}
