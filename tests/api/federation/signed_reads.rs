//! Requests for documents that remote accounts sign, with authorized fetch and without.

use chrono::Duration;
use serde_json::{Value, json};

use crate::harness::liar::{KEY, OTHER_KEY, Person, Reply};
use crate::harness::{Answer, Client, Letter, Liar, TestApp};

const AUTHORIZED: (&str, &str) = ("ROOKERY_ACCESS_AUTHORIZED_FETCH", "true");
/// Status codes with authorized fetch, and without.
const MODES: [bool; 2] = [false, true];

/// A server with Alice; Carol of another server follows her, and Dave, who is known here, does not.
struct Scene {
    app: TestApp,
    alice: Client,
    liar: Liar,
    carol: Person,
    dave: Person,
}

impl Scene {
    async fn new(authorized: bool) -> Self {
        let keys: Vec<_> = Liar::KEYS.into_iter().chain(authorized.then_some(AUTHORIZED)).collect();
        let app = TestApp::named("localhost:3000", &keys).await;
        let alice = app.named_account("alice").await;
        let liar = Liar::start().await;
        let [carol, dave] = ["carol", "dave"].map(|name| liar.person(name));
        let scene = Self { app, alice, liar, carol, dave };
        scene.carol.follow_alice(&scene.app).await;
        scene.dave.follow_alice(&scene.app).await;
        let undo = scene.dave.activity("Undo", scene.dave.activity("Follow", "http://localhost:3000/users/alice"));
        assert_eq!(scene.dave.letter(&scene.app, &undo).send(&scene.app).await.status, 202);
        scene.app.run_jobs().await;
        assert_eq!(scene.app.count("follows").await, 1);
        scene
    }

    async fn reads(&self, person: &Person, path: &str) -> Answer {
        person.reads(&self.app, path).send(&self.app).await
    }

    async fn code(&self, person: &Person, path: &str) -> u16 {
        self.reads(person, path).await.status.as_u16()
    }

    async fn anonymous(&self, path: &str) -> Answer {
        Letter::read(&self.app, path).send(&self.app).await
    }

    /// The URIs of the statuses in Alice's outbox.
    async fn outbox(&self, person: &Person) -> Vec<Value> {
        let page = self.reads(person, "/users/alice/outbox?page=true").await.json();
        let items = page["orderedItems"].as_array().unwrap_or_else(|| panic!("{page}"));
        items.iter().map(|item| item["object"]["id"].clone()).collect()
    }

    /// The account of `person`.
    async fn id(&self, person: &Person) -> String {
        let sql = format!("SELECT id FROM accounts WHERE uri = '{}'", person.uri);
        self.app.db().fetch_raw::<(i64,)>(&sql).await.unwrap()[0].0.to_string()
    }
}

const PARTS: [&str; 6] = ["", "/activity", "/replies", "/likes", "/shares", "/references"];

#[tokio::test]
async fn signer_reads_what_the_account_may_see() {
    for authorized in MODES {
        let scene = Scene::new(authorized).await;
        let public = scene.alice.publish("for all").await;
        let private = scene.alice.publish_to("private", "for followers").await;
        let direct = scene.alice.publish_to("direct", &format!("@{} psst", scene.dave.address())).await;
        assert_eq!(direct["mentions"][0]["acct"], scene.dave.address().as_str());
        // The bytes of every note are asked for before those who may not have them ask.
        let rows = [(&public, 200, 200), (&private, 200, 404), (&direct, 404, 200)];
        for (status, carols, daves) in rows {
            for part in PARTS {
                let path = format!("/users/alice/statuses/{status}{part}");
                let found = (scene.code(&scene.carol, &path).await, scene.code(&scene.dave, &path).await);
                assert_eq!(found, (carols, daves), "{path}, {authorized}");
                let code = if authorized {
                    401
                } else if status.id() == public.id() {
                    200
                } else {
                    404
                };
                assert_eq!(scene.anonymous(&path).await.status, code, "{path}, {authorized}");
            }
        }
        let path = format!("/users/alice/statuses/{private}");
        let answer = scene.reads(&scene.carol, &path).await;
        assert_eq!((&answer.json()["id"], answer.header("cache-control")), (&private["uri"], "private, no-store"));
        let path = format!("/users/alice/statuses/{public}");
        assert_eq!(scene.reads(&scene.carol, &path).await.header("cache-control"), "private, no-store");
        if !authorized {
            assert_eq!(scene.anonymous(&path).await.header("cache-control"), "max-age=180, public");
        }
        assert_eq!(scene.outbox(&scene.carol).await, [private["uri"].clone(), public["uri"].clone()]);
        assert_eq!(scene.outbox(&scene.dave).await, [direct["uri"].clone(), public["uri"].clone()]);
    }
}

