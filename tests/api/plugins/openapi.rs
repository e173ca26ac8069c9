//! The routes of plugins in the OpenAPI document.

use serde_json::json;

use super::shelf::{Shelf, manifest, routes};

#[tokio::test]
async fn routes_of_a_plugin_are_documented_while_it_is_on() {
    let shelf = Shelf::new().await;
    let route = "[[route]]\nid = \"show\"\nmethod = [\"GET\", \"PUT\"]\npath = \"/api/v1/notes/{id}\"\nauth = \"user\"\n\
                 scopes = [\"read:lists\"]\nparams = { id = \"id\" }\npage = { default = 40, max = 80 }\n";
    shelf.put_component("notes", &manifest("notes", "1.0.0", route), &routes("(call $ok)"));
    let document = async || shelf.app.anonymous().get("/api/openapi.json").ok().await;
    assert!(document().await["paths"]["/api/v1/notes/{id}"].is_null());
    shelf.enable("notes").await.unwrap();
    let document = document().await;
    let shown = &document["paths"]["/api/v1/notes/{id}"];
    assert_eq!(shown["get"]["tags"], json!(["notes"]));
    assert_eq!(shown["get"]["security"], json!([{ "user": ["read:lists"] }]));
    assert_eq!(shown["get"]["operationId"], "getApiV1NotesById");
    assert!(shown["put"].is_object());
    let limit = shown["get"]["parameters"].as_array().unwrap().iter().find(|one| one["name"] == "limit").unwrap();
    assert_eq!((&limit["schema"]["default"], &limit["schema"]["maximum"]), (&json!(40), &json!(80)));
}
