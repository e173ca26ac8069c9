//! The signed-in pages: profile, preferences, filters, followed hashtags, browsers, e-mail address.

use crate::harness::{Answer, Browser, TestApp, form_fields};
use crate::routes::media::png;
use serde_json::json;

/// All settings pages.
const PAGES: [&str; 15] = [
    "/settings",
    "/settings/password",
    "/settings/email",
    "/settings/profile",
    "/settings/preferences",
    "/settings/filters",
    "/settings/filters/new",
    "/settings/followed_tags",
    "/settings/requests",
    "/settings/strikes",
    "/settings/sessions",
    "/settings/transfer",
    "/settings/cleanup",
    "/settings/delete",
    "/oauth/authorized_applications",
];

/// Value of an input of a page.
fn value(page: &Answer, id: &str) -> Option<String> {
    let text = page.text();
    let (_, after) = text.split_once(&format!("id=\"{id}\""))?;
    let tag = after.split('>').next()?;
    Some(tag.split_once(" value=\"")?.1.split('"').next()?.to_owned())
}

/// The part of a page that describes the input `id` as wrong.
fn error(page: &Answer, id: &str) -> String {
    let text = page.text();
    let (_, after) =
        text.split_once(&format!("id=\"{id}-error\"")).unwrap_or_else(|| panic!("{id} has no error: {text}"));
    after.split_once('>').unwrap().1.split('<').next().unwrap().to_owned()
}

#[tokio::test]
async fn every_page_needs_sign_in() {
    let app = TestApp::new().await;
    app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    for path in PAGES {
        let page = alice.get(path).await;
        assert_eq!(page.status, 200, "{path}");
        let text = page.text();
        assert!(text.contains("<a class=\"skip\" href=\"#main\">") && text.contains("<html lang=\"en\">"), "{path}");
        assert_eq!(text.matches("aria-current=\"page\"").count(), 1, "{path}");
        assert_eq!(text.matches("<h1").count(), 1, "{path}");
        assert_eq!(text.matches("<script").count(), 1, "{path}: the script of this server");

        let stranger = Browser::new(&app).get(path).await;
        assert_eq!(stranger.status, 302, "{path}");
        let back = url::form_urlencoded::byte_serialize(path.as_bytes()).collect::<String>();
        assert_eq!(stranger.header("location"), format!("/auth/sign_in?next={back}"), "{path}");
    }
}

#[tokio::test]
async fn form_without_csrf_token_changes_nothing() {
    let app = TestApp::new().await;
    let client = app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    let filter = client.post("/api/v2/filters").json(&json!({"title": "Rain", "context": ["home"]})).ok().await;
    let id = filter["id"].as_str().unwrap();
    for path in [
        "/settings/email",
        "/settings/profile",
        "/settings/preferences",
        "/settings/filters",
        &format!("/settings/filters/{id}"),
        &format!("/settings/filters/{id}/delete"),
        "/settings/followed_tags",
        "/settings/requests",
        "/settings/sessions",
    ] {
        for fields in [vec![("title", "x")], vec![("title", "x"), ("csrf", "guessed")]] {
            let answer = alice.post(path, &fields).await;
            assert_eq!(answer.status, 403, "{path}");
            assert!(answer.text().contains("<h1 id=\"title\">"), "{path}");
        }
        assert_eq!(Browser::new(&app).post(path, &[("title", "x")]).await.status, 302, "{path}");
    }
    assert_eq!(client.get("/api/v2/filters").ok().await, json!([filter]));
}

