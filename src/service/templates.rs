//! Templates for pages, feeds and mail, compiled into the binary and rendered with `minijinja`.
//!
//! A set of templates is parsed once ([`Templates::new`]): the templates of mail in `service::email`, the templates
//! of pages in `rookery_http::web`. Every value is escaped in templates named `.html` or `.xml`, except values called
//! `*_html`, which must be sanitised. The head of each template lists its context. The texts of a template are
//! messages of [`messages`](context::messages): `{{ t("table.key", name=value) }}`, in which values are escaped as
//! anywhere else and integers are formatted for the language; `{{ value|number }}` formats such an integer by itself.

use minijinja::value::Kwargs;
use minijinja::{AutoEscape, Environment, ErrorKind, Output, State, Value, context};
use serde::Serialize;

use context::messages::{Language, fill};
use context::{Cx, Error, Result};
use text::escape;

/// Parsed templates by name, once for each language.
#[derive(Clone, Debug)]
pub struct Templates([(Language, Environment<'static>); Language::ALL.len()]);

/// Escapes markup like the rest of the server: `/` is not escaped.
fn write_escaped(out: &mut Output<'_>, state: &State<'_, '_>, value: &Value) -> Result<(), minijinja::Error> {
    match value.as_str() {
        Some(text) if state.auto_escape() == AutoEscape::Html && !value.is_safe() => {
            out.write_str(&escape(text)).map_err(minijinja::Error::from)
        }
        _ => minijinja::escape_formatter(out, state, value),
    }
}

/// An environment whose templates use `language`.
fn environment(language: Language) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_formatter(write_escaped);
    environment.add_global("lang", language.code());
    environment.add_filter("plain", |html: String| text::plain(&html));
    environment.add_filter("number", move |number: i64| language.number(number));
    environment.add_function("t", move |state: &State<'_, '_>, key: &str, arguments: Kwargs| {
        say(state.auto_escape() == AutoEscape::Html, language, key, &arguments)
    });
    environment
}

/// The message `key`; as markup in a template that is `escaped`.
fn say(escaped: bool, language: Language, key: &str, arguments: &Kwargs) -> Result<Value, minijinja::Error> {
    let missing = |what: String| minijinja::Error::new(ErrorKind::InvalidOperation, what);
    let count = arguments.get::<Option<i64>>("count").ok().flatten();
    let pattern = language.pattern(key, count).ok_or_else(|| missing(format!("there is no message {key}")))?;
    let find = |name: &str| {
        let value: Value = arguments.get(name).ok()?;
        let text = i64::try_from(value.clone()).map_or_else(|_| value.to_string(), |number| language.number(number));
        Some(if escaped && !value.is_safe() { escape(&text) } else { text })
    };
    let text = fill(pattern, find).map_err(|name| missing(format!("{key} needs {name}")))?;
    Ok(if escaped { Value::from_safe_string(text) } else { Value::from(text) })
}

impl Templates {
    /// Parses `sources`, pairs of name and text.
    ///
    /// # Panics
    /// When a template does not parse; each set has a test that parses it.
    #[must_use]
    pub fn new(sources: &[(&'static str, &'static str)]) -> Self {
        Self(Language::ALL.map(|language| (language, environment(language)))).with(sources)
    }

    /// Adds templates, which may extend and include the ones already there.
    ///
    /// # Panics
    /// When a template does not parse.
    #[must_use]
    pub fn with(mut self, sources: &[(&'static str, &'static str)]) -> Self {
        for (_, environment) in &mut self.0 {
            for (name, source) in sources {
                environment.add_template(name, source).unwrap_or_else(|error| panic!("{name}: {error:#}"));
            }
        }
        self
    }

    /// Renders the template `name` in `language` with `context`, to which the shared values `site_title`, `domain`,
    /// `base_url` and `lang` are added.
    ///
    /// # Errors
    /// [`Error::Internal`] for an unknown name or a context that does not fit, which is a bug.
    pub fn render(&self, cx: &Cx, language: Language, name: &str, context: impl Serialize) -> Result<String> {
        let own = Value::from_serialize(context);
        let shared = context! {
            site_title => cx.settings().site_title,
            domain => cx.urls.local_domain,
            base_url => cx.urls.origin,
        };
        let environment = self.0.iter().find(|(known, _)| *known == language).map(|(_, environment)| environment);
        let environment = environment.ok_or_else(|| Error::internal("a language without templates"))?;
        let template = environment.get_template(name).map_err(Error::internal)?;
        template
            .render(context! { ..own, ..shared })
            .map_err(|error| Error::internal(format!("template {name}: {error:#}")))
    }
}
