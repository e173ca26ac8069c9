//! The addresses of this server's own things (contract: federation, section 2). Pure; nothing here asks the network.

use crate::model::StatusId;

/// Where this server's things are.
#[derive(Clone, Debug)]
pub struct Urls {
    /// `https://web.example`, without a slash at the end.
    pub origin: String,
    /// The domain in account names.
    pub local_domain: String,
    /// The host that serves HTTP.
    pub web_domain: String,
}

impl Urls {
    /// Any path of this server, which begins with a slash.
    #[must_use]
    pub fn path(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }
    /// A person's page.
    #[must_use]
    pub fn profile(&self, username: &str) -> String {
        format!("{}/@{username}", self.origin)
    }
    /// A person's actor document, also the `uri` of the account.
    #[must_use]
    pub fn actor(&self, username: &str) -> String {
        format!("{}/users/{username}", self.origin)
    }
    /// A status's page.
    #[must_use]
    pub fn status(&self, username: &str, id: StatusId) -> String {
        format!("{}/@{username}/{id}", self.origin)
    }
    /// A status's document, also its `uri`.
    #[must_use]
    pub fn note(&self, username: &str, id: StatusId) -> String {
        format!("{}/users/{username}/statuses/{id}", self.origin)
    }
    /// A hashtag's page.
    #[must_use]
    pub fn tag(&self, name: &str) -> String {
        format!(
            "{}/tags/{}",
            self.origin,
            percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC)
        )
    }
    /// A stored file.
    #[must_use]
    pub fn media(&self, key: &str) -> String {
        format!("{}/media/{key}", self.origin)
    }
    /// The picture of someone who has none.
    #[must_use]
    pub fn default_avatar(&self) -> String {
        self.path("/assets/avatar.png")
    }
    /// The header of someone who has none.
    #[must_use]
    pub fn default_header(&self) -> String {
        self.path("/assets/header.png")
    }
}
