//! Which paths a plugin may claim: none of the core's, none of another plugin's, and none below a protected prefix.

use std::sync::LazyLock;

use rookery_plugin_host::{LoadError, Stage};

use super::template::Template;
use plugin_package::manifest::Route;
use rookery_http::router;

/// Prefixes reserved for the server, whether there is a route below them or not.
const PROTECTED: &[&str] = &[
    "/",
    "/@{name}",
    "/about",
    "/account",
    "/activate",
    "/actor",
    "/admin",
    "/ap",
    "/api/admin",
    "/api/{version}/admin",
    "/api/oembed",
    "/assets",
    "/auth",
    "/authorize_follow",
    "/authorize_interaction",
    "/confirm",
    "/custom_emojis",
    "/emoji",
    "/explore",
    "/filters",
    "/health",
    "/healthz",
    "/home",
    "/inbox",
    "/intent",
    "/interact",
    "/livez",
    "/login",
    "/logout",
    "/manifest",
    "/media",
    "/media_proxy",
    "/metrics",
    "/nodeinfo",
    "/notifications",
    "/oauth",
    "/objects",
    "/outbox",
    "/packs",
    "/password",
    "/privacy-policy",
    "/proxy",
    "/public",
    "/readyz",
    "/register",
    "/relay",
    "/reset",
    "/session",
    "/sessions",
    "/settings",
    "/share",
    "/shared_inbox",
    "/sign_in",
    "/sign_out",
    "/sign_up",
    "/signin",
    "/signout",
    "/signup",
    "/statuses",
    "/system",
    "/tags",
    "/terms",
    "/terms-of-service",
    "/unsubscribe",
    "/users",
    "/verify",
    "/web",
    "/.well-known",
];