#[tokio::test]
async fn profile_form_edits_as_api_does() {
    let app = TestApp::new().await;
    let client = app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    let page = alice.get("/settings/profile").await;
    let fields = [
        ("display_name", "Alice <3"),
        ("note", "Rooks\r\nand crows"),
        ("fields_attributes[0][name]", "Web"),
        ("fields_attributes[0][value]", "https://alice.example/"),
        ("fields_attributes[1][name]", ""),
        ("locked", "1"),
        ("bot", "1"),
        ("attribution_domains", "https://Rooks.test/\r\ncrows.test"),
    ];
    let saved = alice.submit(&page, "/settings/profile", &fields).await;
    assert_eq!((saved.status.as_u16(), saved.header("location")), (302, "/settings/profile"));

    let own = client.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_eq!((&own["display_name"], &own["locked"], &own["bot"]), (&"Alice <3".into(), &true.into(), &true.into()));
    assert_eq!((&own["source"]["note"], own["fields"].as_array().unwrap().len()), (&"Rooks\nand crows".into(), 1));
    let again = alice.get("/settings/profile").await;
    assert!(again.text().contains("Your profile is saved.") && again.text().contains("Rooks\nand crows</textarea>"));
    assert_eq!(value(&again, "display_name").as_deref(), Some("Alice &lt;3"));
    assert_eq!(value(&again, "fields_attributes[0][value]").as_deref(), Some("https://alice.example/"));

    assert_eq!(own["source"]["attribution_domains"], json!(["rooks.test", "crows.test"]));
    assert!(again.text().contains("rooks.test\ncrows.test</textarea>"));

    // A box that is not ticked is not sent.
    alice.submit(&again, "/settings/profile", &[("display_name", "Alice")]).await;
    let own = client.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_eq!((&own["locked"], &own["bot"], &own["fields"]), (&false.into(), &false.into(), &json!([])));
}

#[tokio::test]
async fn invalid_profile_form_is_shown_again() {
    let app = TestApp::new().await;
    let client = app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    let page = alice.get("/settings/profile").await;
    let long = "x".repeat(501);
    let fields =
        [("display_name", "y".repeat(31)), ("note", long.clone()), ("fields_attributes[0][name]", "z".repeat(256))];
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let refused = alice.submit(&page, "/settings/profile", &fields).await;

    assert_eq!(refused.status, 422);
    assert_eq!(error(&refused, "display_name"), "It is too long (maximum is 30 characters).");
    assert_eq!(error(&refused, "note"), "It is too long (maximum is 500 characters).");
    assert!(error(&refused, "fields").contains("too long (maximum is 255 characters)"));
    assert_eq!(value(&refused, "display_name"), Some("y".repeat(31)));
    assert!(refused.text().contains(&format!("{long}</textarea>")));
    assert!(refused.text().contains("<title>Please check: "));
    assert_eq!(client.get("/api/v1/accounts/verify_credentials").ok().await["display_name"], "");
}

#[tokio::test]
async fn pictures_are_set_and_removed() {
    let app = TestApp::new().await;
    let client = app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    let own = async || client.get("/api/v1/accounts/verify_credentials").ok().await;
    let page = alice.get("/settings/profile").await;
    let sent = alice.upload(&page, "/settings/profile", &[], &[("avatar", "a.png", &png(40, 40))]).await;
    assert_eq!(sent.status, 302, "{}", sent.text());
    assert!(own().await["avatar"].as_str().unwrap().contains("/media/"));

    let page = alice.get("/settings/profile").await;
    let broken = alice.upload(&page, "/settings/profile", &[], &[("header", "a.png", b"no picture")]).await;
    assert_eq!(broken.status, 422);
    assert!(error(&broken, "header").starts_with("It is no good"));

    alice.submit(&page, "/settings/profile", &[("remove_avatar", "1")]).await;
    assert!(!own().await["avatar"].as_str().unwrap().contains("/media/"));
}

