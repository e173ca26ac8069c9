//! Records requests, and returns responses on command: tests use it for the server's work around a plugin.

#![cfg_attr(not(target_family = "wasm"), allow(dead_code, reason = "called by the sandbox alone"))]

use rookery_plugin::contract::routes::{Body, Request};
use rookery_plugin::pages::{
    self, Bars, Field, Figure, Figures, Form, Item, Items, People, Picture, Statuses, Submission, View,
};
use rookery_plugin::prelude::*;
use rookery_plugin::sql::{Query, Value as SqlValue};
use rookery_plugin::{Package, Plugin};
use serde_json::Value;
use serde_json::value::RawValue;

struct Mirror;

/// Requests of this instance: more than one means that it was used again.
static SERVED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

impl Plugin for Mirror {
    const PACKAGE: Package = Package {
        manifest: include_str!("../plugin.toml"),
        statements: include_str!("../sql/queries.sql"),
        migrations: &[("0001_kept.sql", include_str!("../migrations/0001_kept.sql"))],
        schemas: ("", ""),
    };

    fn route(request: Request) -> Result<Output> {
        match request.route.as_str() {
            "answer" => answer(&request),
            "keep" => keep(&request),
            "page" => echo(&request)?.with_links_of(&request),
            _ => echo(&request),
        }
    }

    fn sign_up_judge(_: &Context, sign_up: &SignUp) -> Result<Option<Admission>> {
        told_by(sign_up, "judge")
    }

    /// Counts first, so that a test sees the rollback.
    fn sign_up_claim(_: &Context, sign_up: &SignUp, account: Id) -> Result<Option<Admission>> {
        Query::new("keep", vec![SqlValue::Integer(account.0), SqlValue::Integer(1)]).exec()?;
        told_by(sign_up, "claim")
    }

    fn page(ctx: &Context, request: &pages::Request) -> Result<View> {
        if request.page == "window" { window(ctx, request) } else { hall(ctx, request) }
    }

    /// Stores a row, and then follows the command.
    fn submit(ctx: &Context, _: &pages::Request, sent: &Submission) -> Result<pages::Outcome> {
        Query::new("keep", vec![SqlValue::Integer(ctx.account().0), SqlValue::Integer(2)]).exec()?;
        match sent.text("say") {
            "trap" => std::process::abort(),
            "refuse" => Err(Error::forbidden("not today")),
            "mistake" => Query::new("nowhere", Vec::new()).exec().map(|_| pages::Outcome::notice("kept")),
            "wrong" => Ok(pages::Outcome::wrong("", "The mirror is dim.")),
            "away" => Ok(pages::Outcome::notice_at("gone", "https://evil.test/")),
            "elsewhere" => Ok(pages::Outcome::notice_at("here", "/about?x=1")),
            _ => Ok(pages::Outcome::notice(format!("{:?} {:?}", sent.form, sent.item))),
        }
    }
}

/// The content of a page, by its parameter.
fn hall(ctx: &Context, request: &pages::Request) -> Result<View> {
    let form = Form::new("speak", "Speak").field(Field::text("say", "Say", 20).required());
    let view = View::new("Mirror <1>").text(format!("{} {:?}", ctx.caller().locale, request.after));
    match request.param("wing").unwrap_or_default() {
        "" => Ok(view.form(form).items(Items::new("", [Item::new(7, "<i>x</i>").action("wipe", "Wipe", false)]))),
        "away" => Ok(view.items(Items::new("", [Item::new(1, "x").link("https://evil.test/")]))),
        "twice" => Ok(view.form(form.clone()).form(form)),
        "many" => Ok(view.items(Items::new("", (0..2_000).map(|id| Item::new(id, "x"))))),
        "gallery" => Ok(gallery(view, request)),
        "frames" => Ok((0..5).fold(view, |view, id| view.picture(Picture::new(format!("p{id}"), "x", "")))),
        "unframed" => Ok(view.picture(Picture::new("../x", "x", ""))),
        "crowded" => Ok(view.picture(Picture::new("x", "x", "").figures((0..5).map(|_| Figure::new("1", "x"))))),
        "crowd" => Ok(view.people(People::new((0..101).map(|id| (Id(id), ""))))),
        "trap" => std::process::abort(),
        "mistake" => Query::new("nowhere", Vec::new()).exec().map(|_| view),
        "more" => Ok(view.with_next(Some("a&b=c".to_owned()))),
        wing => Err(Error::with_code(404, "mirror.no-wing", format!("no wing {wing}"))),
    }
}

/// The content of the page for anyone, by its parameter.
fn window(ctx: &Context, request: &pages::Request) -> Result<View> {
    let view = View::new("Mirror <1>").text(ctx.caller().account.map_or("a stranger", |_| "a person"));
    match request.param("pane").unwrap_or_default() {
        "shared" => {
            let ids = named(request);
            let people = People::new(ids.iter().map(|id| (*id, "")));
            Ok(view.statuses(Statuses::new(ids.iter().map(|id| ("Best of all", *id)))).people(people))
        }
        "form" => Ok(view.form(Form::new("speak", "Speak").field(Field::text("say", "Say", 20)))),
        "poster" => Ok(view.picture(Picture::new("poster", "x", ""))),
        "button" => Ok(view.items(Items::new("", [Item::new(7, "x").action("wipe", "Wipe", false)]))),
        "trap" => std::process::abort(),
        _ => Err(Error::NotFound),
    }
}

/// The ids that `after` lists.
fn named(request: &pages::Request) -> Vec<Id> {
    let ids = request.after.as_deref().unwrap_or_default().split(',').filter_map(|id| id.parse().ok());
    ids.map(Id).collect()
}

