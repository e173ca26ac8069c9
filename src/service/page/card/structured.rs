//! Structured data of a page (JSON-LD), as newspapers and blogs publish it for articles.
//!
//! Reached from [`preview`](super::preview). Reads the schema.org objects that describe a page. Contexts are not
//! expanded, since articles do not need it.
//!
//! Spec: <https://schema.org/Article>

use serde_json::Value;
use text::json_shape;

/// The types that describe a page.
const TYPES: [&str; 8] = [
    "Article",
    "BlogPosting",
    "NewsArticle",
    "ReportageNewsArticle",
    "ScholarlyArticle",
    "SocialMediaPosting",
    "TechArticle",
    "WebPage",
];

/// The structured data of a page, by the properties of schema.org.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Structured {
    pub headline: Option<String>,
    pub description: Option<String>,
    pub date_published: Option<String>,
    pub language: Option<String>,
    pub author_name: Option<String>,
    pub author_url: Option<String>,
    pub publisher_name: Option<String>,
}

impl Structured {
    /// The first object that describes a page in `scripts`; an article takes precedence over a page as such.
    pub(super) fn read(scripts: &[String]) -> Self {
        let simple = scripts.iter().filter(|text| json_shape::check(text.as_bytes()).is_ok());
        let documents: Vec<Value> = simple.filter_map(|text| serde_json::from_str(text.trim()).ok()).collect();
        let objects = || documents.iter().flat_map(objects);
        let found = objects().find(|object| is_typed(object, &TYPES[..TYPES.len() - 1]));
        found.or_else(|| objects().find(|object| is_typed(object, &TYPES))).map_or_else(Self::default, Self::of)
    }

    fn of(object: &Value) -> Self {
        let text = |name: &str| object[name].as_str().map(str::to_owned);
        let (author_name, author_url) = person(&object["author"]);
        Self {
            headline: text("headline").or_else(|| text("alternativeHeadline")).or_else(|| text("name")),
            description: text("description"),
            date_published: text("datePublished"),
            language: text("inLanguage").or_else(|| object["inLanguage"]["alternateName"].as_str().map(str::to_owned)),
            author_name,
            author_url,
            publisher_name: person(&object["publisher"]).0,
        }
    }
}

/// The objects of a document: itself, the items of a list, or the nodes of a graph.
fn objects(document: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match document {
        Value::Array(list) => Box::new(list.iter()),
        Value::Object(members) => {
            let graph = members.get("@graph").and_then(Value::as_array).into_iter().flatten();
            Box::new(std::iter::once(document).chain(graph))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Box::new(std::iter::empty()),
    }
}

fn is_typed(object: &Value, types: &[&str]) -> bool {
    let is = |kind: &Value| kind.as_str().is_some_and(|kind| types.contains(&kind));
    is(&object["@type"]) || object["@type"].as_array().is_some_and(|kinds| kinds.iter().any(is))
}

/// Name and URL of a person or an organisation: an object, the first of a list of objects, or only a name.
fn person(value: &Value) -> (Option<String>, Option<String>) {
    match value {
        Value::Array(list) => list.first().filter(|first| !first.is_array()).map_or((None, None), person),
        Value::Object(_) => {
            let text = |name: &str| value[name].as_str().map(str::to_owned);
            (text("name"), text("url").or_else(|| text("sameAs")))
        }
        Value::String(name) => (Some(name.clone()), None),
        Value::Null | Value::Bool(_) | Value::Number(_) => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(scripts: &[&str]) -> Structured {
        Structured::read(&scripts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn article_of_a_graph_is_found() {
        let found = read(&[
            "no JSON",
            r#"{"@graph": [{"@type": "WebPage", "name": "page"}, {"@type": ["Thing", "NewsArticle"], "headline": "Crows",
               "datePublished": "2026-01-02", "inLanguage": "de", "author": [{"name": "Ann", "url": "https://a.test"}],
               "publisher": {"name": "Times"}, "description": "d"}]}"#,
        ]);
        let some = |text: &str| Some(text.to_owned());
        let expected = Structured {
            headline: some("Crows"),
            description: some("d"),
            date_published: some("2026-01-02"),
            language: some("de"),
            author_name: some("Ann"),
            author_url: some("https://a.test"),
            publisher_name: some("Times"),
        };
        assert_eq!(found, expected);
        assert_eq!(read(&[r#"[{"@type": "WebPage", "name": "page", "author": "Bob"}]"#]).author_name, some("Bob"));
    }

    #[test]
    fn other_structured_data_is_ignored() {
        let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
        for odd in ["", "1", "[]", "{}", "[[1]]", r#"{"@type": 1}"#, r#"{"@type": "Article", "author": [[1]]}"#, &deep]
        {
            assert_eq!(read(&[odd]), Structured::default(), "{odd:.40}");
        }
    }
}
