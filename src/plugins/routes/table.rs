//! The routing table of all active plugins: built completely or not at all.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use axum::http::Method;
use rookery_plugin_host::LoadError;

use super::template::{Path, Template};
use super::{claim, native_check};
use crate::Active;
use context::limits::Limit;
use plugin_package::manifest::{self, PageDeclaration, ParamKind, Route};

/// The methods that a route may have.
const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// Default limit of a request body.
const BODY_LIMIT_BYTES: usize = 64 << 10;

/// The routing table.
#[derive(Debug, Default)]
pub struct Table {
    /// By number of segments, most specific first.
    mounted: HashMap<usize, Vec<Arc<Mounted>>>,
    pages: Vec<Arc<MountedPage>>,
}

/// One page of one plugin.
#[derive(Debug)]
pub(crate) struct MountedPage {
    pub(crate) plugin: Arc<Active>,
    /// Its path template, as in the manifest.
    pub(super) path: Arc<str>,
    template: Template,
    at: usize,
}

impl MountedPage {
    /// Its declaration in the manifest.
    pub(crate) fn page(&self) -> &PageDeclaration {
        &self.plugin.manifest.pages[self.at]
    }

    /// True when its path has no parameters, so that it can be listed.
    pub(crate) fn is_fixed(&self) -> bool {
        self.template.names().next().is_none()
    }
}

/// One route of one plugin.
#[derive(Debug)]
pub(super) struct Mounted {
    pub(super) plugin: Arc<Active>,
    /// Its path template, as in the manifest.
    pub(super) path: Arc<str>,
    /// The parsed rules of the manifest.
    pub(super) rules: Rules,
    at: usize,
}

impl Mounted {
    /// Its declaration in the manifest.
    pub(super) fn route(&self) -> &Route {
        &self.plugin.manifest.routes[self.at]
    }
}

/// A route's declaration, parsed.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) template: Template,
    pub(super) methods: Vec<Method>,
    pub(super) body_limit: usize,
    pub(super) rate: Option<Limit>,
}

/// The route that matches a request, and its parameters in the order of the template.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) mounted: Arc<Mounted>,
    pub(super) params: Vec<(String, String)>,
}

/// The page at a path, and its parameters in the order of the template.
#[derive(Debug)]
pub(super) struct FoundPage {
    pub(super) mounted: Arc<MountedPage>,
    pub(super) params: Vec<(String, String)>,
}

impl Table {
    /// The table of the routes of `plugins`.
    ///
    /// # Errors
    /// One sentence when a route conflicts with the core or another plugin, or is invalid.
    pub fn build(plugins: &[Arc<Active>]) -> Result<Self, LoadError> {
        let mut claims = Claims::default();
        let mut table = Self::default();
        for plugin in plugins {
            for (at, route) in plugin.manifest.routes.iter().enumerate() {
                let rules = claims.add(plugin.name(), route)?;
                native_check::check(plugin, route).map_err(|why| claim::refuse(plugin.name(), &route.path, &why))?;
                let path = route.path.as_str().into();
                let row = table.mounted.entry(rules.template.len()).or_default();
                row.push(Arc::new(Mounted { plugin: Arc::clone(plugin), path, rules, at }));
            }
            for (at, page) in plugin.manifest.pages.iter().enumerate() {
                let template = claims.add(plugin.name(), &page.as_route())?.template;
                let path = page.path.as_str().into();
                table.pages.push(Arc::new(MountedPage { plugin: Arc::clone(plugin), path, template, at }));
            }
        }
        for row in table.mounted.values_mut() {
            row.sort_by_key(|mounted| mounted.rules.template.closeness());
        }
        table.pages.sort_by_key(|page| page.template.closeness());
        Ok(table)
    }

    /// Every page, in the order of the plugins' names.
    pub(crate) fn pages(&self) -> impl Iterator<Item = &Arc<MountedPage>> {
        self.pages.iter()
    }