#[tokio::test]
async fn pinned_status_for_followers_is_listed_to_them_by_its_uri() {
    let scene = Scene::new(false).await;
    let private = scene.alice.publish_to("private", "for followers").await;
    scene.alice.pin(&private).ok().await;
    let path = "/users/alice/collections/featured";
    assert_eq!(scene.reads(&scene.carol, path).await.json()["orderedItems"], json!([private["uri"]]));
    assert_eq!(scene.reads(&scene.dave, path).await.json()["orderedItems"], json!([]));
    assert_eq!(scene.anonymous(path).await.json()["orderedItems"], json!([]));
}

#[tokio::test]
async fn blocked_signer_reads_only_the_actor() {
    for authorized in MODES {
        for domain in [false, true] {
            let scene = Scene::new(authorized).await;
            let status = scene.alice.publish("hello").await;
            scene.alice.pin(&status).ok().await;
            scene.alice.post("/api/v1/featured_tags").json(&json!({ "name": "rooks" })).ok().await;
            if domain {
                let block = json!({ "domain": scene.liar.domain });
                scene.alice.post("/api/v1/domain_blocks").json(&block).ok().await;
            } else {
                let id = scene.id(&scene.dave).await;
                scene.alice.post(&format!("/api/v1/accounts/{id}/block")).ok().await;
            }
            let dave = &scene.dave;
            assert_eq!(scene.code(dave, "/users/alice").await, 200);
            for rest in ["outbox", "followers", "following", "collections/featured", "collections/tags"] {
                let empty = scene.reads(dave, &format!("/users/alice/{rest}")).await.json();
                assert_eq!((&empty["totalItems"], &empty["first"]), (&0.into(), &Value::Null), "{rest}");
                let page = scene.reads(dave, &format!("/users/alice/{rest}?page=1")).await.json();
                assert_eq!(page["totalItems"], 0, "{rest}");
            }
            for part in PARTS {
                let path = format!("/users/alice/statuses/{status}{part}");
                assert_eq!(scene.code(dave, &path).await, 404, "{part}");
            }
            if !domain {
                let featured = scene.reads(&scene.carol, "/users/alice/collections/featured").await.json();
                assert_eq!(featured["totalItems"], 1, "of another account");
            }
        }
    }
}

#[tokio::test]
async fn authorized_fetch_needs_a_signature() {
    let scene = Scene::new(true).await;
    let status = scene.alice.publish("hello").await;
    let sql = format!("SELECT conversation_id FROM statuses WHERE id = {status}");
    let (context,) = scene.app.db().fetch_raw::<(i64,)>(&sql).await.unwrap()[0];
    let stranger = scene.liar.person("erin");
    let note = format!("/users/alice/statuses/{status}");
    let mut paths: Vec<String> = PARTS.iter().map(|part| format!("{note}{part}")).collect();
    paths.extend(["", "/outbox", "/followers", "/following"].map(|rest| format!("/users/alice{rest}")));
    paths.extend(["featured", "tags"].map(|rest| format!("/users/alice/collections/{rest}")));
    paths.extend(["/@alice".to_owned(), format!("/@alice/{status}"), "/users/alice/outbox?page=true".to_owned()]);
    for path in paths {
        let answer = scene.anonymous(&path).await;
        assert_eq!(answer.status, 401, "{path}");
        assert!(answer.json()["error"].as_str().unwrap().contains("not signed"), "{path}");
        assert_eq!(answer.header("cache-control"), "private, no-store", "{path}");
        let answer = scene.reads(&stranger, &path).await;
        assert_eq!((answer.status.as_u16(), answer.header("cache-control")), (200, "private, no-store"), "{path}");
        assert!(answer.header("vary").contains("Signature"), "{path}: {}", answer.header("vary"));
    }
    assert_eq!(scene.liar.asked("/users/erin"), 1, "the key is known then");
    let webfinger = "/.well-known/webfinger?resource=acct:alice@localhost:3000";
    let context = format!("/contexts/{context}");
    let open = [
        "/actor",
        "/actor/outbox",
        webfinger,
        "/.well-known/nodeinfo",
        "/nodeinfo/2.0",
        "/.well-known/host-meta",
        &context,
    ];
    for path in open {
        assert_eq!(scene.anonymous(path).await.status, 200, "{path}");
    }
    let page = scene.app.anonymous().get("/@alice").header("accept", "text/html").send().await;
    assert_eq!(page.status, 200);
}

#[tokio::test]
async fn limited_federation_implies_authorized_fetch() {
    let limited = ("ROOKERY_ACCESS_LIMITED_FEDERATION", "true");
    let app = TestApp::named("localhost:3000", &[Liar::KEYS[0], limited]).await;
    app.named_account("alice").await;
    let erin = Liar::start().await.person("erin");
    assert_eq!(Letter::read(&app, "/users/alice").send(&app).await.status, 401);
    assert_eq!(erin.reads(&app, "/users/alice").send(&app).await.status, 403);
    service::domain_decision::allow(&app.app, &model::Staff::operator(), &erin.liar.domain).await.unwrap();
    assert_eq!(erin.reads(&app, "/users/alice").send(&app).await.status, 200);
}