#[tokio::test]
async fn preferences_match_the_api() {
    let app = TestApp::new().await;
    let client = app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    let page = alice.get("/settings/preferences").await;
    let fields = [
        ("locale", "de"),
        ("visibility", "unlisted"),
        ("searchability", "public"),
        ("quote_policy", "nobody"),
        ("language", "ja"),
        ("sensitive", "1"),
        ("expand_media", "show_all"),
        ("expand_spoilers", "1"),
        ("chosen_languages[]", "de"),
        ("chosen_languages[]", "ja"),
    ];
    let saved = alice.submit(&page, "/settings/preferences", &fields).await;
    assert_eq!((saved.status.as_u16(), saved.header("location")), (302, "/settings/preferences"));

    let read = client.get("/api/v1/preferences").ok().await;
    assert_eq!(read["posting:default:visibility"], "unlisted");
    assert_eq!(read["posting:default:searchability"], "public");
    assert_eq!(read["posting:default:language"], "ja");
    assert_eq!(read["posting:default:quote_policy"], "nobody");
    let own = client.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_eq!(own["other_settings"]["allow_quote"], false);
    assert_eq!(read["posting:default:sensitive"], true);
    assert_eq!(read["reading:expand:media"], "show_all");
    assert_eq!(read["reading:expand:spoilers"], true);
    assert_eq!(read["reading:autoplay:gifs"], false);
    let again = alice.get("/settings/preferences").await.text();
    assert!(again.contains("<html lang=\"de\">") && again.contains("Deine Einstellungen sind gespeichert."));
    assert_eq!(again.matches(" checked").count(), 4);
    assert_eq!(client.publish("x").await["visibility"], "unlisted");
}

#[tokio::test]
async fn visibility_that_is_switched_off_is_refused_until_it_is_switched_on() {
    let app = TestApp::new().await;
    let client = app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    let page = alice.get("/settings/preferences").await;
    let off = [("disabled_visibilities[]", "public"), ("disabled_visibilities[]", "mutual")];
    alice.submit(&page, "/settings/preferences", &off).await;
    let again = alice.get("/settings/preferences").await;
    assert_eq!(again.text().matches(" checked").count(), 2);
    let write =
        |visibility: &str| client.post("/api/v1/statuses").json(&json!({"status": "x", "visibility": visibility}));
    for word in ["public", "mutual"] {
        assert!(write(word).fails(422).await.contains(word), "{word}");
    }
    client.post("/api/v1/statuses").json(&json!({"status": "by default, which is public"})).fails(422).await;
    let later = json!({"status": "x", "visibility": "public", "scheduled_at": "2027-01-01T00:00:00Z"});
    client.post("/api/v1/statuses").json(&later).fails(422).await;
    write("unlisted").ok().await;
    assert_eq!(client.get(&format!("/api/v1/accounts/{}", client.id())).ok().await["statuses_count"], 1);
    let both = [("visibility", "public"), ("disabled_visibilities[]", "public")];
    let refused = alice.submit(&again, "/settings/preferences", &both).await;
    assert_eq!(
        (refused.status.as_u16(), error(&refused, "visibility")),
        (422, "It is none of the choices.".to_owned())
    );

    alice.submit(&again, "/settings/preferences", &[("visibility", "public")]).await;
    write("public").ok().await;
    write("mutual").ok().await;
}

#[tokio::test]
async fn invalid_choice_is_refused() {
    let app = TestApp::new().await;
    app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    let page = alice.get("/settings/preferences").await;
    for (field, sent, at) in [
        ("locale", "fr", "locale"),
        ("visibility", "direct", "visibility"),
        ("visibility", "nobody", "visibility"),
        ("searchability", "some", "searchability"),
        ("policies[public][reply]", "friends", "policies"),
        ("policies[private][reply]", "nobody", "policies"),
        ("policies[unlisted][react]", "circle", "policies"),
        ("language", "xx", "language"),
        ("expand_media", "sometimes", "expand_media"),
        ("chosen_languages[]", "DE", "chosen_languages"),
        ("disabled_visibilities[]", "circle", "disabled_visibilities"),
    ] {
        let refused = alice.submit(&page, "/settings/preferences", &[(field, sent), ("sensitive", "1")]).await;
        assert_eq!(refused.status, 422, "{field}={sent}");
        assert_eq!(error(&refused, at), "It is none of the choices.", "{field}={sent}");
        assert_eq!(refused.text().matches(" checked").count(), 1, "{field}={sent}");
    }
}

