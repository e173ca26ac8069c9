//! Declarations of pages in a manifest: `[[page]]`, and `html` of a route.
//!
//! Conflicts with other paths are detected when the plugin is loaded, as for routes: `plugins::routes`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Auth, OneOrMany, Route, paths};
use model::Permissions;

/// Longest title, in characters.
const TITLE_MAX: usize = 60;
/// Longest description, in characters.
const DESCRIPTION_MAX: usize = 200;

/// A page of the server's own that a plugin's path may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CorePage {
    /// The sign-up page, with the path's parameters as parameters of the sign-up.
    SignUp,
}

/// `[[page]]`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PageDeclaration {
    /// The name by which the plugin receives the page; unique among its pages and routes.
    pub id: String,
    /// A template, as of a route.
    pub path: String,
    /// Its entry among the pages of plugins, in English or by language; a path with parameters has none.
    pub title: Title,
    /// The purpose of the page, below its entry; in English or by language.
    #[serde(default)]
    pub description: Option<Title>,
    /// Who may open it.
    #[serde(default)]
    pub auth: PageAuth,
    /// The permission of a role that it needs: `invite_users`; none for everybody who is signed in.
    #[serde(default)]
    pub permission: Option<String>,
}

/// Who may open a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageAuth {
    /// People who are signed in.
    #[default]
    User,
    /// Anyone, and the plugin receives no caller. Such a page only shows something: it is for `GET`.
    None,
}

impl PageAuth {
    /// As a manifest writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::None => "none",
        }
    }
}

/// A text in English, or a text for each language, with `en` among them.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a text or a table of texts by language")]
pub enum Title {
    One(String),
    Many(BTreeMap<String, String>),
}

impl Title {
    /// In the language `code`, or in English.
    #[must_use]
    pub fn in_language(&self, code: &str) -> &str {
        match self {
            Self::One(text) => text,
            Self::Many(texts) => texts.get(code).or_else(|| texts.get("en")).map_or("", String::as_str),
        }
    }
}

impl PageDeclaration {
    /// As a route that takes the page's path: conflicts are found among routes.
    #[must_use]
    pub fn as_route(&self) -> Route {
        let methods: &[&str] = match self.auth {
            PageAuth::User => &["GET", "POST"],
            PageAuth::None => &["GET"],
        };
        Route {
            body: None,
            response: None,
            id: self.id.clone(),
            method: OneOrMany::Many(methods.iter().copied().map(str::to_owned).collect()),
            path: self.path.clone(),
            auth: Auth::None,
            scopes: Vec::new(),
            role: None,
            params: BTreeMap::new(),
            nested_under: None,
            status_visible: None,
            account_exists: None,
            unmarks: false,
            page: None,
            native: None,
            html: None,
            headers: Vec::new(),
            cache: false,
            body_limit: None,
            rate: None,
        }
    }
}

/// Checks a page; the error continues a sentence that begins with its name.
pub(super) fn check(page: &PageDeclaration) -> Result<(), String> {
    if page.id.is_empty() {
        return Err("the id is empty".to_owned());
    }
    paths::template(&page.path)?;
    if page.path.starts_with("/api/") {
        return Err(format!("the path {:?} is below /api/, where there are no pages", page.path));
    }
    check_text("title", &page.title, TITLE_MAX)?;
    page.description.iter().try_for_each(|text| check_text("description", text, DESCRIPTION_MAX))?;
    match page.permission.as_deref() {
        Some(_) if page.auth == PageAuth::None => {
            Err("permission: visitors have no role: leave it out, or write auth = \"user\"".to_owned())
        }
        Some(name) if Permissions::named(name).is_none() => {
            Err(format!("permission: no role has the permission {name:?}"))
        }
        Some(_) | None => Ok(()),
    }
}

/// Checks the text `key`, of at most `max` characters in each language.
fn check_text(key: &str, text: &Title, max: usize) -> Result<(), String> {
    let texts: Vec<&String> = match text {
        Title::One(text) => vec![text],
        Title::Many(texts) if !texts.contains_key("en") => {
            return Err(format!("{key} has no \"en\", the fallback for all other languages"));
        }
        Title::Many(texts) => texts.values().collect(),
    };
    match texts.iter().any(|text| text.is_empty() || text.chars().count() > max) {
        true => Err(format!("{key} is not of 1 to {max} characters")),
        false => Ok(()),
    }
}

