//! Templates for pages, feeds and mail, compiled into the binary and rendered with `minijinja`.
//!
//! A set of templates is parsed once ([`Templates::new`]): those of mail in `service::email`, those of pages in
//! `http::web`. Every value is escaped in templates named `.html` or `.xml`, except values called `*_html`, which must
//! have been sanitised. The head of each template lists its context.

use minijinja::{AutoEscape, Environment, Output, State, Value, context};
use serde::Serialize;

use crate::{Cx, Error, Result};
use text::escape;

/// Parsed templates by name.
#[derive(Clone, Debug)]
pub struct Templates(Environment<'static>);

/// Escapes markup as the rest of the server does: `/` is left as it is.
fn write_escaped(out: &mut Output<'_>, state: &State<'_, '_>, value: &Value) -> Result<(), minijinja::Error> {
    match value.as_str() {
        Some(text) if state.auto_escape() == AutoEscape::Html && !value.is_safe() => {
            out.write_str(&escape(text)).map_err(minijinja::Error::from)
        }
        _ => minijinja::escape_formatter(out, state, value),
    }
}

impl Templates {
    /// Parses `sources`, pairs of name and text.
    ///
    /// # Panics
    /// When a template does not parse; each set has a test that parses it.
    #[must_use]
    pub fn new(sources: &[(&'static str, &'static str)]) -> Self {
        let mut environment = Environment::new();
        environment.set_formatter(write_escaped);
        Self(environment).with(sources)
    }

    /// Adds templates, which may extend and include the ones already there.
    ///
    /// # Panics
    /// When a template does not parse.
    #[must_use]
    pub fn with(mut self, sources: &[(&'static str, &'static str)]) -> Self {
        for (name, source) in sources {
            self.0.add_template(name, source).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        }
        self
    }

    /// Renders the template `name` with `context`, to which the shared values `site_title`, `domain`, `base_url` and
    /// `lang` are added.
    ///
    /// # Errors
    /// [`Error::Internal`] for an unknown name or a context that does not fit, which is a bug.
    pub fn render(&self, cx: &Cx, name: &str, context: impl Serialize) -> Result<String> {
        let own = Value::from_serialize(context);
        let shared = context! {
            site_title => cx.settings().site_title,
            domain => cx.urls.local_domain,
            base_url => cx.urls.origin,
            lang => "en",
        };
        let template = self.0.get_template(name).map_err(Error::internal)?;
        template
            .render(context! { ..own, ..shared })
            .map_err(|error| Error::internal(format!("template {name}: {error:#}")))
    }
}
