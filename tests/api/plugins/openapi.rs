//! The routes of plugins in the OpenAPI document.

use serde_json::json;

use super::groups::served;
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

#[tokio::test]
async fn bodies_and_responses_of_plugin_are_documented_by_its_manifest() {
    let shelf = Shelf::new().await;
    let route = |id: &str, method: &str, more: &str| {
        format!(
            "[[route]]\nid = \"{id}\"\nmethod = \"{method}\"\npath = \"/api/v1/notes\"\nauth = \"user\"\n\
             scopes = [\"read:lists\"]\n{more}"
        )
    };
    let body = "[route.body]\nrequired = [\"text\"]\n[route.body.properties]\ntext = { type = \"string\" }\n";
    let routes_of = [
        route("index", "GET", &format!("response = \"Note[]\"\n{body}")),
        route("create", "POST", &format!("response = \"Note | Status\"\n{body}")),
        "[entities.Note]\ntype = \"object\"\nproperties = { account = { \"$ref\" = \"Account\" } }\n".to_owned(),
    ];
    shelf.put_component("notes", &manifest("notes", "1.0.0", &routes_of.concat()), &routes("(call $ok)"));
    shelf.enable("notes").await.unwrap();
    let document = shelf.app.anonymous().get("/api/openapi.json").ok().await;
    let shown = &document["paths"]["/api/v1/notes"];
    let response = |method: &str| shown[method]["responses"]["200"]["content"]["application/json"]["schema"].clone();
    let note = json!({ "$ref": "#/components/schemas/notes.Note" });
    assert_eq!(response("get"), json!({ "type": "array", "items": note }));
    assert_eq!(response("post"), json!({ "anyOf": [note, { "$ref": "#/components/schemas/Status" }] }));
    let sent = &shown["post"]["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(sent["properties"]["text"]["type"], "string");
    let text = shown["get"]["parameters"].as_array().unwrap().iter().find(|one| one["name"] == "text").unwrap();
    assert_eq!((&text["in"], &text["required"]), (&json!("query"), &json!(true)));
    let entity = &document["components"]["schemas"]["notes.Note"];
    assert_eq!(entity["properties"]["account"], json!({ "$ref": "#/components/schemas/Account" }));
}

#[tokio::test]
async fn streams_are_documented_with_payloads_of_events() {
    let app = served("antennas").await;
    let alice = app.account("alice").await;
    let paths = app.anonymous().get("/api/openapi.json").ok().await["paths"].take();
    let streams = paths.as_object().unwrap().iter().filter(|(path, _)| path.starts_with("/api/v1/streaming/"));
    let mut seen = 0;
    for (path, item) in streams {
        let (operation, name) = (&item["get"], path.trim_start_matches("/api/v1/streaming/"));
        if name == "health" {
            assert_eq!(operation["security"], json!([]));
            continue;
        }
        seen += 1;
        assert!(operation["responses"]["200"]["content"]["text/event-stream"].is_object(), "{path}");
        assert!(operation["x-events"].as_object().is_some_and(|events| !events.is_empty()), "{path}");
        app.anonymous().get(path).fails(401).await;
        let parameters = operation["parameters"].as_array().unwrap();
        if parameters.iter().all(|parameter| parameter["required"] == false) && name != "antenna" {
            alice.events(name).await;
        } else {
            alice.get(path).fails(400).await;
        }
    }
    assert_eq!(seen, 10, "nine of the server's own, and the plugin's");
    assert!(paths["/api/v1/streaming"]["get"]["x-events"]["announcement.reaction"].is_object());
}

#[tokio::test]
async fn entities_of_plugins_have_pages() {
    let app = served("emoji_reactions").await;
    let page = app.anonymous().get("/about/api").send().await;
    assert!(page.text().contains("href=\"/about/api/emoji_reactions.EmojiReactionAccount\""), "{}", page.text());
    assert!(
        app.anonymous().get("/about/api/emoji_reactions.EmojiReactionAccount").send().await.text().contains("account")
    );
}
