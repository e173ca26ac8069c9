//! Declarations of pages in a manifest: `[[page]]`, `html` of a route, and `[[client]]`, what a plugin adds to the client in
//! the browser. The server's pages call its routes as the person who is signed in, with the checks and limits of any request;
//! the plugin learns nothing of the pages.
//!
//! Conflicts with other paths are detected when the plugin is loaded, as for routes: `plugins::routes`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::paths::is_word;
use super::{Auth, Manifest, OneOrMany, Route, paths};
use model::Permissions;

/// Longest title, in characters.
const TITLE_MAX: usize = 60;
/// Longest id of an addition, and longest name of its parameters and members.
const NAME_MAX: usize = 31;
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

/// `[[client]]`
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ClientPart {
    /// Its name in addresses; unique in the plugin.
    pub id: String,
    /// The kind of the addition.
    pub kind: ClientKind,
    /// Its title for people, in English or by language.
    pub title: Title,
    /// The route (GET) that lists the things of the person: objects with `id` and `title`. `emojis`: the emojis, objects with
    /// `name`, and for custom ones `url`.
    #[serde(default)]
    pub list: Option<String>,
    /// `timelines`: the route (GET) with the statuses of a thing, whose id is its parameter.
    #[serde(default)]
    pub timeline: Option<String>,
    /// `folders`: the route that puts a status into a thing, whose id is its parameter. `reactions`: the route that reacts to
    /// a status, whose id is its parameter.
    #[serde(default)]
    pub add: Option<String>,
    /// As `add`, and takes it back.
    #[serde(default)]
    pub remove: Option<String>,
    /// `folders`: the parameter of `add` and `remove` with the ids of statuses. `reactions`: the parameter with the emoji.
    /// `choice`: the parameter of a new status with the id of the thing.
    #[serde(default)]
    pub field: Option<String>,
    /// `reactions`: the member of a status that the plugin adds, with the reactions: objects with `name`, `count`, `me`, and
    /// for custom emojis `url`.
    #[serde(default)]
    pub member: Option<String>,
    /// `choice`: the visibility with which it is sent; always without one.
    #[serde(default)]
    pub visibility: Option<String>,
}

/// The kind of an addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClientKind {
    /// Timelines in the navigation: `list`, `timeline`.
    Timelines,
    /// Things that statuses are put into: `list`, `add`, `remove`, `field`.
    Folders,
    /// Reactions to statuses: `member`, `add`, `remove`, `field`.
    Reactions,
    /// Emojis that are offered first, before those of the server: `list`.
    Emojis,
    /// A choice in the form for new statuses: `list`, `field`; `visibility` if it belongs to one.
    Choice,
}