/// The fields of the chosen policies on the page of preferences.
fn chosen_policies(page: &Answer) -> Vec<(String, String)> {
    let text = page.text();
    let mut found = Vec::new();
    for part in text.split("<select id=\"policies[").skip(1) {
        let name = part.split('"').next().unwrap();
        let options = part.split("</select>").next().unwrap();
        let chosen = options.split("<option value=\"").skip(1).find(|option| option.contains(" selected")).unwrap();
        found.push((format!("policies[{name}"), chosen.split('"').next().unwrap().to_owned()));
    }
    for part in
        text.split("<input id=\"policies[").skip(1).filter(|part| part.split('>').next().unwrap().contains(" checked"))
    {
        found.push((format!("policies[{}", part.split('"').next().unwrap()), "1".to_owned()));
    }
    found
}

#[tokio::test]
async fn policies_are_chosen_by_visibility() {
    let app = TestApp::new().await;
    let [client, bob] = app.accounts(["alice", "bob"]).await;
    let alice = Browser::signed_in(&app, "alice").await;
    let page = alice.get("/settings/preferences").await;
    assert_eq!(chosen_policies(&page).len(), 6);
    assert!(chosen_policies(&page).iter().all(|(_, chosen)| chosen == "everyone"));
    let fields = [
        ("policies[public][reply]", "followers"),
        ("policies[public][reply_ask]", "1"),
        ("policies[public][react]", "nobody"),
        ("policies[unlisted][reply]", "mentioned"),
        ("policies[private][react]", "following"),
    ];
    assert_eq!(alice.submit(&page, "/settings/preferences", &fields).await.status, 302);

    let defaults = client.get("/api/v1/interaction_policies/defaults").ok().await;
    let rule = |visibility: &str, name: &str| {
        let rule = &defaults[visibility][name];
        (rule["always"].clone(), rule["with_approval"].clone())
    };
    let everyone = (json!(["public"]), json!([]));
    assert_eq!(rule("public", "can_reply"), (json!(["followers"]), json!(["public"])));
    assert_eq!(rule("public", "can_favourite"), (json!([]), json!([])));
    assert_eq!(rule("public", "can_reblog"), (json!([]), json!([])));
    assert_eq!(rule("public", "can_quote"), everyone);
    assert_eq!(rule("unlisted", "can_reply"), (json!(["mentioned"]), json!([])));
    assert_eq!(rule("unlisted", "can_favourite"), everyone);
    assert_eq!(rule("private", "can_favourite"), (json!(["following"]), json!([])));
    assert_eq!(rule("login", "can_reply"), everyone);

    let status = client.publish("my rooks").await;
    bob.favourite(&status).fails(403).await;
    bob.reply(&status, "nice").await;
    let page = alice.get("/settings/requests").await;
    assert!(page.text().contains("Asks to reply to your post:"));

    let again = alice.get("/settings/preferences").await;
    let chosen = chosen_policies(&again);
    for (name, value) in fields {
        assert!(chosen.contains(&(name.to_owned(), value.to_owned())), "{name}: {chosen:?}");
    }
    let open = [("policies[public][reply]", "everyone"), ("policies[public][react]", "everyone")];
    alice.submit(&again, "/settings/preferences", &open).await;
    let open = client.publish("my rooks").await;
    bob.favourite(&open).ok().await;
    let defaults = client.get("/api/v1/interaction_policies/defaults").ok().await;
    assert_eq!(defaults["unlisted"]["can_reply"]["always"], json!(["mentioned"]), "left out, it stays");
}

