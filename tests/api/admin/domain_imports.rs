//! Import and export of blocked and allowed domains: their routes and their commands.

use std::fmt::Write as _;

use model::instance::Severity;
use serde_json::{Value, json};

use crate::harness::{Answer, Client, TestApp};
use crate::platform::contract;
use crate::seed::{Seed, Status};

const BLOCKS: &str = "/api/v1/admin/domain_blocks";
const ALLOWS: &str = "/api/v1/admin/domain_allows";

async fn server() -> (TestApp, Client) {
    let app = TestApp::new().await;
    let admin = app.staff("admin", "Admin").await;
    (app, admin)
}

/// Sends a list as a file.
async fn send(admin: &Client, path: &str, options: &[(&str, &str)], list: &str) -> Answer {
    admin.server.tick();
    let files = [("file", "list.csv", list.as_bytes())];
    admin.post(&format!("{path}/import")).multipart(options, &files).send().await
}

async fn preview(admin: &Client, path: &str, options: &[(&str, &str)], list: &str) -> Value {
    let answer = send(admin, path, options, list).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let shown = answer.json();
    contract::check("Admin_DomainImport", &shown);
    assert_eq!(shown["applied"], false);
    shown
}

/// Previews and applies a list.
async fn import(admin: &Client, path: &str, options: &[(&str, &str)], list: &str) -> Value {
    let token = preview(admin, path, options, list).await["token"].as_str().unwrap().to_owned();
    let options: Vec<(&str, &str)> = options.iter().copied().chain([("token", token.as_str())]).collect();
    let answer = send(admin, path, &options, list).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let shown = answer.json();
    contract::check("Admin_DomainImport", &shown);
    assert_eq!(shown["applied"], true);
    shown
}

/// The blocks: domain, severity, flags.
async fn blocks(app: &TestApp) -> Vec<(String, Severity, Vec<&'static str>)> {
    let blocks = store::domain_policy::list_blocks(app.db()).await.unwrap();
    blocks.into_iter().map(|block| (block.domain, block.severity, block.flags.names())).collect()
}

#[tokio::test]
async fn list_is_previewed_and_then_applied_to_known_accounts() {
    let (app, admin) = server().await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let [own, other] = ["own", "other"].map(|name| seed.account(name, None));
    let spam = seed.account("spam", Some("a.evil.test"));
    let ham = seed.account("ham", Some("evil.test"));
    let loud = seed.account("loud", Some("loud.test"));
    let good = seed.account("good", Some("good.test"));
    for (from, to) in [(own, spam), (own, ham), (spam, own), (other, loud), (own, good)] {
        seed.follow(from, to);
    }
    let status = seed.status(&Status { author: spam, has_media: true, local: false, ..Status::default() });
    seed.image(spam, status, "an image");
    seed.write(app.db()).await;
    let list = "#domain,#severity,#reject_media,#reject_reports,#public_comment,#obfuscate\r\n\
                evil.test,suspend,TRUE,FALSE,\"spam, again\",TRUE\r\n\
                loud.test,silence,FALSE,TRUE,,FALSE\r\n\
                unknown.test,suspend,FALSE,FALSE,,FALSE\r\n";

    let shown = preview(&admin, BLOCKS, &[], list).await;
    let expected = json!({
        "applied": false, "token": shown["token"], "format": "csv",
        "added": 3, "changed": 0, "unchanged": 0, "faults_count": 0, "faults": [],
        "accounts": 3, "follows": 3, "people": 1, "media_attachments": 1,
        "domains": [
            { "domain": "evil.test", "severity": "suspend",
              "accounts": 2, "follows": 3, "people": shown["domains"][0]["people"], "media_attachments": 1 },
            { "domain": "loud.test", "severity": "silence",
              "accounts": 1, "follows": 0, "people": 0, "media_attachments": 0 },
        ],
    });
    assert_eq!(shown, expected);
    assert_eq!(app.count("domain_blocks").await + app.count("audit_log").await, 0);

    import(&admin, BLOCKS, &[], list).await;
    assert_eq!(
        blocks(&app).await,
        [
            ("evil.test".to_owned(), Severity::Suspend, vec!["reject_media"]),
            ("loud.test".to_owned(), Severity::Silence, vec!["reject_reports"]),
            ("unknown.test".to_owned(), Severity::Suspend, vec![]),
        ]
    );
    let jobs = app.number("SELECT COUNT(*) FROM jobs WHERE kind = 'apply_domain_policy'").await;
    assert_eq!(jobs, 3, "a job for each known host");
    assert_eq!(app.app.domain_policy().severity("a.evil.test"), Severity::Suspend);
    app.run_jobs().await;
    let suspended = "SELECT COUNT(*) FROM accounts WHERE domain IS NOT NULL AND suspended_at IS NOT NULL";
    assert_eq!(app.number(suspended).await, 2);
    assert_eq!(app.number("SELECT COUNT(*) FROM accounts WHERE limited_at IS NOT NULL").await, 1);
    assert_eq!(app.count("follows").await, 2);

    let logged: Vec<(String, String)> =
        app.db().fetch_raw("SELECT action, target_name FROM audit_log ORDER BY id").await.unwrap();
    assert_eq!(logged, [("domain_block.import".to_owned(), "3 domains".to_owned())]);
    let again = preview(&admin, BLOCKS, &[], list).await;
    assert_eq!((&again["added"], &again["changed"], &again["unchanged"]), (&json!(0), &json!(0), &json!(3)));
}