/// Checks `html` of a route, as [`check`]; `asked` are the parameters of sign-ups that the plugin is asked about.
pub(super) fn check_html(route: &Route, asked: &[String]) -> Result<(), String> {
    match route.html {
        Some(CorePage::SignUp) if route.auth != Auth::None || route.method.all() != ["GET"] => {
            Err("html: the sign-up page has no caller: write method = \"GET\", auth = \"none\"".to_owned())
        }
        Some(CorePage::SignUp) if route.native.is_some() || route.cache => {
            Err("html: neither native nor cache goes with it".to_owned())
        }
        Some(CorePage::SignUp)
            if !paths::parameters(&route.path).any(|name| asked.iter().any(|known| known == name)) =>
        {
            Err("html: no parameter of its path is among params of a hook on \"sign-up\"".to_owned())
        }
        Some(CorePage::SignUp) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(more: &str) -> Result<(), String> {
        check(&toml::from_str(&format!("id = \"a\"\n{more}")).expect("a page"))
    }

    #[test]
    fn page_has_path_role_and_title() {
        assert_eq!(page("path = \"/notes\"\ntitle = \"Notes\"\npermission = \"invite_users\""), Ok(()));
        assert_eq!(page("path = \"/notes/{id}\"\ntitle = { en = \"Note\", de = \"Notiz\" }"), Ok(()));
        for (more, wanted) in [
            ("path = \"notes\"\ntitle = \"Notes\"", "does not begin with a slash"),
            ("path = \"/api/v1/notes\"\ntitle = \"Notes\"", "where there are no pages"),
            ("path = \"/notes\"\ntitle = { de = \"Notizen\" }", "has no \"en\""),
            ("path = \"/notes\"\ntitle = \"\"", "1 to 60 characters"),
            ("path = \"/notes\"\ntitle = \"Notes\"\ndescription = { de = \"Notizen\" }", "description has no \"en\""),
            ("path = \"/notes\"\ntitle = \"Notes\"\npermission = \"write_notes\"", "no role has the permission"),
            (
                "path = \"/notes\"\ntitle = \"Notes\"\nauth = \"none\"\npermission = \"invite_users\"",
                "visitors have no role",
            ),
        ] {
            let error = page(more).expect_err(more);
            assert!(error.contains(wanted), "{more}: {error}");
        }
    }

    #[test]
    fn page_for_anyone_takes_no_forms() {
        let page = |more: &str| {
            let text = format!("id = \"a\"\npath = \"/notes/{{key}}\"\ntitle = \"Note\"\n{more}");
            toml::from_str::<PageDeclaration>(&text).expect("a page")
        };
        assert_eq!((page("").auth, page("").as_route().method.all().len()), (PageAuth::User, 2));
        let open = page("auth = \"none\"");
        assert_eq!((check(&open), open.auth.as_str()), (Ok(()), "none"));
        assert_eq!(open.as_route().method.all(), ["GET"]);
    }

    #[test]
    fn sign_up_page_is_for_anyone() {
        let route = |more: &str| {
            let text = format!("id = \"a\"\nmethod = \"GET\"\npath = \"/join/{{code}}\"\nhtml = \"sign-up\"\n{more}");
            check_html(&toml::from_str(&text).expect("a route"), &["code".to_owned()])
        };
        assert_eq!(route("auth = \"none\""), Ok(()));
        let text = "id = \"a\"\nmethod = \"GET\"\npath = \"/join/{word}\"\nhtml = \"sign-up\"\nauth = \"none\"";
        let unasked = check_html(&toml::from_str(text).expect("a route"), &["code".to_owned()]);
        assert!(unasked.expect_err("no parameter requests it").contains("among params"));
        assert!(route("auth = \"user\"").is_err());
        assert!(route("auth = \"none\"\ncache = true").is_err());
    }
}