#[tokio::test]
async fn rules_that_an_app_set_stay_until_another_choice_is_made() {
    let app = TestApp::new().await;
    let client = app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    let path = "/api/v1/interaction_policies/defaults";
    let set = json!({
        "public": {
            "can_quote": {"always": ["following"]},
            "can_reply": {"always": ["followers", "following"], "with_approval": ["public"]},
            "can_favourite": {"always": ["followers"]},
            "can_reblog": {"always": []},
        },
        "unlisted": {"can_reply": {"always": ["followers", "mentioned"]}},
        "direct": {"can_favourite": {"always": ["mentioned"]}},
    });
    let before = client.patch(path).json(&set).ok().await;

    let page = alice.get("/settings/preferences").await;
    let chosen = chosen_policies(&page);
    assert_eq!(page.text().matches("As an app has set it").count(), 2);
    let fields: Vec<(&str, &str)> = chosen.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert!(
        fields.contains(&("policies[public][reply]", "app")) && fields.contains(&("policies[public][react]", "app"))
    );
    assert!(fields.contains(&("policies[unlisted][reply]", "followers")), "mentioned people may always reply");
    assert_eq!(alice.submit(&page, "/settings/preferences", &fields).await.status, 302);
    assert_eq!(client.get(path).ok().await, before);

    alice.submit(&page, "/settings/preferences", &[("policies[public][react]", "followers")]).await;
    let after = client.get(path).ok().await;
    assert_eq!(after["public"]["can_reblog"]["always"], json!(["followers"]));
    for name in ["can_quote", "can_reply"] {
        assert_eq!(after["public"][name], before["public"][name], "{name}");
    }
    assert_eq!((&after["unlisted"], &after["direct"]), (&before["unlisted"], &before["direct"]));
}

#[tokio::test]
async fn filter_form_creates_changes_and_deletes() {
    let app = TestApp::new().await;
    let client = app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    let filters = async || client.get("/api/v2/filters").ok().await;
    let page = alice.get("/settings/filters/new").await;
    let fields = [
        ("title", "Weather"),
        ("context[]", "home"),
        ("context[]", "thread"),
        ("filter_action", "hide"),
        ("expires_in", "3600"),
        ("keywords[0][keyword]", "rain"),
        ("keywords[0][whole_word]", "1"),
        ("keywords[1][keyword]", " "),
        ("keywords[2][keyword]", "snow"),
    ];
    let made = alice.submit(&page, "/settings/filters", &fields).await;
    assert_eq!((made.status.as_u16(), made.header("location")), (302, "/settings/filters"));
    let filter = filters().await[0].clone();
    assert_eq!((&filter["context"], &filter["filter_action"]), (&json!(["home", "thread"]), &"hide".into()));
    assert!(filter["expires_at"].is_string() && filter["with_quote"] == false);
    let words = |filter: &serde_json::Value| -> Vec<(String, bool)> {
        let keyword =
            |one: &serde_json::Value| (one["keyword"].as_str().unwrap().to_owned(), one["whole_word"] == true);
        filter["keywords"].as_array().unwrap().iter().map(keyword).collect()
    };
    assert_eq!(words(&filter), [("rain".to_owned(), true), ("snow".to_owned(), false)]);
    let listed = alice.get("/settings/filters").await.text();
    assert!(listed.contains("Weather") && listed.contains("snow") && listed.contains("Threads"));

    let path = format!("/settings/filters/{}", filter["id"].as_str().unwrap());
    let edit = alice.get(&path).await;
    assert_eq!(value(&edit, "keywords[1][keyword]").as_deref(), Some("snow"));
    let changed = [
        ("title", "Storms"),
        ("filter_action", "blur"),
        ("context[]", "home"),
        ("expires_in", "keep"),
        ("keywords[0][keyword]", "hail"),
        ("keywords[1][keyword]", "snow"),
        ("keywords[1][destroy]", "1"),
    ];
    assert_eq!(alice.submit(&edit, &path, &changed).await.status, 302);
    let after = filters().await[0].clone();
    assert_eq!((&after["title"], &after["expires_at"]), (&"Storms".into(), &filter["expires_at"]));
    assert_eq!((words(&after), &after["filter_action"]), (vec![("hail".to_owned(), false)], &"blur".into()));

    let listed = alice.get("/settings/filters").await;
    assert!(listed.text().contains("Hide their media"), "{}", listed.text());
    assert_eq!(alice.submit(&listed, &format!("{path}/delete"), &[]).await.status, 302);
    assert_eq!(filters().await, json!([]));
    assert_eq!(alice.get(&path).await.status, 404);
}