static CORE: LazyLock<Vec<(&'static str, Template)>> = LazyLock::new(|| read(router::templates()));
static CLOSED: LazyLock<Vec<(&'static str, Template)>> = LazyLock::new(|| read(PROTECTED));

fn read(paths: &[&'static str]) -> Vec<(&'static str, Template)> {
    paths.iter().filter_map(|path| Some((*path, Template::parse(path)?))).collect()
}

/// The template of a route of `plugin`, if it does not conflict with the core.
///
/// # Errors
/// One sentence that names the plugin, the route, the conflict and the remedy.
pub(super) fn check(plugin: &str, route: &Route) -> Result<Template, LoadError> {
    let path = route.path.as_str();
    let template = Template::parse(path)
        .filter(|_| {
            !path.contains(['%', '?', '#', '*']) && !path.contains("//") && (path == "/" || !path.ends_with('/'))
        })
        .ok_or_else(|| {
            refuse(plugin, path, "is no path: write fixed segments and whole parameters, as /api/v1/notes/{id}")
        })?;
    if let Some((core, _)) = CORE.iter().find(|(_, core)| core.overlaps(&template)) {
        return Err(refuse(plugin, path, &format!("is the core's {core}: choose another path")));
    }
    if let Some((closed, _)) =
        CLOSED.iter().find(|(_, closed)| closed.overlaps(&template) || template.continues(closed))
    {
        return Err(refuse(
            plugin,
            path,
            &format!("is below {closed}, which no plugin may answer: choose another path"),
        ));
    }
    if is_file_at_root(path) {
        return Err(refuse(plugin, path, "is a file at the root, which browsers and crawlers ask every server for"));
    }
    check_nesting(plugin, route, &template)?;
    Ok(template)
}

/// True for files at the root, such as `/robots.txt`, `/favicon.ico` and `/sw.js`.
fn is_file_at_root(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    !first.starts_with('{') && first.contains('.')
}

/// A route nested under a core resource must declare `nested-under`.
fn check_nesting(plugin: &str, route: &Route, template: &Template) -> Result<(), LoadError> {
    let above = CORE.iter().filter(|(_, core)| template.continues(core)).max_by_key(|(_, core)| core.len());
    match (&route.nested_under, above.and_then(|(path, core)| Some((path, core.resource()?)))) {
        (None, None) => Ok(()),
        (None, Some((core, resource))) => Err(refuse(
            plugin,
            &route.path,
            &format!("goes on from the core's {core}: write nested-under = \"{resource}\""),
        )),
        (Some(named), above) => {
            let right = above.is_some_and(|(_, resource)| resource == named)
                || above.is_none() && CORE.iter().any(|(_, core)| template.shares(core, named));
            if right {
                return Ok(());
            }
            let fix = match above {
                Some((_, resource)) => format!("is nested under \"{resource}\" and not \"{named}\": write that"),
                None => format!("is not nested under \"{named}\": leave nested-under out"),
            };
            Err(refuse(plugin, &route.path, &fix))
        }
    }
}

/// The fault of a route that is refused.
pub(super) fn refuse(plugin: &str, path: &str, why: &str) -> LoadError {
    LoadError::new(Stage::Conflict, format!("Plugin {plugin}: the route {path} {why}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(text: &str) -> Option<String> {
        let route: Route =
            toml::from_str(&format!("id = \"x\"\nmethod = \"GET\"\nauth = \"none\"\n{text}")).expect("a route");
        check("notes", &route).err().map(|fault| fault.message)
    }

    #[test]
    fn core_route_is_refused_by_name() {
        let why = sentence("path = \"/api/v1/statuses/{status}\"").expect("refused");
        assert_eq!(
            why,
            "Plugin notes: the route /api/v1/statuses/{status} is the core's /api/v1/statuses/{id}: choose another path."
        );
        for path in ["/api/v1/accounts/{x}", "/api/v1/timelines/home", "/{x}", "/about", "/media/{x}", "/media/a/b"] {
            assert!(sentence(&format!("path = \"{path}\"")).is_some(), "{path}");
        }
    }

    #[test]
    fn server_paths_are_closed_with_all_below() {
        for path in [
            "/oauth/more",
            "/auth/x",
            "/api/admin/plugins",
            "/api/v1/admin/x",
            "/api/v9/admin",
            "/.well-known/x",
            "/inbox",
            "/users/a/b/c",
            "/users/{x}/inbox",
            "/tags/x/y",
            "/about/x",
            "/@{x}/y/z",
            "/settings/x",
            "/metrics",
            "/nodeinfo/3",
        ] {
            assert!(sentence(&format!("path = \"{path}\"")).is_some(), "{path}");
        }
    }

    #[test]
    fn well_known_client_paths_are_closed() {
        for path in [
            "/robots.txt",
            "/favicon.ico",
            "/sw.js",
            "/manifest.json",
            "/apple-touch-icon.png",
            "/security.txt",
            "/.git/config",
            "/login",
            "/login/{x}",
            "/sign_in",
            "/logout",
            "/share",
        ] {
            assert!(sentence(&format!("path = \"{path}\"")).is_some(), "{path}");
        }
        for path in ["/invite/{code}", "/invites", "/decks/{name}"] {
            assert_eq!(sentence(&format!("path = \"{path}\"")), None, "{path}");
        }
    }

    #[test]
    fn nesting_has_to_be_meant() {
        let bare = sentence("path = \"/api/v1/statuses/{status}/react/{emoji}\"").expect("refused");
        assert!(
            bare.ends_with("goes on from the core's /api/v1/statuses/{id}: write nested-under = \"statuses\"."),
            "{bare}"
        );
        assert_eq!(sentence("path = \"/api/v1/statuses/{status}/react/{emoji}\"\nnested-under = \"statuses\""), None);
        assert!(sentence("path = \"/api/v1/statuses/{status}/react\"\nnested-under = \"accounts\"").is_some());
        assert!(sentence("path = \"/api/v1/notes\"\nnested-under = \"statuses\"").is_some());
        assert_eq!(sentence("path = \"/api/v1/timelines/antenna/{id}\""), None);
        assert_eq!(sentence("path = \"/api/v1/timelines/antenna/{id}\"\nnested-under = \"timelines\""), None);
        assert_eq!(sentence("path = \"/api/v1/antennas/{id}\""), None);
        assert_eq!(sentence("path = \"/invite/{code}\""), None);
    }

    #[test]
    fn malformed_path_is_named() {
        for path in ["api/v1/x", "/api/v1/x/", "/api//x", "/api/%41", "/x?y", "/x/{*rest}", "/x/{a}{b}"] {
            assert!(sentence(&format!("path = \"{path}\"")).expect(path).contains("is no path"), "{path}");
        }
    }
}