/// A block of each kind, with the statuses and accounts whose ids `after` lists.
fn gallery(view: View, request: &pages::Request) -> View {
    let ids = named(request);
    let months = || Bars::new([("J<1>", 5), ("F", 20), ("M", 0)]);
    let picture =
        Picture::new("poster", "<Gallery>", "a \"poster\"").lead("of all").bars(months()).words(["#x".to_owned()]);
    view.figures(Figures::new([Figure::new("1,204", "<b>posts</b>")]).titled("Figures <1>"))
        .bars(months().upright().titled("Columns"))
        .bars(months().titled("Rows"))
        .statuses(Statuses::new(ids.iter().map(|id| ("Best of all", *id))).titled("Statuses"))
        .people(People::new(ids.iter().map(|id| (*id, "<i>7</i> times"))).titled("People"))
        .picture(picture.figures([Figure::new("1,204", "posts")]))
}

/// The command in a sign-up's parameter for a moment: `claim-trap`, or a word for both moments.
fn told_by(sign_up: &SignUp, moment: &str) -> Result<Option<Admission>> {
    let told: String = sign_up.param("mirror_code")?.unwrap_or_default();
    let admission = Admission { opens: true, approves: true, invited_by: None };
    Ok(match told.strip_prefix(moment).unwrap_or(&told) {
        "-trap" => std::process::abort(),
        "-fail" => return Err(Error::invalid("no")),
        "-nothing" | "nothing" => None,
        "opens" => Some(Admission { approves: false, ..admission }),
        "approves" => Some(Admission { opens: false, ..admission }),
        "stranger" => Some(Admission { invited_by: Some(1), ..admission }),
        _ => Some(admission),
    })
}

rookery_plugin::export!(Mirror: routes, sign_up, pages);

/// The request as the plugin receives it.
fn echo(request: &Request) -> Result<Output> {
    let body = match &request.body {
        Body::None => Value::Null,
        Body::Json(text) => serde_json::from_str(text)?,
        Body::Form(pairs) => json!(pairs),
        Body::Bytes(bytes) => json!(bytes.len()),
    };
    let page = request.page.map(|page| json!([page.max_id, page.since_id, page.min_id, page.limit]));
    let caller = &request.ctx.caller;
    let served = SERVED.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
    Output::json(&json!({
        "route": request.route, "method": request.method, "path": request.path, "params": request.params,
        "query": request.query, "headers": request.headers, "body": body, "page": page, "served": served,
        "caller": {
            "account": caller.account.map(|id| id.to_string()), "scopes": caller.scopes, "role": caller.role,
            "locale": caller.locale, "app": caller.app,
        },
    }))
}

trait Linked: Sized {
    fn with_links_of(self, request: &Request) -> Result<Self>;
}

impl Linked for Output {
    fn with_links_of(self, request: &Request) -> Result<Self> {
        let limit = request.page.map(|page| i64::from(page.limit)).unwrap_or_default();
        Ok(self.with_links(Some(100 - limit), Some(100)))
    }
}

/// What to answer.
#[derive(Deserialize)]
struct Told {
    #[serde(default = "Told::usual")]
    status: u16,
    #[serde(default)]
    headers: Vec<(String, String)>,
    json: Option<String>,
    template: Option<String>,
    shown: Option<i64>,
    statuses: Option<Vec<i64>>,
    account: Option<i64>,
    accounts: Option<Vec<i64>>,
    bytes: Option<(String, String)>,
    error: Option<(u16, String, String)>,
    #[serde(default)]
    trap: bool,
    #[serde(default)]
    spin: bool,
    /// Computes for so many rounds first, each of a few nanoseconds.
    #[serde(default)]
    rounds: u64,
}

impl Told {
    fn usual() -> u16 {
        200
    }
}

fn answer(request: &Request) -> Result<Output> {
    let Body::Json(text) = &request.body else { return Err(Error::bad_request("tell me what to answer")) };
    let told: Told = serde_json::from_str(text)?;
    if told.trap {
        std::process::abort();
    }
    while std::hint::black_box(told.spin) {
        std::hint::black_box(());
    }
    for _ in 0..told.rounds {
        std::hint::black_box(());
    }
    if let Some((status, code, message)) = told.error {
        return Err(Error::with_code(status, code, message));
    }
    let raw = |text: String| Ok::<_, Error>(RawValue::from_string(text)?);
    let output = match told {
        Told { json: Some(text), .. } => Output::json(&raw(text)?)?,
        Told { template: Some(text), .. } => Output::template(&raw(text)?)?,
        Told { shown: Some(id), .. } => Output::status(id)?,
        Told { statuses: Some(ids), .. } => Output::statuses(ids)?,
        Told { account: Some(id), .. } => Output::account(id)?,
        Told { accounts: Some(ids), .. } => Output::accounts(ids)?,
        Told { bytes: Some((kind, text)), .. } => Output::bytes(&kind, text.into_bytes())?,
        _ => Output::empty()?,
    };
    let output = told.headers.iter().fold(output, |output, (name, value)| output.with_header(name, value));
    Ok(output.with_status(told.status))
}

/// Stores a status, and then follows the command.
fn keep(request: &Request) -> Result<Output> {
    let account = request.ctx.caller.account.ok_or(Error::NotFound)?;
    let status: i64 = request.params.iter().find_map(|(_, value)| value.parse().ok()).ok_or(Error::NotFound)?;
    Query::new("keep", vec![SqlValue::Integer(account), SqlValue::Integer(status)]).exec()?;
    if matches!(request.body, Body::None) { Output::empty() } else { answer(request) }
}