#[tokio::test]
async fn invalid_signature_is_refused_or_ignored() {
    for authorized in MODES {
        let scene = Scene::new(authorized).await;
        let public = format!("/users/alice/statuses/{}", scene.alice.publish("hello").await);
        let private = format!("/users/alice/statuses/{}", scene.alice.publish_to("private", "psst").await);
        let (app, carol) = (&scene.app, &scene.carol);
        let now = *app.app.clock.now();
        type Lie<'a> = Box<dyn Fn(&str) -> Letter + 'a>;
        let read = |path: &str| Letter::read(app, path);
        let lies: Vec<(&str, Lie<'_>)> = vec![
            (
                "signed for another host",
                Box::new(|path| read(path).header("host", "other.test").signed(&carol.key_id, &KEY)),
            ),
            ("expired", Box::new(|path| read(path).dated(now - Duration::hours(2)).signed(&carol.key_id, &KEY))),
            ("of the future", Box::new(|path| read(path).dated(now + Duration::hours(2)).signed(&carol.key_id, &KEY))),
            (
                "replayed on another path",
                Box::new(|path| Letter { path: path.to_owned(), ..carol.reads(app, "/users/alice") }),
            ),
            ("of another key", Box::new(|path| read(path).signed(&carol.key_id, &OTHER_KEY))),
            ("without host", Box::new(|path| read(path).signs(&carol.key_id, &KEY, &["(request-target)", "date"]))),
            (
                "as of a POST",
                Box::new(|path| {
                    read(path).digested().signs(&carol.key_id, &KEY, &["(request-target)", "date", "digest"])
                }),
            ),
            (
                "of a local account",
                Box::new(|path| read(path).signed("http://localhost:3000/users/alice#main-key", &KEY)),
            ),
            ("of an unreachable key", Box::new(|path| read(path).signed("http://127.0.0.1:1/users/x#main-key", &KEY))),
            ("of no key", Box::new(|path| read(path).signed("x", &KEY))),
            ("of nonsense", Box::new(|path| read(path).header("signature", "=,\""))),
        ];
        for (name, lie) in &lies {
            let codes = (lie(&public).send(app).await.status.as_u16(), lie(&private).send(app).await.status.as_u16());
            let refusal = match *name {
                "of a local account" => 403,
                // It may be there later.
                "of an unreachable key" => 503,
                _ => 401,
            };
            let expected = if authorized { (refusal, refusal) } else { (200, 404) };
            assert_eq!(codes, expected, "{name}, {authorized}");
        }
        assert_eq!(scene.code(carol, &private).await, 200);
        let id = scene.id(carol).await;
        app.execute(&format!("UPDATE accounts SET suspended_at = created_at WHERE id = {id}")).await;
        let codes = (scene.code(carol, &public).await, scene.code(carol, &private).await);
        assert_eq!(codes, if authorized { (403, 403) } else { (200, 404) }, "a suspended account");
        let said = app.run(&["domain", "block", &scene.liar.domain, "--severity", "suspend"]).await;
        assert_eq!(said.code, 0, "{said:?}");
        app.app.reload().await.unwrap();
        let codes = (scene.code(&scene.dave, &public).await, scene.code(&scene.dave, &private).await);
        assert_eq!(codes, if authorized { (403, 403) } else { (200, 404) }, "a suspended domain");
    }
}

#[tokio::test]
async fn slow_key_does_not_hold_up_the_reader() {
    let scene = Scene::new(true).await;
    let erin = scene.liar.person("erin");
    scene.liar.put("/users/erin", Reply::Silence);
    let time = async {
        scene.liar.is_asked("/users/erin").await;
        scene.app.time_passes(std::time::Duration::from_secs(11)).await;
    };
    let (answer, ()) = tokio::join!(scene.reads(&erin, "/users/alice"), time);
    assert_eq!(answer.status, 503);

    // Without authorized fetch nothing is fetched for a reader.
    let scene = Scene::new(false).await;
    let erin = scene.liar.person("erin");
    assert_eq!((scene.code(&erin, "/users/alice").await, scene.liar.asked("/users/erin")), (200, 0));
}

#[tokio::test]
async fn two_servers_with_authorized_fetch_find_each_other() {
    use crate::harness::{Peer, settle};
    let peers = [Peer::with(false, &[AUTHORIZED]).await, Peer::with(true, &[AUTHORIZED]).await];
    let alice = peers[0].account("alice").await;
    let bob = peers[1].account("bob").await;
    let there = peers[0].find(&alice, &peers[1].address(&bob)).await;
    alice.follow(&there).ok().await;
    settle(&peers).await;
    let status = bob.publish_to("private", "for followers").await;
    settle(&peers).await;
    let home = alice.get("/api/v1/timelines/home").ok().await;
    assert_eq!(home[0]["uri"], status["uri"]);
}
