//! The OpenAPI document, and every response of the suite validated against it: [`hold`].

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{Method, header};
use jsonschema::{Draft, Registry, Resource, Validator};
use serde_json::{Value, json};

use crate::harness::{Answer, TestApp};

/// Base URL of the document, for references into it.
const DOCUMENT: &str = "https://api.test/openapi.json";

/// Documented responses of an operation.
struct Documented {
    method: Method,
    parts: Vec<String>,
    success: Value,
    failure: Value,
}

/// The document of servers whose extensions declare the same routes, entities and notification types.
struct Document {
    registry: Registry<'static>,
    operations: Vec<Documented>,
    /// The payload schemas of stream events by name.
    events: HashMap<String, Value>,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

/// Fails the test if `answer` does not match the documented responses of `method` on `path`. Undocumented responses
/// may be anything: pages, files, routes of plugins without declared responses.
pub fn hold(app: &TestApp, method: &Method, path: &str, answer: &Answer) {
    if !answer.header(header::CONTENT_TYPE.as_str()).starts_with("application/json") {
        return;
    }
    let document = Document::of(app);
    let Some(operation) = document.find(method, path) else { return };
    let schema = if answer.status.is_success() { &operation.success } else { &operation.failure };
    if !schema.is_object() || answer.body.is_empty() {
        return;
    }
    let json = answer.json();
    let faults: Vec<String> = document.validator(schema).iter_errors(&json).map(|error| error.to_string()).collect();
    assert!(faults.is_empty(), "{method} {path} answers {}, which is not as documented: {faults:#?}", answer.status);
}

/// Fails the test if the payload of `event` does not match the document. Undocumented events of plugins may have any
/// payload.
pub fn hold_event(app: &TestApp, event: &str, payload: &str) {
    let document = Document::of(app);
    let Some(schema) = document.events.get(event) else { return };
    let carried = if schema["type"] == "string" {
        Value::from(payload)
    } else {
        serde_json::from_str(payload).unwrap_or_else(|error| panic!("{event} carries no JSON ({error}): {payload}"))
    };
    let faults: Vec<String> = document.validator(schema).iter_errors(&carried).map(|error| error.to_string()).collect();
    assert!(faults.is_empty(), "{event} carries {payload}, which is not as documented: {faults:#?}");
}

impl Document {
    fn of(app: &TestApp) -> Arc<Self> {
        type Known = HashMap<(usize, u64), Arc<Document>>;
        static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
        static DOCUMENTS: Mutex<BTreeMap<String, Arc<Document>>> = Mutex::new(BTreeMap::new());
        let extensions = app.app.extensions();
        let key = (app.number, extensions.generation());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_or_insert_default();
        if let Some(document) = known.get(&key) {
            return Arc::clone(document);
        }
        let declared = json!([
            extensions.notification_types(),
            extensions.openapi_paths(),
            extensions.openapi_entities(),
            app.app.config.plugins.enabled,
        ]);
        let mut documents = DOCUMENTS.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || Arc::new(Self::read(rookery_http::router::openapi::document(&app.app)));
        let document = Arc::clone(documents.entry(declared.to_string()).or_insert_with(read));
        known.insert(key, Arc::clone(&document));
        document
    }

