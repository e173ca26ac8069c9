//! Installing and upgrading signed packages from files, URLs and indexes, without a central service.

use std::path::Path;

use plugins::install::{self, Request, Source, Terms};
use plugins::{admin, life};
use serde_json::{Value, json};

use super::publisher::{Publisher, run};
use super::shelf::Shelf;
use crate::harness::{CommandOutput, Site, TestApp};
use crate::platform::serve::Running;

/// Permissions requested by the second version.
const MORE: &str = "[permissions]\ncore = [\"read\"]\n";

const OWN: [(&str, &str); 3] = [
    ("ROOKERY_PLUGINS_ENABLED", "true"),
    ("ROOKERY_PLUGINS_EMBEDDED", "false"),
    ("ROOKERY_FEDERATION_ALLOW_PRIVATE_ADDRESSES", "127.0.0.1/32"),
];

/// A server that may reach this machine.
async fn shelf() -> Shelf {
    Shelf::with(&OWN[2..]).await
}

/// Runs `rookery plugin` while the server runs.
async fn plugin(app: &TestApp, arguments: &[&str]) -> CommandOutput {
    app.run_set(&OWN, &[&["plugin"], arguments].concat()).await
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Versions in the folder of plugins, without signatures.
fn lying(shelf: &Shelf) -> Vec<String> {
    let files = std::fs::read_dir(&shelf.app.app.config.plugins.dir).unwrap();
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.ends_with(".minisig"));
    names.sort();
    names
}