impl ClientPart {
    /// The keys that name routes, with those routes.
    fn routes(&self) -> [(&'static str, Option<&String>); 4] {
        [
            ("list", self.list.as_ref()),
            ("timeline", self.timeline.as_ref()),
            ("add", self.add.as_ref()),
            ("remove", self.remove.as_ref()),
        ]
    }

    /// The required and the optional keys of its kind.
    fn keys(&self) -> (&'static [&'static str], &'static [&'static str]) {
        match self.kind {
            ClientKind::Timelines => (&["list", "timeline"], &[]),
            ClientKind::Folders => (&["list", "add", "remove", "field"], &[]),
            ClientKind::Reactions => (&["add", "remove", "field", "member"], &[]),
            ClientKind::Emojis => (&["list"], &[]),
            ClientKind::Choice => (&["list", "field"], &["visibility"]),
        }
    }

    fn check(&self, manifest: &Manifest) -> Result<(), String> {
        name("id", &self.id)?;
        check_text("title", &self.title, TITLE_MAX)?;
        let words = [("field", &self.field), ("member", &self.member), ("visibility", &self.visibility)];
        let words = words.map(|(key, word)| (key, word.as_ref()));
        let (needed, possible) = self.keys();
        for (key, value) in self.routes().into_iter().chain(words) {
            match value {
                None if needed.contains(&key) => return Err(format!("{key} is missing")),
                Some(_) if !needed.contains(&key) && !possible.contains(&key) => {
                    return Err(format!("{key} is nothing for this kind: leave it out"));
                }
                Some(_) | None => {}
            }
        }
        for (key, word) in words {
            word.map_or(Ok(()), |word| name(key, word))?;
        }
        for (key, id) in self.routes().into_iter().filter_map(|(key, id)| Some((key, id?))) {
            let route = manifest.routes.iter().find(|route| route.id == *id);
            route_fits(key, id, route)?;
        }
        match &self.member {
            Some(member) if !adds(manifest, member) => {
                Err(format!("member: no hook \"decorate\" adds {member:?} to statuses"))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// True when a hook adds the member to statuses.
fn adds(manifest: &Manifest, member: &str) -> bool {
    let of_statuses = manifest.hooks.iter().filter(|hook| hook.kinds.iter().any(|kind| kind == "status"));
    of_statuses.flat_map(|hook| &hook.fields).any(|field| field == member)
}

fn route_fits(key: &str, id: &str, route: Option<&Route>) -> Result<(), String> {
    let Some(route) = route else { return Err(format!("{key}: there is no route with the id {id:?}")) };
    let reads = route.method.all().iter().any(|method| method == "GET");
    if reads != matches!(key, "list" | "timeline") {
        return Err(format!("{key}: the route {id:?} has the wrong method"));
    }
    if route.auth == Auth::None {
        return Err(format!("{key}: the route {id:?} ignores who calls it"));
    }
    let parameters = route.path.matches('{').count();
    if parameters != usize::from(key != "list") {
        return Err(format!("{key}: the path of the route {id:?} has {parameters} parameters"));
    }
    Ok(())
}

/// Checks all additions to the client; the error is a whole clause.
pub(super) fn check_client(manifest: &Manifest) -> Result<(), String> {
    let mut ids = BTreeSet::new();
    for part in &manifest.client {
        part.check(manifest).map_err(|problem| format!("client {:?}: {problem}", part.id))?;
        if !ids.insert(&part.id) {
            return Err(format!("there are two client with the id {:?}", part.id));
        }
    }
    Ok(())
}

fn name(key: &str, text: &str) -> Result<(), String> {
    if is_word(text) && text.len() <= NAME_MAX {
        return Ok(());
    }
    Err(format!("{key}: {text:?} is not of 1 to {NAME_MAX} small letters, digits and _, a letter first"))
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

    const ABOUT: &str = "[plugin]\nname = \"shelves\"\nversion = \"1.0.0\"\napi = \"0.1\"\ntitle = \"T\"\nlicense = \"MIT\"\nwasm = \"x.wasm\"\n";
    const ROUTES: &str = "[[route]]\nid = \"index\"\nmethod = \"GET\"\npath = \"/api/v1/shelves\"\nauth = \"user\"\nscopes = [\"read\"]\n\
        [[route]]\nid = \"put\"\nmethod = \"POST\"\npath = \"/api/v1/shelves/{id}/statuses\"\nauth = \"user\"\nscopes = [\"write\"]\n\
        [[route]]\nid = \"take\"\nmethod = \"DELETE\"\npath = \"/api/v1/shelves/{id}/statuses\"\nauth = \"user\"\nscopes = [\"write\"]\n\
        [[route]]\nid = \"shown\"\nmethod = \"GET\"\npath = \"/api/v1/shelves/{id}/statuses\"\nauth = \"user\"\nscopes = [\"read\"]\n";
    const FOLDERS: &str = "[[client]]\nid = \"shelves\"\nkind = \"folders\"\ntitle = \"Shelves\"\nlist = \"index\"\nadd = \"put\"\nremove = \"take\"\nfield = \"status_ids\"\n";

    fn parsed_client(rest: &str) -> Result<(), String> {
        crate::manifest::parse(&format!("{ABOUT}{ROUTES}{rest}")).map(drop).map_err(|fault| fault.message)
    }

    #[test]
    fn additions_name_routes_that_fit() {
        let timelines = "[[client]]\nid = \"shown\"\nkind = \"timelines\"\ntitle = { en = \"Shelves\" }\nlist = \"index\"\ntimeline = \"shown\"\n";
        let reactions = "[[client]]\nid = \"r\"\nkind = \"reactions\"\ntitle = \"R\"\nadd = \"put\"\nremove = \"take\"\nfield = \"e\"\nmember = \"m\"\n";
        assert_eq!(parsed_client(&format!("{FOLDERS}{timelines}")), Ok(()));
        for (rest, why) in [
            (format!("{FOLDERS}{FOLDERS}"), "two client with the id"),
            (FOLDERS.replace("\"folders\"", "\"shelf\""), "shelf"),
            (FOLDERS.replace("list = \"index\"\n", ""), "list is missing"),
            (FOLDERS.replace("\"index\"", "\"none\""), "no route with the id"),
            (FOLDERS.replace("add = \"put\"", "add = \"shown\""), "wrong method"),
            (FOLDERS.replace("list = \"index\"", "list = \"shown\""), "1 parameters"),
            (FOLDERS.replace("\"Shelves\"", "\"\""), "1 to 60 characters"),
            (FOLDERS.replace("status_ids", "Status Ids"), "small letters"),
            (format!("{FOLDERS}member = \"m\"\n"), "nothing for this kind"),
            (reactions.to_owned(), "no hook \"decorate\""),
        ] {
            let error = parsed_client(&rest).expect_err(&rest);
            assert!(error.contains(why), "{rest}: {error}");
        }
    }
}