#[tokio::test]
async fn list_with_faults_is_not_applied_half() {
    let (app, admin) = server().await;
    let list = "\u{feff}evil.test\r\n*.wild.test\r\nhttps://url.test/x\r\nbücher.example\r\n# comment\r\n\r\n\
                com\r\nexample.test\r\nno domain\r\nEVIL.test\r\n203.0.113.7\r\n";
    let shown = preview(&admin, BLOCKS, &[], list).await;
    assert_eq!((&shown["format"], &shown["added"], &shown["faults_count"]), (&json!("plain"), &json!(4), &json!(5)));
    let lines: Vec<u64> = shown["faults"].as_array().unwrap().iter().map(|one| one["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [7, 8, 9, 10, 11]);
    for (at, reason) in
        ["public suffix", "of this server", "not a domain", "line 1 already", "IP address"].iter().enumerate()
    {
        let fault = &shown["faults"][at]["reason"];
        assert!(fault.as_str().unwrap().contains(reason), "{fault}");
    }
    let token = shown["token"].as_str().unwrap();
    let refused = send(&admin, BLOCKS, &[("token", token)], list).await;
    assert_eq!(refused.status, 422);
    assert!(refused.error().unwrap().contains("5 lines have faults: line 7: \"com\""), "{}", refused.text());
    assert_eq!(refused.json()["faults"], shown["faults"]);
    assert_eq!(app.count("domain_blocks").await + app.count("audit_log").await, 0);

    // The token names the list, the options and the changes.
    let skip = [("skip_faults", "true"), ("token", token)];
    let other = send(&admin, BLOCKS, &skip, list).await;
    assert!(other.status == 409 && other.error().unwrap().contains("Preview it again"), "{}", other.text());
    import(&admin, BLOCKS, &[("skip_faults", "true")], list).await;
    let domains: Vec<String> = blocks(&app).await.into_iter().map(|(domain, ..)| domain).collect();
    assert_eq!(domains, ["evil.test", "url.test", "wild.test", "xn--bcher-kva.example"]);

    for (status, list) in [(400, ""), (422, "# nothing\n"), (422, "[\"a.test\"")] {
        assert_eq!(send(&admin, BLOCKS, &[], list).await.status, status, "{list}");
    }
    admin.post(&format!("{BLOCKS}/import")).json(&json!({})).fails(400).await;
    for options in [json!({ "list": "a.test", "format": "xml" }), json!({ "list": "a.test", "mode": "half" })] {
        admin.post(&format!("{BLOCKS}/import")).json(&options).fails(422).await;
    }
    let large = "a".repeat(17 * 1024 * 1024);
    assert_eq!(send(&admin, BLOCKS, &[], &large).await.status, 422);
}

#[tokio::test]
async fn merge_never_weakens_and_replace_overwrites() {
    let (app, admin) = server().await;
    let old = json!({ "domain": "evil.test", "severity": "silence", "reject_media": true, "private_comment": "why" });
    admin.post(BLOCKS).json(&old).ok().await;
    app.tick();
    admin.post(BLOCKS).json(&json!({ "domain": "gone.test", "severity": "suspend" })).ok().await;
    let list = "domain,severity,reject_reports\nevil.test,noop,true\ngone.test,silence,\na.gone.test,noop,\n";
    let shown = import(&admin, BLOCKS, &[], list).await;
    assert_eq!((&shown["added"], &shown["changed"], &shown["unchanged"]), (&json!(0), &json!(1), &json!(2)));
    assert_eq!(
        blocks(&app).await,
        [
            ("evil.test".to_owned(), Severity::Silence, vec!["reject_media", "reject_reports"]),
            ("gone.test".to_owned(), Severity::Suspend, vec![]),
        ]
    );
    import(&admin, BLOCKS, &[("mode", "replace")], list).await;
    assert_eq!(
        blocks(&app).await,
        [
            ("a.gone.test".to_owned(), Severity::Noop, vec![]),
            ("evil.test".to_owned(), Severity::Noop, vec!["reject_reports"]),
            ("gone.test".to_owned(), Severity::Silence, vec![]),
        ]
    );
    assert_eq!(app.number("SELECT COUNT(*) FROM domain_blocks WHERE private_comment = 'why'").await, 1);
}

#[tokio::test]
async fn large_list_is_imported_in_seconds() {
    let (app, admin) = server().await;
    let mut list = String::from("#domain,#severity\r\n");
    for n in 0..20_000 {
        let _ = write!(list, "https://evil{n}.test/,suspend\r\n");
    }
    let begun = std::time::Instant::now();
    let shown = import(&admin, BLOCKS, &[], &list).await;
    assert_eq!((&shown["added"], app.count("domain_blocks").await), (&json!(20_000), 20_000));
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    let jobs = app.number("SELECT COUNT(*) FROM jobs WHERE kind = 'apply_domain_policy'").await;
    assert_eq!((app.count("audit_log").await, jobs), (1, 0), "one entry, and no job for unknown servers");
}

#[tokio::test]
async fn export_can_be_imported_again() {
    let (app, admin) = server().await;
    let list = "domain,severity,reject_media,reject_hashtag,public_comment,private_comment,obfuscate,hidden\n\
                a.test,suspend,true,true,\"a \"\"b\"\", c\",secret,true,true\nb.test,noop,,,,,,\n";
    import(&admin, BLOCKS, &[], list).await;
    let before = store::domain_policy::list_blocks(app.db()).await.unwrap();

    let answer = admin.get(&format!("{BLOCKS}/export")).send().await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "text/csv; charset=utf-8"));
    let expected = "#domain,#severity,#reject_media,#reject_reports,#public_comment,#obfuscate\n\
                    a.test,suspend,TRUE,FALSE,\"a \"\"b\"\", c\",TRUE\nb.test,noop,FALSE,FALSE,,FALSE\n";
    assert_eq!(answer.text(), expected);
    let plain = admin.get(&format!("{BLOCKS}/export?format=plain")).send().await;
    assert_eq!(
        (plain.text().as_str(), plain.header("content-type")),
        ("a.test\nb.test\n", "text/plain; charset=utf-8")
    );
    admin.get(&format!("{BLOCKS}/export?format=xml")).fails(422).await;
    for format in ["csv", "json"] {
        let all = admin.get(&format!("{BLOCKS}/export?format={format}&all=true")).send().await.text();
        assert!(all.contains("secret"), "{all}");
        app.execute("DELETE FROM domain_blocks").await;
        import(&admin, BLOCKS, &[], &all).await;
        let after = store::domain_policy::list_blocks(app.db()).await.unwrap();
        for (before, after) in before.iter().zip(&after) {
            let same = store::domain_policy::Block { id: before.id, created_at: before.created_at, ..after.clone() };
            assert_eq!(&same, before, "{format}");
        }
        assert_eq!(after.len(), 2);
    }
}