/// Installs from a URL as the admin API does, with these terms.
async fn install_from(shelf: &Shelf, url: &str, terms: Terms) -> Result<(), String> {
    let cx = &shelf.app.plugins();
    let request = |digest| Request { from: Some(Source::parse(url).unwrap()), digest, terms: terms.clone() };
    let review = install::look(cx, "notes", request(None)).await.map_err(|error| error.to_string())?;
    install::run(cx, &model::Staff::operator(), "notes", request(Some(review.digest)))
        .await
        .map_err(|error| error.to_string())?;
    life::reload(cx, "notes").await.map_err(|error| error.to_string()).map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn new_admin_installs_from_a_static_server_upgrades_and_rolls_back() {
    let (shelf, site, author) = (Shelf::new().await, Site::start().await, Publisher::new());
    let app = &shelf.app;
    author.publish("1.0.0", "");
    author.upload(&site);
    let running = Running::start_with(app, &OWN);
    let index = format!("{}/", site.origin);

    let install = ["install", "notes", "--from", index.as_str()];
    let asked = plugin(app, &install).await;
    assert_eq!(asked.code, 2, "there is no terminal to ask on: {asked:?}");
    for part in ["notes 1.0.0", &author.key, "which is new", "/api/v1/notes", "--yes installs notes 1.0.0"] {
        assert!(asked.err.contains(part), "{part}: {asked:?}");
    }
    assert_eq!(lying(&shelf), Vec::<String>::new(), "nothing was installed");
    let said = plugin(app, &[&install[..], &["--yes"]].concat()).await.ok();
    assert!(said.contains("signed with the key ") && said.contains("notes 1.0.0 serves since"), "{said}");
    assert!(running.get("/api/v1/notes").starts_with("HTTP/1.1 200"));
    let same = plugin(app, &["upgrade", "notes"]).await.ok();
    assert_eq!(same, "notes 1.0.0 is here already: nothing to do.");
    let same: Value = serde_json::from_str(&plugin(app, &["upgrade", "notes", "--json"]).await.ok()).unwrap();
    assert!(same["generation"].is_u64(), "as the server has it: {same}");

    author.publish("1.1.0", MORE);
    author.upload(&site);
    let asked = plugin(app, &["upgrade", "notes"]).await;
    assert_eq!(asked.code, 2, "it asks for more: {asked:?}");
    for part in ["core:read", "trusted for this plugin", "here is  1.0.0"] {
        assert!(asked.err.contains(part), "{part}: {asked:?}");
    }
    assert_eq!(lying(&shelf), ["notes-1.0.0.plugin"]);
    let said = plugin(app, &["upgrade", "notes", "--yes"]).await.ok();
    assert!(said.contains("notes 1.1.0 serves") && said.contains("It may use core:read."), "{said}");
    assert_eq!(lying(&shelf), ["notes-1.1.0.plugin"], "the previous one is removed");
    let verified = plugin(app, &["verify", "notes"]).await.ok();
    assert!(verified.starts_with("notes 1.1.0 is signed by its author.") && verified.contains(&author.key));

    let back = plugin(app, &["rollback", "notes"]).await.ok();
    assert!(back.starts_with("notes 1.0.0 serves"), "{back}");
    let verified = &plugin(app, &["verify", "notes", "--json"]).await.json()[0];
    assert_eq!((&verified["version"], &verified["trusted"]), (&json!("1.0.0"), &json!(true)));
    assert_eq!((&verified["key"], &verified["source"]), (&json!(author.key), &json!(format!("{index}index.json"))));
    let asked = plugin(app, &["upgrade", "notes"]).await;
    assert!(asked.code == 2 && asked.err.contains("core:read"), "the rollback took the permission back: {asked:?}");
    let again = plugin(app, &["upgrade", "notes", "--yes"]).await.ok();
    assert!(again.contains("notes 1.1.0 serves"), "{again}");
}

#[tokio::test]
async fn file_is_installed_without_a_server_and_upgraded_from_another() {
    let (shelf, author) = (shelf().await, Publisher::new());
    let app = &shelf.app;
    let (first, second) = (author.publish("1.0.0", ""), author.publish("1.1.0", ""));
    let said = plugin(app, &["install", text(&first), "--key", &author.key]).await.ok();
    assert!(said.contains("was installed, signed with") && said.contains("notes 1.0.0 is enabled"), "{said}");
    life::follow_changes(&app.plugins()).await.unwrap();
    assert_eq!(shelf.serving("notes").unwrap().1, "1.0.0");

    let said = plugin(app, &["upgrade", "notes"]).await.fails(1);
    assert!(said.contains("was installed from the file") && said.contains("name the file"), "{said}");
    plugin(app, &["upgrade", "notes", text(&second)]).await.ok();
    life::follow_changes(&app.plugins()).await.unwrap();
    assert_eq!(shelf.serving("notes").unwrap().1, "1.1.0");
    admin::rollback(&app.plugins(), &model::Staff::operator(), "notes").await.unwrap();
    life::reload(&app.plugins(), "notes").await.unwrap();
    assert_eq!(shelf.serving("notes").unwrap().1, "1.0.0");

    let nothing = plugin(app, &["install", "notes"]).await.fails(2);
    assert!(nothing.contains("--from URL"), "{nothing}");
    let index = plugin(app, &["install", "https://plugins.example/index.json"]).await.fails(2);
    assert!(index.contains("install NAME --from https://plugins.example/index.json"), "{index}");
    let other = plugin(app, &["upgrade", "nots"]).await.fails(1);
    assert!(other.contains("did you mean notes?"), "{other}");
}

#[tokio::test]
async fn package_of_another_key_is_refused_until_the_admin_trusts_it() {
    let (shelf, site, author, thief) = (shelf().await, Site::start().await, Publisher::new(), Publisher::new());
    author.publish("1.0.0", "");
    author.upload(&site);
    let url = format!("{}/index.json", site.origin);
    install_from(&shelf, &url, Terms::default()).await.unwrap();

    thief.publish("2.0.0", "");
    thief.upload(&site);
    let refused = install_from(&shelf, &url, Terms::default()).await.unwrap_err();
    assert!(refused.contains("notes 2.0.0 is signed with the key") && refused.contains(&thief.key), "{refused}");
    assert_eq!(shelf.serving("notes").unwrap().1, "1.0.0");
    // Uninstalling does not reset the trusted key: the tables still exist.
    plugins::install::uninstall(&shelf.app.plugins(), &model::Staff::operator(), "notes", false).await.unwrap();
    assert!(install_from(&shelf, &url, Terms::default()).await.is_err());

    let named = |key: &str| Terms { key: Some(key.parse_key()), ..Terms::default() };
    let wrong = install_from(&shelf, &url, named(&author.key)).await.unwrap_err();
    assert!(wrong.contains("and not with"), "{wrong}");
    install_from(&shelf, &url, named(&thief.key)).await.unwrap();
    assert_eq!(shelf.serving("notes").unwrap().1, "2.0.0");
    let refused = install_from(&shelf, &url, named(&author.key)).await.unwrap_err();
    assert!(refused.contains("and not with"), "{refused}");
    let kept = &admin::find(&shelf.app.plugins(), "notes").await.unwrap().plugin;
    assert_eq!(kept.public_key.as_deref(), Some(thief.key.as_str()));
    let trail: Vec<_> = kept.installs.0.iter().map(|one| (one.version.as_str(), one.key.as_deref())).collect();
    assert_eq!(trail, [("1.0.0", Some(author.key.as_str())), ("2.0.0", Some(thief.key.as_str()))]);
}

trait ParseKey {
    fn parse_key(&self) -> ::crypto::signature::PublicKey;
}

impl ParseKey for str {
    fn parse_key(&self) -> ::crypto::signature::PublicKey {
        ::crypto::signature::PublicKey::parse(self).unwrap()
    }
}

#[tokio::test]
async fn signed_index_stays_trusted_by_its_key() {
    let (shelf, site, author, thief) = (shelf().await, Site::start().await, Publisher::new(), Publisher::new());
    let app = &shelf.app;
    let index = format!("{}/", site.origin);
    author.publish("1.0.0", "");
    author.upload_signed(&site, &author.secret());
    let install = ["install", "notes", "--from", index.as_str()];
    let asked = plugin(app, &install).await;
    let shown = format!("index    signed with {}, which was not seen before", author.key);
    assert!(asked.code == 2 && asked.err.contains(&shown), "{asked:?}");
    plugin(app, &[&install[..], &["--yes"]].concat()).await.ok();

    author.publish("1.1.0", "");
    author.upload_signed(&site, &thief.secret());
    let refused = plugin(app, &["upgrade", "notes", "--yes"]).await.fails(1);
    assert!(refused.contains("is signed with the key") && refused.contains("which is trusted for it"), "{refused}");
    site.put("/index.json.minisig", 404, "text/plain", b"");
    let refused = plugin(app, &["upgrade", "notes", "--yes"]).await.fails(1);
    assert!(refused.contains("is not signed, and was before"), "{refused}");
    author.upload_signed(&site, &author.secret());
    let text = std::fs::read(author.folder().join("index.json")).unwrap();
    let elsewhere = String::from_utf8(text).unwrap().replace("notes-1.1.0.plugin", "elsewhere.plugin");
    site.put("/index.json", 200, "application/json", elsewhere.as_bytes());
    let refused = plugin(app, &["upgrade", "notes", "--yes"]).await.fails(1);
    assert!(refused.contains("it does not fit the file"), "its target is not requested: {refused}");
    assert_eq!(lying(&shelf), ["notes-1.0.0.plugin"]);

    author.upload_signed(&site, &author.secret());
    let said = plugin(app, &["upgrade", "notes"]).await.ok();
    assert!(said.contains("notes 1.1.0"), "a trusted key needs no confirmation: {said}");
    author.publish("1.2.0", "");
    author.upload_signed(&site, &thief.secret());
    plugin(app, &["upgrade", "notes", "--index-key", &thief.key]).await.ok();
    author.publish("1.3.0", "");
    author.upload_signed(&site, &thief.secret());
    plugin(app, &["upgrade", "notes"]).await.ok();
    author.publish("1.4.0", "");
    author.upload(&site);
    site.put("/index.json.minisig", 404, "text/plain", b"");
    plugin(app, &["upgrade", "notes", "--unsigned"]).await.ok();
    assert_eq!(lying(&shelf), ["notes-1.4.0.plugin"]);
}

#[tokio::test]
async fn index_signed_before_a_used_one_is_refused() {
    let (shelf, site, author) = (shelf().await, Site::start().await, Publisher::new());
    let (app, index) = (&shelf.app, format!("{}/", site.origin));
    let signed = |comment: &str| {
        let text = std::fs::read(author.folder().join("index.json")).unwrap();
        let secret = std::fs::read_to_string(author.secret()).unwrap().into();
        let (signature, _) = ::crypto::signing::sign(&secret, None, &text, comment).unwrap();
        site.put("/index.json", 200, "application/json", &text);
        site.put("/index.json.minisig", 200, "text/plain", signature.as_str().as_bytes());
    };
    author.publish("1.0.0", "");
    author.upload_signed(&site, &author.secret());
    let said = std::fs::read_to_string(author.folder().join("index.json.minisig")).unwrap();
    assert!(said.contains("trusted comment: timestamp:") && said.contains("\tfile:index.json"), "{said}");
    signed("timestamp:1700000000\tfile:index.json");
    plugin(app, &["install", "notes", "--from", &index, "--yes"]).await.ok();

    author.publish("1.1.0", "");
    author.upload_signed(&site, &author.secret());
    signed("timestamp:1699999999\tfile:index.json\tprehashed");
    let refused = plugin(app, &["upgrade", "notes"]).await.fails(1);
    let why = "was signed on 2023-11-14T22:13:19.000Z, before the last one of 2023-11-14T22:13:20.000Z";
    assert!(refused.contains(why), "{refused}");
    signed("file:index.json");
    let refused = plugin(app, &["upgrade", "notes"]).await.fails(1);
    assert!(refused.contains("has no time of signature"), "{refused}");
    assert_eq!(lying(&shelf), ["notes-1.0.0.plugin"]);
    signed("timestamp:1700000000");
    plugin(app, &["upgrade", "notes"]).await.ok();

    author.publish("1.2.0", "");
    author.upload_signed(&site, &author.secret());
    plugin(app, &["upgrade", "notes"]).await.ok();
    author.publish("1.3.0", "");
    author.upload_signed(&site, &author.secret());
    signed("timestamp:1700000001");
    plugin(app, &["upgrade", "notes"]).await.fails(1);
    plugin(app, &["upgrade", "notes", "--downgrade"]).await.ok();
    assert_eq!(lying(&shelf), ["notes-1.3.0.plugin"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn uninstall_removes_file_and_purge_removes_every_copy() {
    let (shelf, site, author, thief) = (shelf().await, Site::start().await, Publisher::new(), Publisher::new());
    let app = &shelf.app.plugins();
    let index = format!("{}/index.json", site.origin);
    for version in ["1.0.0", "1.1.0"] {
        author.publish(version, "");
        author.upload(&site);
        install_from(&shelf, &index, Terms::default()).await.unwrap();
    }
    assert_eq!(lying(&shelf), ["notes-1.1.0.plugin"]);
    plugins::install::uninstall(app, &model::Staff::operator(), "notes", false).await.unwrap();
    assert_eq!(lying(&shelf), [""; 0]);
    let left = admin::find(app, "notes").await.unwrap();
    assert_eq!(admin::entity::Plugin::new(app, &left).state, "uninstalled");
    assert!(left.package.unwrap().is_none());
    install_from(&shelf, &index, Terms::default()).await.unwrap();
    for _ in 0..2 {
        // Twice within a second: the dumps have different files.
        plugins::install::uninstall(app, &model::Staff::operator(), "notes", true).await.unwrap();
        thief.publish("3.0.0", "");
        thief.upload(&site);
        install_from(&shelf, &index, Terms::default()).await.unwrap();
        shelf.app.app.clock.advance(chrono::Duration::milliseconds(1));
    }
    let refused = admin::rollback(app, &model::Staff::operator(), "notes").await.unwrap_err().to_string();
    assert!(refused.contains("there is no copy of a package of notes"), "{refused}");
    assert_eq!(shelf.serving("notes").unwrap().1, "3.0.0");
}

#[tokio::test]
async fn changed_byte_and_wrong_checksum_are_refused() {
    let (shelf, site, author) = (shelf().await, Site::start().await, Publisher::new());
    let file = author.publish("1.0.0", "");
    author.upload(&site);
    let whole = std::fs::read(&file).unwrap();
    let name = "/notes-1.0.0.plugin";
    let (index, url) = (format!("{}/", site.origin), format!("{}{name}", site.origin));

    // In the padding of the archive: the file differs, the package does not.
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    site.put(name, 200, "application/octet-stream", &changed);
    let refused = install_from(&shelf, &url, Terms::default()).await.unwrap_err();
    assert!(refused.contains("it does not fit the file"), "{refused}");
    let refused = install_from(&shelf, &index, Terms::default()).await.unwrap_err();
    assert!(refused.contains("and the index says"), "{refused}");

    let text = std::fs::read_to_string(author.folder().join("index.json")).unwrap();
    let sum = serde_json::from_str::<Value>(&text).unwrap()["packages"][0]["sha256"].as_str().unwrap().to_owned();
    site.put(name, 200, "text/plain", &whole);
    site.put("/index.json", 200, "application/json", text.replace(&sum, &"0".repeat(64)).as_bytes());
    let refused = install_from(&shelf, &index, Terms::default()).await.unwrap_err();
    assert!(refused.contains("and the index says 000000000000"), "{refused}");
    site.put("/index.json", 200, "application/json", text.replace("\"1.0.0\"", "\"9.0.0\"").as_bytes());
    let refused = install_from(&shelf, &index, Terms::default()).await.unwrap_err();
    assert!(refused.contains("holds notes 1.0.0, and the index says notes 9.0.0"), "{refused}");
    site.put("/index.json", 200, "application/json", b"<html>");
    let refused = install_from(&shelf, &index, Terms::default()).await.unwrap_err();
    assert!(refused.contains("it is no index of plugins"), "{refused}");

    let signature = std::fs::read_to_string(author.folder().join("notes-1.0.0.plugin.minisig")).unwrap();
    for broken in ["rubbish", &signature.replace("file:notes", "file:mates")] {
        site.put("/notes-1.0.0.plugin.minisig", 200, "text/plain", broken.as_bytes());
        let refused = install_from(&shelf, &url, Terms::default()).await.unwrap_err();
        assert!(refused.contains("not a minisign signature") || refused.contains("does not fit"), "{refused}");
    }
    let unknown = signature.replace("public key ", "somebody's key ");
    site.put("/notes-1.0.0.plugin.minisig", 200, "text/plain", unknown.as_bytes());
    let refused = install_from(&shelf, &url, Terms::default()).await.unwrap_err();
    assert!(refused.contains("name it by --key"), "{refused}");
    install_from(&shelf, &url, Terms { key: Some(author.key.parse_key()), ..Terms::default() }).await.unwrap();
    assert_eq!(shelf.serving("notes").unwrap().1, "1.0.0");
}

#[tokio::test]
async fn unsigned_package_is_accepted_where_permitted() {
    let (shelf, site, author) = (shelf().await, Site::start().await, Publisher::new());
    let app = &shelf.app;
    let file = author.publish("1.0.0", "");
    let url = site.put("/notes-1.0.0.plugin", 200, "text/plain", &std::fs::read(&file).unwrap());
    let refused = install_from(&shelf, &url, Terms::default()).await.unwrap_err();
    assert!(refused.contains("notes 1.0.0 is not signed: --unsigned accepts it"), "{refused}");

    std::fs::remove_file(file.with_extension("plugin.minisig")).unwrap();
    let said = plugin(app, &["install", text(&file), "--yes"]).await;
    assert!(said.err.contains("notes 1.0.0 is not signed: nothing says whose it is"), "{said:?}");
    assert!(said.ok().contains("was installed, without a signature"));
    let unsigned = plugin(app, &["verify", "notes"]).await.fails(1);
    assert!(unsigned.contains("notes 1.0.0 is not signed: its digest is "), "{unsigned}");

    let signed = author.publish("1.1.0", "");
    plugin(app, &["upgrade", "notes", text(&signed), "--yes"]).await.ok();
    let later = author.publish("1.2.0", "");
    std::fs::remove_file(later.with_extension("plugin.minisig")).unwrap();
    let refused = plugin(app, &["upgrade", "notes", text(&later)]).await.fails(1);
    assert!(refused.contains("earlier packages were"), "{refused}");
    plugin(app, &["upgrade", "notes", text(&later), "--unsigned"]).await.ok();
    assert_eq!(admin::find(&app.plugins(), "notes").await.unwrap().plugin.version.as_deref(), Some("1.2.0"));
}

#[tokio::test]
async fn older_version_is_refused_unless_requested() {
    let (shelf, author) = (shelf().await, Publisher::new());
    let app = &shelf.app;
    let (old, new) = (author.publish("1.9.0", ""), author.publish("1.10.0", ""));
    plugin(app, &["install", text(&new), "--yes"]).await.ok();
    let refused = plugin(app, &["install", text(&old)]).await.fails(1);
    assert!(refused.contains("notes 1.9.0 is older than 1.10.0, which is installed: --downgrade"), "{refused}");
    assert_eq!(lying(&shelf), ["notes-1.10.0.plugin"]);
    plugin(app, &["install", text(&old), "--downgrade"]).await.ok();
    life::follow_changes(&app.plugins()).await.unwrap();
    assert_eq!(shelf.serving("notes").unwrap().1, "1.9.0");

    // With several versions in the folder, the accepted one is loaded and the highest one waits.
    for file in [&old, &new] {
        std::fs::copy(file, shelf.folder(&format!("copied-{}", text(Path::new(file.file_name().unwrap()))))).unwrap();
    }
    life::reload(&app.plugins(), "notes").await.unwrap();
    assert_eq!(shelf.serving("notes").unwrap().1, "1.9.0");
    let known = admin::find(&app.plugins(), "notes").await.unwrap();
    assert_eq!(known.waiting.unwrap().manifest.plugin.version, "1.10.0");
    admin::accept(&app.plugins(), &model::Staff::operator(), "notes").await.unwrap();
    life::reload(&app.plugins(), "notes").await.unwrap();
    assert_eq!(shelf.serving("notes").unwrap().1, "1.10.0");
}

#[tokio::test]
async fn package_that_cannot_be_loaded_leaves_nothing_behind() {
    let keys = [OWN[1], OWN[2], ("ROOKERY_PLUGINS_MEMORY_LIMIT_BYTES", "8388608")];
    let (shelf, author) = (Shelf::with(&keys[1..]).await, Publisher::new());
    let app = &shelf.app;
    let broken = author.publish("1.0.0", "[limits]\nmemory = \"32MiB\"\n");
    let refused = app.run_set(&keys, &["plugin", "install", text(&broken), "--yes"]).await;
    assert!(refused.code == 1 && refused.err.contains("memory"), "{refused:?}");
    assert_eq!(lying(&shelf), Vec::<String>::new());
    let none = plugin(app, &["inspect", "notes"]).await.fails(1);
    assert!(none.contains("there is no plugin \"notes\""), "{none}");
}

#[tokio::test]
async fn download_ends_at_the_bounds_of_size_and_time() {
    let keys = [OWN[2], ("ROOKERY_PLUGINS_DOWNLOAD_TIMEOUT_SECONDS", "1")];
    let (shelf, site) = (Shelf::with(&keys).await, Site::start().await);
    let endless = endless("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n").await;
    let silent = endless_silence().await;
    let mut refusals = Vec::new();
    for url in [&endless, &silent, &format!("{}/gone", site.origin), "http://192.0.2.1"] {
        for path in ["/notes-1.0.0.plugin", "/index.json"] {
            let refused = install_from(&shelf, &format!("{url}{path}"), Terms::default()).await.unwrap_err();
            refusals.push(refused.split_once(": ").unwrap().1.to_owned());
        }
    }
    assert!(refusals[..2].iter().all(|said| said.contains("larger than allowed")), "{refusals:?}");
    assert!(refusals[2..4].iter().all(|said| said.contains("plugins.download_timeout_seconds")), "{refusals:?}");
    assert!(refusals[4..6].iter().all(|said| said == "answered with status 404"), "{refusals:?}");
    assert!(refusals[6..].iter().all(|said| said.contains("federation.allow_private_addresses")), "{refusals:?}");

    let closed = Shelf::new().await;
    let refused = install_from(&closed, &format!("{}/a.plugin", site.origin), Terms::default()).await.unwrap_err();
    assert!(refused.contains("the address is not public"), "{refused}");
}

/// A server that sends `head` and then an endless body.
async fn endless(head: &'static str) -> String {
    use tokio::io::AsyncWriteExt as _;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let part = vec![0; 1 << 20];
                let mut sent = stream.write_all(head.as_bytes()).await;
                while sent.is_ok() {
                    sent = stream.write_all(&part).await;
                }
            });
        }
    });
    origin
}

