//! Descriptions of scopes for the consent page: scopes of the server in the language of the page, scopes of an
//! extension in its own words.

use serde::Serialize;

use crate::Cx;
use context::Language;
use model::Scopes;

/// A scope with its description.
#[derive(Debug, Serialize)]
pub(super) struct ScopeDescription {
    scope: String,
    text: String,
}

/// Describes each of `scopes`, in the language of the page. One of an extension that is off has no words but its name.
pub(super) fn describe(cx: &Cx, scopes: &Scopes) -> Vec<ScopeDescription> {
    let declared = cx.extensions().scopes();
    let of_extension = |scope: &str| {
        let known = declared.iter().find(|known| known.name == scope);
        known.map_or_else(|| scope.to_owned(), |known| known.description.clone())
    };
    let described = |scope: &str| ScopeDescription {
        scope: scope.to_owned(),
        text: if model::scope::ALL.contains(&scope) { text(cx.language(), scope) } else { of_extension(scope) },
    };
    scopes.iter().map(described).collect()
}

fn text(language: Language, scope: &str) -> String {
    language.say(&format!("scopes.{}", scope.replace(':', "_")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scope_has_words() {
        for scope in model::scope::ALL {
            assert!(!text(Language::English, scope).starts_with("scopes."), "{scope}");
        }
    }
}