#[tokio::test]
async fn allows_are_imported_and_exported() {
    let (app, admin) = server().await;
    let shown = import(&admin, ALLOWS, &[], "#domain\ngood.test\nbetter.test\n").await;
    assert_eq!((&shown["added"], &shown["accounts"]), (&json!(2), &json!(0)));
    assert!(app.app.domain_policy().allows("good.test"));
    let shown = import(&admin, ALLOWS, &[("skip_faults", "1")], "good.test\n*.best.test\nbest.test\n").await;
    let counts = (&shown["added"], &shown["unchanged"], &shown["faults_count"]);
    assert_eq!(counts, (&json!(1), &json!(1), &json!(1)));
    let export = admin.get(&format!("{ALLOWS}/export")).send().await.text();
    assert_eq!(export, "#domain\nbest.test\nbetter.test\ngood.test\n");
    assert_eq!(app.count("audit_log").await, 2);
}

#[tokio::test]
async fn imports_need_permission_and_scope() {
    let (app, admin) = server().await;
    let moderator = app.staff("moderator", "Moderator").await;
    let reader = admin.with_scopes("admin:read:domain_blocks admin:read:domain_allows").await;
    for client in [&moderator, &reader, &app.anonymous()] {
        for path in [BLOCKS, ALLOWS] {
            client.post(&format!("{path}/import")).json(&json!({ "list": "evil.test" })).fails(403).await;
        }
    }
    let writer = admin.with_scopes("admin:write:domain_blocks").await;
    for (client, status) in [(&moderator, 403), (&writer, 403), (&reader, 200)] {
        assert_eq!(client.get(&format!("{BLOCKS}/export")).send().await.status, status);
    }
    writer.post(&format!("{BLOCKS}/import")).json(&json!({ "list": "evil.test" })).ok().await;
    assert_eq!(app.count("domain_blocks").await, 0);
}