/// A server that accepts connections and sends nothing.
async fn endless_silence() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            held.push(stream);
        }
    });
    origin
}

#[tokio::test]
async fn admin_api_installs_accepted_package() {
    let (shelf, site, author) = (shelf().await, Site::start().await, Publisher::new());
    let app = &shelf.app;
    let [owner] = app.accounts(["owner"]).await;
    app.run(&["user", "set-role", "owner", "Owner"]).await.ok();
    let manager = owner.with_scopes("admin:read admin:write").await;
    author.publish("1.0.0", MORE);
    author.upload(&site);
    let install = "/api/admin/plugins/notes/install";
    let from = json!({ "from": format!("{}/", site.origin) });

    owner.post(install).json(&from).fails(403).await;
    let asked = manager.post(install).json(&from).fails(422).await;
    assert!(asked.contains("asks for core:read") && asked.contains(&author.key), "{asked}");
    let review = manager.post("/api/admin/plugins/notes/review").json(&from).ok().await;
    assert_eq!((&review["trust"], &review["missing"]), (&json!("new"), &json!(["core:read"])));
    assert_eq!(lying(&shelf), Vec::<String>::new());
    let other = json!({ "from": from["from"], "digest": "0".repeat(64) });
    assert!(manager.post(install).json(&other).fails(422).await.contains("replaced meanwhile"));
    let agreed = json!({ "from": from["from"], "digest": review["digest"] });
    let detail = manager.post(install).json(&agreed).ok().await;
    assert_eq!((&detail["state"], &detail["granted"]), (&json!("active"), &json!(["core:read"])));
    let verified = manager.get("/api/admin/plugins/notes/verify").ok().await;
    assert_eq!((&verified["trusted"], &verified["key"]), (&json!(true), &json!(author.key)));

    author.publish("1.0.1", MORE);
    author.upload(&site);
    let detail = manager.post(install).ok().await;
    assert_eq!(detail["version"], "1.0.1", "from its origin, and nothing to accept");
    let file = json!({ "from": "/etc/passwd" });
    assert!(manager.post(install).json(&file).fails(422).await.contains("is not a URL"));
    let wrong = json!({ "from": from["from"], "key": "RW" });
    assert!(manager.post(install).json(&wrong).fails(422).await.contains("it is no public key"));
    let elsewhere = manager.post("/api/admin/plugins/mates/review").json(&from).fails(422).await;
    assert!(elsewhere.contains("the index has no plugin \"mates\""), "{elsewhere}");
}