    fn read(document: Value) -> Self {
        let (mut operations, mut events) = (Vec::new(), HashMap::new());
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let schema = |status: &str| {
                    let mut schema = operation["responses"][status]["content"]["application/json"]["schema"].clone();
                    refer(&mut schema);
                    schema
                };
                for (event, schema) in operation["x-events"].as_object().into_iter().flatten() {
                    let mut schema = schema.clone();
                    refer(&mut schema);
                    events.insert(event.clone(), schema);
                }
                operations.push(Documented {
                    method: method.to_ascii_uppercase().parse().unwrap(),
                    parts: path.split('/').map(str::to_owned).collect(),
                    success: schema("200"),
                    failure: schema("default"),
                });
            }
        }
        // Literal segments come before parameters.
        operations.sort_by_key(|operation| operation.parts.iter().filter(|part| part.contains('{')).count());
        let resource = Resource::from_contents(document);
        let registry = Registry::new().draft(Draft::Draft202012).add(DOCUMENT, resource).unwrap().prepare().unwrap();
        Self { registry, operations, events, validators: Mutex::default() }
    }

    fn find(&self, method: &Method, path: &str) -> Option<&Documented> {
        let path = path.split('?').next().unwrap_or_default();
        let parts: Vec<&str> = path.split('/').collect();
        let is = |(template, part): (&String, &&str)| template.contains('{') || template == part;
        let fits = |one: &&Documented| {
            one.method == *method && one.parts.len() == parts.len() && one.parts.iter().zip(&parts).all(is)
        };
        self.operations.iter().find(fits)
    }

    fn validator(&self, schema: &Value) -> Arc<Validator> {
        let mut validators = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        let compile = || {
            let options = jsonschema::options().with_draft(Draft::Draft202012).with_registry(&self.registry);
            Arc::new(options.should_validate_formats(true).build(schema).unwrap())
        };
        Arc::clone(validators.entry(schema.to_string()).or_insert_with(compile))
    }
}

/// Makes references inside the document resolvable from outside.
fn refer(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref") {
                *reference = format!("{DOCUMENT}{reference}");
            }
            members.values_mut().for_each(refer);
        }
        Value::Array(items) => items.iter_mut().for_each(refer),
        _ => {}
    }
}

async fn document(app: &TestApp) -> Value {
    app.anonymous().get("/api/openapi.json").ok().await
}

#[tokio::test]
async fn document_has_every_operation_and_no_dangling_references() {
    let app = TestApp::new().await;
    let document = document(&app).await;
    assert_eq!((&document["openapi"], &document["info"]["title"]), (&json!("3.1.1"), &json!("example.test")));
    for operation in rookery_http::router::operations() {
        let path = operation.path.replace("{*", "{");
        let method = operation.method.as_str().to_ascii_lowercase();
        assert!(document["paths"][&path][&method]["responses"]["200"].is_object(), "{method} {path}");
    }
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
}

#[tokio::test]
async fn operations_have_unique_ids_and_declare_path_parameters() {
    let app = TestApp::new().await;
    let document = document(&app).await;
    let (mut ids, schemes) = (BTreeSet::new(), &document["components"]["securitySchemes"]);
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(ids.insert(id.to_owned()), "{id} of {method} {path} is not unique");
            let named = path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
            let parameters = operation["parameters"].as_array().unwrap();
            let said = parameters.iter().filter(|parameter| parameter["in"] == "path").map(|one| &one["name"]);
            assert_eq!(named.collect::<Vec<_>>(), said.collect::<Vec<_>>(), "{path}");
            let schemes_of = operation["security"].as_array().unwrap().iter().flat_map(|one| one.as_object().unwrap());
            schemes_of.for_each(|(scheme, _)| assert!(schemes[scheme].is_object(), "{scheme} of {method} {path}"));
        }
    }
    assert!(ids.contains("getApiV1AccountsById") && ids.contains("postApiV1StatusesByIdFavourite"));
}

#[tokio::test]
async fn pages_show_operations_and_entities() {
    let app = TestApp::new().await;
    let page = app.anonymous().get("/about/api").send().await;
    assert_eq!(page.status, 200);
    let text = page.text();
    for part in ["/api/v1/timelines/home", "read:statuses", "href=\"/about/api/Status\"", "getApiV1AccountsById"] {
        assert!(text.contains(part), "{part}");
    }
    let entity = app.anonymous().get("/about/api/Poll").send().await;
    assert!(entity.text().contains("votes_count"));
    assert_eq!(app.anonymous().get("/about/api/Nothing").send().await.status, 404);
}

#[tokio::test]
#[should_panic(expected = "not as documented")]
async fn mismatched_response_fails_the_test() {
    let app = TestApp::new().await;
    let real = app.anonymous().get("/api/v1/instance/rules").send().await;
    let other = Answer { body: b"[{\"id\":1}]".to_vec(), ..real };
    hold(&app, &Method::GET, "/api/v1/instance/rules", &other);
}

#[tokio::test]
#[should_panic(expected = "not as documented")]
async fn mismatched_event_fails_the_test() {
    hold_event(&TestApp::new().await, "update", "{\"id\":1}");
}