#[tokio::test]
async fn command_shows_the_effect_of_a_list_and_applies_it() {
    let app = TestApp::new().await;
    let list = "evil.test\nhttps://loud.test/ # loud\n";
    let shown = app.run_with(&["domain", "import", "-"], list).await.ok();
    assert!(shown.contains("2 domains are new") && shown.contains("Nothing was changed: --yes"), "{shown}");
    assert_eq!(app.count("domain_blocks").await, 0);
    let severity = ["domain", "import", "-", "--severity", "silence", "--yes", "--json"];
    let applied = app.run_with(&severity, list).await.json();
    assert_eq!((&applied[0]["applied"], &applied[0]["added"]), (&json!(true), &json!(2)));
    let refused = app.run_with(&["domain", "import", "-", "--yes"], "a.test\ncom\n").await;
    assert_eq!(refused.code, 1);
    assert!(refused.out.contains("line 2: \"com\" is a public suffix") && refused.err.contains("--skip-faults"));
    app.run_with(&["domain", "import", "-", "--skip-faults", "--replace", "--yes"], "evil.test\ncom\n").await.ok();
    app.run_with(&["domain", "import", "-", "--allow", "--yes"], "good.test\n").await.ok();
    assert!(app.run(&["domain", "import", "/no/such/list"]).await.fails(1).contains("/no/such/list"));

    assert!(app.app.reload().await.unwrap());
    assert_eq!(app.run(&["domain", "export", "--format", "plain"]).await.ok(), "evil.test\nloud.test");
    assert_eq!(app.run(&["domain", "export", "--allow"]).await.ok(), "#domain\ngood.test");
    let rows = app.run(&["domain", "export", "--json"]).await.list();
    assert_eq!((&rows[0]["severity"], &rows[1]["severity"]), (&json!("suspend"), &json!("silence")));
}