#[tokio::test]
async fn invalid_filter_form_is_shown_again() {
    let app = TestApp::new().await;
    let client = app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    let page = alice.get("/settings/filters/new").await;
    let long = "k".repeat(513);
    for (fields, at, words) in [
        (vec![("title", " "), ("context[]", "home")], "title", "It can't be blank."),
        (vec![("title", "Rain")], "context", "It can't be blank."),
        (vec![("title", "Rain"), ("context[]", "elsewhere")], "context", "It can't be blank."),
        (
            vec![("title", "Rain"), ("context[]", "home"), ("keywords[0][keyword]", long.as_str())],
            "keywords",
            "It is too long (maximum is 512 characters).",
        ),
    ] {
        let refused = alice.submit(&page, "/settings/filters", &fields).await;
        assert_eq!(refused.status, 422, "{fields:?}");
        assert_eq!(error(&refused, at).replace("&#39;", "'"), words);
        assert_eq!(value(&refused, "title").as_deref().unwrap_or(" "), fields[0].1);
    }
    assert_eq!(client.get("/api/v2/filters").ok().await, json!([]));
}

#[tokio::test]
async fn filters_and_browsers_of_others_are_missing() {
    let app = TestApp::new().await;
    let [client, _] = app.accounts(["alice", "bob"]).await;
    let filter = client.post("/api/v2/filters").json(&json!({"title": "Rain", "context": ["home"]})).ok().await;
    let path = format!("/settings/filters/{}", filter["id"].as_str().unwrap());
    let alice = Browser::signed_in(&app, "alice").await;
    let bob = Browser::signed_in(&app, "bob").await;
    let form = bob.get("/settings/filters/new").await;
    let token = form_fields(&form.text(), "/settings/filters").into_iter().find(|(name, _)| name == "csrf").unwrap().1;
    assert_eq!(bob.get(&path).await.status, 404);
    assert!(!bob.get("/settings/filters").await.text().contains("Rain"));
    let fields = [("csrf", token.as_str()), ("title", "x"), ("context[]", "home")];
    assert_eq!(bob.post(&path, &fields).await.status, 404);
    assert_eq!(bob.post(&format!("{path}/delete"), &fields).await.status, 404);
    assert_eq!(client.get("/api/v2/filters").ok().await, json!([filter]));

    let session = app.db().execute_raw("UPDATE web_sessions SET browser = 'x'").await;
    session.unwrap();
    Browser::signed_in(&app, "alice").await;
    let page = alice.get("/settings/sessions").await.text();
    let (_, after) = page.split_once("name=\"id\" value=\"").expect("another session of alice");
    let id = after.split('"').next().unwrap();
    assert_eq!(bob.post("/settings/sessions", &[("csrf", token.as_str()), ("id", id)]).await.status, 404);
    assert_eq!(bob.post("/settings/sessions", &[("csrf", token.as_str())]).await.status, 302);
    assert_eq!(alice.get("/settings").await.status, 200);
}

#[tokio::test]
async fn followed_hashtags_are_listed_and_unfollowed() {
    let app = TestApp::new().await;
    let client = app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    assert!(alice.get("/settings/followed_tags").await.text().contains("You follow no hashtag."));
    for name in ["rooks", "crows", "カラス"] {
        client.post(&format!("/api/v1/tags/{}/follow", url_encoded(name))).ok().await;
    }
    let page = alice.get("/settings/followed_tags").await;
    assert!(page.text().contains("#rooks") && page.text().contains("#カラス"));

    let unfollowed = alice.submit(&page, "/settings/followed_tags", &[]).await;
    assert_eq!(unfollowed.status, 302);
    let left = client.get("/api/v1/followed_tags").ok().await;
    assert_eq!(left.as_array().unwrap().len(), 2, "the last one followed is the first in the list");
    assert!(alice.get("/settings/followed_tags").await.text().contains("no longer follow #カラス"));
}

