//! The texts that people read: web pages, feeds and mail, from the templates in `http/web/templates`.
//!
//! The templates are part of the binary and parsed once. Names that end in `.html` or `.xml` escape every value; the head
//! of each template says what its context holds. A value called `*_html` must have been sanitised: those alone are not escaped.

use std::sync::LazyLock;

use minijinja::{AutoEscape, Environment, Output, State, Value, context};
use serde::Serialize;

use crate::app::App;
use crate::error::{Error, Result};
use text::escape;

/// Each template by its name.
macro_rules! embed {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("http/web/templates/", $name)))),+]
    };
}

const TEMPLATES: &[(&str, &str)] = embed![
    "_apps.html",
    "_contact.html",
    "_form.html",
    "_icons.html",
    "_logo.html",
    "_media.html",
    "_narrow.html",
    "_pages.html",
    "_paths.html",
    "_rules.html",
    "_status.html",
    "_status_body.html",
    "about.html",
    "atom.xml",
    "base.html",
    "code.html",
    "confirmed.html",
    "consent.html",
    "error.html",
    "form_post.html",
    "front.html",
    "mail/_layout.html",
    "mail/approved.txt",
    "mail/confirm.html",
    "mail/confirm.txt",
    "mail/reset.html",
    "mail/reset.txt",
    "owner_setup.html",
    "password_forgot.html",
    "password_forgot_done.html",
    "password_reset.html",
    "privacy.html",
    "profile.html",
    "rss.xml",
    "settings/_layout.html",
    "settings/applications.html",
    "settings/extensions.html",
    "settings/home.html",
    "sign_in.html",
    "sign_up.html",
    "sign_up_done.html",
    "status.html",
    "tag.html",
];

/// The parsed templates: constant, so that no request parses one.
static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_formatter(write_escaped);
    for (name, source) in TEMPLATES {
        environment.add_template(name, source).expect("a test parses every template");
    }
    environment
});

/// Escapes what stands in markup as everything else of this server does: `/` needs no escaping.
fn write_escaped(out: &mut Output<'_>, state: &State<'_, '_>, value: &Value) -> Result<(), minijinja::Error> {
    match value.as_str() {
        Some(text) if state.auto_escape() == AutoEscape::Html && !value.is_safe() => {
            out.write_str(&escape(text)).map_err(minijinja::Error::from)
        }
        _ => minijinja::escape_formatter(out, state, value),
    }
}

/// The text of the template `name` with `context`, to which the values that all templates share are added:
/// `site_title`, `domain`, `base_url` and `lang`.
///
/// # Errors
/// [`Error::Internal`] for an unknown name or a context that does not fit, which is a bug.
pub fn render(app: &App, name: &str, context: impl Serialize) -> Result<String> {
    let own = Value::from_serialize(context);
    let shared = context! {
        site_title => app.settings().site_title,
        domain => app.urls.local_domain,
        base_url => app.urls.origin,
        lang => "en",
    };
    let template = ENVIRONMENT.get_template(name).map_err(Error::internal)?;
    template
        .render(context! { ..own, ..shared })
        .map_err(|error| Error::internal(format!("template {name}: {error:#}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_parses() {
        for (name, source) in TEMPLATES {
            Environment::new().add_template(name, source).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        }
    }

    #[test]
    fn every_template_file_is_embedded() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/http/web/templates");
        let mut files = 0;
        for part in ["", "mail", "settings"] {
            let entries = std::fs::read_dir(folder.join(part)).expect("a folder");
            files += entries.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.path().is_file())).count();
        }
        assert_eq!(files, TEMPLATES.len());
    }
}