#[test]
fn packages_are_signed_and_indexed_without_keys_in_them() {
    use std::os::unix::fs::PermissionsExt as _;
    let author = Publisher::new();
    let file = author.publish("1.0.0", MORE);
    let project = author.folder().parent().unwrap().join("notes");
    run(&project, &["keygen"]);
    let mode = std::fs::metadata(project.join("minisign.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let keys = std::fs::read(project.join("minisign.key")).unwrap();
    run(&project, &["pack", "--key", "minisign.key"]);
    let packed = std::fs::read(project.join("notes-1.0.0.plugin")).unwrap();
    assert_eq!(packed, std::fs::read(&file).unwrap(), "neither keys nor signatures are in it");
    assert!(project.join("notes-1.0.0.plugin.minisig").exists());
    run(&project, &["pack"]);
    assert!(!project.join("notes-1.0.0.plugin.minisig").exists(), "no signature of an earlier file stays");
    run(&project, &["sign", "notes-1.0.0.plugin", "--key", "minisign.key"]);
    assert!(project.join("notes-1.0.0.plugin.minisig").exists());
    let again = std::process::Command::new(env!("CARGO_BIN_EXE_rookery"))
        .args(["plugin", "keygen"])
        .current_dir(&project)
        .output()
        .unwrap();
    assert!(!again.status.success(), "a key is never overwritten");
    assert_eq!(std::fs::read(project.join("minisign.key")).unwrap(), keys);

    run(&author.folder(), &["index"]);
    let first = std::fs::read_to_string(author.folder().join("index.json")).unwrap();
    run(&author.folder(), &["index"]);
    assert_eq!(std::fs::read_to_string(author.folder().join("index.json")).unwrap(), first);
    let index: Value = serde_json::from_str(&first).unwrap();
    let entry = &index["packages"][0];
    assert_eq!(index["format"], "rookery-plugins/1");
    for (member, wanted) in [
        ("name", json!("notes")),
        ("version", json!("1.0.0")),
        ("api", json!("0.1")),
        ("file", json!("notes-1.0.0.plugin")),
        ("size_bytes", json!(packed.len())),
        ("permissions", json!(["core:read"])),
        ("key", json!(author.key)),
    ] {
        assert_eq!(entry[member], wanted, "{member}");
    }
}