    /// The page at `path`, and its parameters in the order of the template.
    pub(super) fn find_page(&self, path: &str) -> Option<FoundPage> {
        let path = Path::parse(path)?;
        self.pages.iter().find_map(|page| {
            let values = page.template.matches(&path)?;
            let names = page.template.names().map(str::to_owned);
            Some(FoundPage { mounted: Arc::clone(page), params: names.zip(values).collect() })
        })
    }

    /// Every route with its methods and the plugin whose it is.
    pub(super) fn declared(&self) -> impl Iterator<Item = (&Active, &Route, &[Method])> {
        let all = self.mounted.values().flatten();
        all.map(|mounted| (&*mounted.plugin, mounted.route(), mounted.rules.methods.as_slice()))
    }

    /// The route for a request. `HEAD` matches the route of `GET`.
    pub(super) fn find(&self, method: &Method, path: &str) -> Option<Found> {
        let path = Path::parse(path)?;
        let method = if method == Method::HEAD { &Method::GET } else { method };
        self.mounted.get(&path.len())?.iter().find_map(|mounted| {
            let values = mounted.rules.template.matches(&path)?;
            let names = mounted.rules.template.names().map(str::to_owned);
            let known = mounted.rules.methods.contains(method);
            known.then(|| Found { mounted: Arc::clone(mounted), params: names.zip(values).collect() })
        })
    }
}

/// The routes so far, for finding conflicts.
#[derive(Debug, Default)]
struct Claims(Vec<(String, Template, String, Vec<Method>)>);

impl Claims {
    fn add(&mut self, plugin: &str, route: &Route) -> Result<Rules, LoadError> {
        let template = claim::check(plugin, route)?;
        let rules = Rules::read(plugin, route, template)?;
        for (owner, template, path, methods) in &self.0 {
            if owner != plugin && template.overlaps(&rules.template) {
                let why = format!("is taken by plugin {owner} ({path}): disable one of the two");
                return Err(claim::refuse(plugin, &route.path, &why));
            }
            let twice = methods.iter().find(|method| rules.methods.contains(method));
            if owner == plugin
                && let Some(method) = twice
                && template.closeness() == rules.template.closeness()
                && template.overlaps(&rules.template)
            {
                return Err(claim::refuse(plugin, &route.path, &format!("is declared twice for {method}: keep one")));
            }
        }
        self.0.push((plugin.to_owned(), rules.template.clone(), route.path.clone(), rules.methods.clone()));
        Ok(rules)
    }
}

impl Rules {
    fn read(plugin: &str, route: &Route, template: Template) -> Result<Self, LoadError> {
        let refuse = |why: &str| claim::refuse(plugin, &route.path, why);
        let mut methods = Vec::new();
        for name in route.method.all() {
            let method = METHODS.iter().find(|method| method.as_str() == name);
            methods.push(
                method.cloned().ok_or_else(|| {
                    refuse(&format!("has the method {name:?}: write GET, POST, PUT, PATCH or DELETE"))
                })?,
            );
        }
        let named = route.params.keys().chain(&route.status_visible).chain(&route.account_exists);
        for name in named {
            if !template.names().any(|param| param == name) {
                return Err(refuse(&format!("has no parameter {name}: write {{{name}}} into the path")));
            }
        }
        let body_limit = match route.body_limit.as_deref() {
            None => BODY_LIMIT_BYTES,
            Some(text) => manifest::size(text)
                .and_then(|bytes| usize::try_from(bytes).ok())
                .ok_or_else(|| refuse(&format!("has the body-limit {text:?}: write it as \"64KiB\"")))?,
        };
        let rate = match route.rate.as_deref() {
            None => None,
            Some(text) => Some(rate(plugin, route, text).ok_or_else(|| {
                refuse(&format!("has the rate {text:?}: write it as \"300/5m\", or \"300/5m name\" to share it"))
            })?),
        };
        Ok(Self { template, methods, body_limit, rate })
    }
}