#[tokio::test]
async fn many_followed_hashtags_have_pages_of_constant_cost() {
    let app = TestApp::new().await;
    let client = app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    let cost = async || {
        let (cost, page) = app.cost(alice.get("/settings/followed_tags")).await;
        (cost, page.text())
    };
    client.post("/api/v1/tags/rooks/follow").ok().await;
    let (short, page) = cost().await;
    assert!(!page.contains("rel=\"next\""));
    for number in 0..25 {
        client.post(&format!("/api/v1/tags/rook{number}/follow")).ok().await;
    }
    let (long, page) = cost().await;
    assert_eq!(long, short);
    let next = page.split_once("rel=\"next\" href=\"").unwrap().1.split('"').next().unwrap().to_owned();
    let older = alice.get(&format!("/settings/followed_tags{next}")).await.text();
    assert!(older.contains("#rooks<") && !older.contains("#rook24<"));
}

#[tokio::test]
async fn browsers_are_listed_and_signed_out() {
    let app = TestApp::new().await;
    app.account("alice").await;
    let one = Browser::signed_in(&app, "alice").await;
    let two = Browser::signed_in(&app, "alice").await;
    let three = Browser::signed_in(&app, "alice").await;
    app.execute("UPDATE web_sessions SET browser = 'Mozilla Firefox/1 Linux'").await;
    let page = one.get("/settings/sessions").await;
    assert_eq!(page.text().matches("Firefox · Linux</strong>").count(), 3);
    assert_eq!(page.text().matches("this browser").count(), 1);

    assert_eq!(one.submit(&page, "/settings/sessions", &[]).await.status, 302);
    let left = [two.get("/settings").await.status.as_u16(), three.get("/settings").await.status.as_u16()];
    assert_eq!(left.iter().filter(|status| **status == 302).count(), 1, "one of the two is signed out");

    let page = one.get("/settings/sessions").await;
    let others: Vec<(String, String)> = form_fields(&page.text(), "/settings/sessions");
    let token = &others.iter().find(|(name, _)| name == "csrf").unwrap().1;
    assert_eq!(one.post("/settings/sessions", &[("csrf", token)]).await.status, 302);
    assert_eq!(two.get("/settings").await.status, 302);
    assert_eq!(three.get("/settings").await.status, 302);
    assert!(one.get("/settings/sessions").await.text().contains("All other browsers are signed out."));
}

#[tokio::test]
async fn email_address_changes_when_confirmed() {
    let app = TestApp::new().await;
    app.accounts(["alice", "bob"]).await;
    let alice = Browser::signed_in(&app, "alice").await;
    let page = alice.get("/settings").await;
    let right = crate::harness::PASSWORD;
    for (email, password, at) in [
        ("new@example.test", "wrong", "email_password"),
        ("nonsense", right, "email"),
        ("", right, "email"),
        ("bob@example.test", right, "email"),
        ("Alice@example.test", right, "email"),
    ] {
        let fields = [("email", email), ("email_password", password)];
        let refused = alice.submit(&page, "/settings/email", &fields).await;
        assert_eq!(refused.status, 422, "{email}");
        assert!(!error(&refused, at).is_empty(), "{email}");
        assert_eq!(value(&refused, "email").unwrap_or_default(), email);
    }
    let fields = [("email", "new@example.test"), ("email_password", right)];
    assert_eq!(alice.submit(&page, "/settings/email", &fields).await.status, 302);
    let waiting = alice.get("/settings").await.text();
    assert!(waiting.contains("Waiting for confirmation") && waiting.contains("alice@example.test"));

    let link = app.mailed_link().await;
    assert!(app.letters().await.last().unwrap().contains("To: new@example.test"));
    assert_eq!(alice.get(&link).await.status, 200);
    let after = alice.get("/settings").await.text();
    assert!(after.contains("new@example.test") && !after.contains("Waiting for confirmation"));
}

fn url_encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