/// `300/5m`: a limit of this route alone. `300/5m reactions`: shared by all routes of the plugin that use this word.
fn rate(plugin: &str, route: &Route, text: &str) -> Option<Limit> {
    let (_, family) = text.split_once(' ').unwrap_or((text, &route.id));
    let (max, window) = manifest::rate(text)?;
    let window_seconds = i64::try_from(window.as_secs()).ok().filter(|seconds| *seconds > 0)?;
    Some(Limit { name: Cow::Owned(format!("plugin {plugin} {family}")), max, window_seconds })
}

/// The type of a parameter of `route`. A parameter for `status-visible` or `account-exists` is an id.
pub(super) fn kind(route: &Route, name: &str) -> ParamKind {
    let names = [&route.status_visible, &route.account_exists];
    if names.into_iter().flatten().any(|param| param == name) {
        return ParamKind::Id;
    }
    route.params.get(name).copied().unwrap_or(ParamKind::Segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(text: &str) -> Route {
        toml::from_str(&format!("id = \"x\"\nauth = \"none\"\n{text}")).expect("a route")
    }

    fn refused(routes: &[(&str, &str)]) -> String {
        let mut claims = Claims::default();
        let (last, first) = routes.split_last().expect("routes");
        for (plugin, text) in first {
            claims.add(plugin, &route(text)).expect("taken");
        }
        claims.add(last.0, &route(last.1)).expect_err("refused").message
    }

    #[test]
    fn second_claim_is_refused_and_both_are_named() {
        let path = |path: &str| format!("method = \"GET\"\npath = \"{path}\"");
        let why = refused(&[("circles", &path("/api/v1/circles/{id}")), ("rings", &path("/api/v1/circles/{ring}"))]);
        assert_eq!(
            why,
            "Plugin rings: the route /api/v1/circles/{ring} is taken by plugin circles (/api/v1/circles/{id}): disable one of the two."
        );
        let other_method = "method = \"POST\"\npath = \"/api/v1/circles/all\"";
        assert!(refused(&[("circles", &path("/api/v1/circles/{id}")), ("rings", other_method)]).contains("circles"));
    }

    #[test]
    fn plugin_may_claim_methods_and_closer_paths_once() {
        let mut claims = Claims::default();
        for text in [
            "method = [\"PUT\", \"PATCH\"]\npath = \"/api/v1/circles/{id}\"",
            "method = \"GET\"\npath = \"/api/v1/circles/{id}\"",
            "method = \"GET\"\npath = \"/api/v1/circles/all\"",
        ] {
            claims.add("circles", &route(text)).expect(text);
        }
        let twice = claims.add("circles", &route("method = \"PATCH\"\npath = \"/api/v1/circles/{it}\""));
        assert!(twice.expect_err("twice").message.contains("declared twice for PATCH"));
    }

    #[test]
    fn malformed_route_says_how_to_write_it() {
        let path = "path = \"/api/v1/circles/{id}\"";
        for (text, fix) in [
            ("method = \"FETCH\"", "write GET, POST"),
            ("method = \"GET\"\nparams = { of = \"id\" }", "write {of} into the path"),
            ("method = \"GET\"\nbody-limit = \"big\"", "write it as \"64KiB\""),
            ("method = \"GET\"\nrate = \"often\"", "write it as \"300/5m\""),
            ("method = \"GET\"\nrate = \"0/5m\"", "write it as \"300/5m\""),
        ] {
            let why = refused(&[("circles", &format!("{path}\n{text}"))]);
            assert!(why.contains(fix), "{why}");
        }
    }

    #[test]
    fn limit_may_be_shared_by_name() {
        let own = rate("p", &route("method = \"GET\"\npath = \"/a\""), "300/5m").expect("a rate");
        assert_eq!((own.name.as_ref(), own.max, own.window_seconds), ("plugin p x", 300, 300));
        let shared = rate("p", &route("method = \"GET\"\npath = \"/a\""), "300/3h reactions").expect("a rate");
        assert_eq!((shared.name.as_ref(), shared.window_seconds), ("plugin p reactions", 10_800));
    }
}
