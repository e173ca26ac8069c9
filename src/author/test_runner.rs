//! Runs one test case of `rookery plugin test` on its own server. The file format is documented in
//! [`test_file`](super::test_file).

use std::collections::BTreeMap;

use axum::http::Method;
use chrono::{DateTime, Utc};
use rookery_plugin_host::Part;
use rookery_plugin_host::imports::types::{CallContext, Caller};
use serde_json::{Map, Value, json};
use url::form_urlencoded::Serializer;

use super::project::Project;
use super::test_file::{Case, Step, Suite};
use super::test_server::{Sent, Stage, TestResponse};
use model::clock::Clock;
use plugin_package::{Package, manifest};
use terminal::Failure;

/// The fixed time at which every test starts: 2026-01-15 12:00 UTC.
const NOON: DateTime<Utc> = DateTime::from_timestamp(1_768_478_400, 0).expect("within range");

/// Why a case failed, with the plugin's log.
#[derive(Debug)]
pub(crate) struct CaseFailure {
    pub(crate) what: String,
    pub(crate) story: String,
}

/// Runs a case from an empty server to its last step.
pub(crate) async fn case(project: &Project, package: &Package, suite: &Suite, case: &Case) -> Result<(), CaseFailure> {
    let early = |failure: Failure| CaseFailure { what: failure.text().to_owned(), story: String::new() };
    let (stage, mut names) = begin(project, package, suite).await.map_err(early)?;
    let mut done = Ok(());
    for (number, step) in case.steps.iter().enumerate() {
        done = self::step(&stage, step, &mut names).await;
        if let Err(failure) = &done {
            done = Err(Failure::new(format!("step {}: {}", number + 1, failure.text())));
            break;
        }
    }
    let done = done.map_err(|failure| CaseFailure { what: failure.text().to_owned(), story: stage.story() });
    stage.close().await;
    done
}

/// A server with the plugin and the fixtures of the file, and the variables that its strings may use.
pub(crate) async fn begin(
    project: &Project,
    package: &Package,
    suite: &Suite,
) -> Result<(Stage, BTreeMap<String, String>), Failure> {
    let mut stage = Stage::open(project, Clock::fixed(NOON), &[]).await?;
    stage.load(package).await?;
    if !suite.config.is_empty() {
        stage.configure(&suite.config).await?;
    }
    let mut names = BTreeMap::new();
    for account in &suite.accounts {
        stage.account(&account.name).await?;
        names.insert(account.name.clone(), stage.person(&account.name)?.0.to_string());
    }
    for follow in &suite.follows {
        let path = format!("/api/v1/accounts/{}/follow", stage.person(&follow.target)?.0);
        post(&stage, &follow.account, &path, &Value::Null).await?;
    }
    for status in &suite.statuses {
        stage.cx.clock.advance(chrono::Duration::seconds(1));
        let reply = status.in_reply_to.as_ref().and_then(|id| names.get(id));
        let body = json!({ "status": status.text, "visibility": status.visibility, "in_reply_to_id": reply });
        let made = post(&stage, &status.account, "/api/v1/statuses", &body).await?;
        names.insert(status.id.clone(), made["id"].as_str().unwrap_or_default().to_owned());
    }
    stage.settle().await?;
    Ok((stage, names))
}

async fn post(stage: &Stage, account: &str, path: &str, body: &Value) -> Result<Value, Failure> {
    let sent = Sent {
        method: Method::POST,
        path: path.to_owned(),
        token: Some(stage.person(account)?.1.clone()),
        headers: Vec::new(),
        content_type: "application/json",
        body: if body.is_null() { Vec::new() } else { body.to_string().into_bytes() },
    };
    let answer = stage.send(&sent).await?;
    if answer.status >= 400 {
        return Err(Failure::new(format!("POST {path}: answered {} {}", answer.status, answer.json())));
    }
    Ok(answer.json())
}

async fn step(stage: &Stage, step: &Step, names: &mut BTreeMap<String, String>) -> Result<(), Failure> {
    if let Some(text) = &step.advance {
        let by = manifest::duration(text)
            .ok_or_else(|| Failure::usage(format!("advance: {text} is no duration: 10m, 2s, 1h")))?;
        stage.cx.clock.advance(chrono::Duration::from_std(by).map_err(Failure::new)?);
    } else if let Some(name) = &step.command {
        let answer = command(stage, name, step.args.as_ref()).await?;
        if let Some(expected) = &step.expect {
            matches(&filled(expected, names), &answer, "").map_err(Failure::new)?;
        }
    } else if let Some(members) = &step.settings {
        let name = step.account.as_deref().ok_or_else(|| Failure::usage("settings: say whose, with as"))?;
        let Value::Object(members) = filled(&Value::Object(members.clone()), names) else { return Ok(()) };
        stage.set_settings(stage.person(name)?.0, &members).await?;
    } else {
        let sent = request(stage, step, names).await?;
        let answer = stage.send(&sent).await?;
        compare(step, &sent, &answer, names)?;
    }
    stage.settle().await
}

/// Runs a plugin command as an admin, all steps of it; returns the answer to the last.
async fn command(stage: &Stage, name: &str, args: Option<&Value>) -> Result<Value, Failure> {
    let mut args = args.cloned().unwrap_or_else(|| json!({}));
    loop {
        let mut answer = command_step(stage, name, &args).await?;
        match plugins::admin::next_step(&mut answer) {
            Some(next) => args = next,
            None => return Ok(answer),
        }
    }
}

async fn command_step(stage: &Stage, name: &str, args: &Value) -> Result<Value, Failure> {
    let registry = stage.cx.registry();
    let active = registry.find(&stage.name).ok_or_else(|| Failure::new("the plugin does not serve"))?;
    let caller = Caller { account: None, token: None, scopes: Vec::new(), role: 3, locale: "en".into(), app: None };
    let ctx = CallContext { request_id: "test".into(), caller, budget_ms: 5_000 };
    let host = plugins::call::Call::new(
        &stage.cx,
        active,
        Part::Jobs,
        plugins::call::Caller::system(),
        plugins::call::Mode::Ambient,
    );
    let answer = active.component.command(host.clone(), ctx, name, args.to_string()).await;
    let answer = answer.map_err(|error| Failure::new(format!("command {name}: {}", error.message)))?;
    host.commit().await?;
    serde_json::from_str(&answer).map_err(Failure::new)
}

/// Builds the request of a step.
pub(crate) async fn request(stage: &Stage, step: &Step, names: &BTreeMap<String, String>) -> Result<Sent, Failure> {
    let methods = [
        (Method::GET, &step.get),
        (Method::POST, &step.post),
        (Method::PUT, &step.put),
        (Method::PATCH, &step.patch),
        (Method::DELETE, &step.delete),
    ];
    let found = methods.into_iter().find_map(|(method, path)| Some((method, path.as_ref()?)));
    let (method, path) = found
        .ok_or_else(|| Failure::usage("a step has get, post, put, patch, delete, settings, advance or command"))?;
    let token = match (&step.account, &step.scopes) {
        (None, None) => None,
        (None, Some(scopes)) => Some(stage.token(None, scopes).await?),
        (Some(name), None) => Some(stage.person(name)?.1.clone()),
        (Some(name), Some(scopes)) => Some(stage.token(Some(stage.person(name)?.0), scopes).await?),
    };
    let (content_type, body) = match (&step.form, &step.json) {
        (Some(form), _) => ("application/x-www-form-urlencoded", form_of(form, names)),
        (None, Some(json)) => ("application/json", filled(json, names).to_string()),
        (None, None) => ("", String::new()),
    };
    let headers = step.send_headers.iter().map(|(name, value)| (name.clone(), text(value, names))).collect();
    Ok(Sent { method, path: fill(path, names), token, headers, content_type, body: body.into_bytes() })
}

fn form_of(form: &Map<String, Value>, names: &BTreeMap<String, String>) -> String {
    let mut pairs = Serializer::new(String::new());
    for (name, value) in form {
        match value {
            Value::Array(list) => {
                for value in list {
                    pairs.append_pair(&format!("{name}[]"), &text(value, names));
                }
            }
            value => drop(pairs.append_pair(name, &text(value, names))),
        }
    }
    pairs.finish()
}

fn text(value: &Value, names: &BTreeMap<String, String>) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| fill(text, names))
}

/// Replaces `{name}` in a string.
fn fill(text: &str, names: &BTreeMap<String, String>) -> String {
    names.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

/// Replaces `{name}` in every string of a JSON value.
fn filled(value: &Value, names: &BTreeMap<String, String>) -> Value {
    match value {
        Value::String(text) => fill(text, names).into(),
        Value::Array(list) => list.iter().map(|value| filled(value, names)).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(name, value)| (name.clone(), filled(value, names))).collect())
        }
        other => other.clone(),
    }
}

/// Compares a response with the expectations of a step, and stores the variables of `save`.
fn compare(
    step: &Step,
    sent: &Sent,
    answer: &TestResponse,
    names: &mut BTreeMap<String, String>,
) -> Result<(), Failure> {
    let wrong = |what: String| Failure::new(format!("{} {}: {what}", sent.method, sent.path));
    let (wanted, json) = (step.status.unwrap_or(200), answer.json());
    if answer.status != wanted {
        return Err(wrong(format!("answered {} instead of {wanted}: {json}", answer.status)));
    }
    if let Some(expected) = &step.expect {
        matches(&filled(expected, names), &json, "")
            .map_err(|what| wrong(format!("{what}; the whole answer: {json}")))?;
    }
    for (name, part) in &step.headers {
        let part = text(part, names);
        let sent = answer.headers.iter().filter(|(sent, _)| sent.eq_ignore_ascii_case(name));
        if !sent.clone().any(|(_, value)| value.contains(&part)) {
            let values: Vec<&str> = sent.map(|(_, value)| value.as_str()).collect();
            return Err(wrong(format!("the header {name} is {values:?} and lacks {part:?}")));
        }
    }
    for (name, pointer) in &step.save {
        let found =
            json.pointer(pointer).ok_or_else(|| wrong(format!("there is nothing at {pointer} to save: {json}")))?;
        names.insert(name.clone(), text(found, &BTreeMap::new()));
    }
    Ok(())
}

/// Checks that `actual` contains everything in `expected`; lists must have equal length. `at` is the JSON path.
fn matches(expected: &Value, actual: &Value, at: &str) -> Result<(), String> {
    let place = if at.is_empty() { "the answer" } else { at };
    match (expected, actual) {
        (Value::String(any), _) if any == "{any}" => Ok(()),
        (Value::Object(expected), Value::Object(actual)) => expected.iter().try_for_each(|(name, expected)| {
            let inside = actual.get(name).ok_or_else(|| format!("{place} has no {name}"))?;
            matches(expected, inside, &format!("{at}/{name}"))
        }),
        (Value::Array(expected), Value::Array(actual)) if expected.len() == actual.len() => {
            let pairs = expected.iter().zip(actual).enumerate();
            pairs
                .into_iter()
                .try_for_each(|(index, (expected, actual))| matches(expected, actual, &format!("{at}/{index}")))
        }
        (Value::Array(expected), Value::Array(actual)) => {
            Err(format!("{place} has {} members instead of {}", actual.len(), expected.len()))
        }
        (expected, actual) if expected == actual => Ok(()),
        _ => Err(format!("{place} is {actual} instead of {expected}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_is_compared_and_difference_is_named() {
        let answer = json!({ "id": "1", "list": [{ "a": 1, "b": 2 }], "n": null });
        let fits = |expected: Value| matches(&expected, &answer, "");
        assert_eq!(fits(json!({ "id": "{any}", "list": [{ "a": 1 }] })), Ok(()));
        assert_eq!(fits(json!({ "list": [] })), Err("/list has 1 members instead of 0".into()));
        assert_eq!(fits(json!({ "list": [{ "a": 2 }] })), Err("/list/0/a is 1 instead of 2".into()));
        assert_eq!(fits(json!({ "x": 1 })), Err("the answer has no x".into()));
    }

    #[test]
    fn names_stand_for_ids() {
        let names = BTreeMap::from([("bob".to_owned(), "7".to_owned())]);
        assert_eq!(fill("/api/v1/notes/{bob}", &names), "/api/v1/notes/7");
        let form = json!({ "ids": ["{bob}", 8], "text": "a b" });
        assert_eq!(form_of(form.as_object().unwrap(), &names), "ids%5B%5D=7&ids%5B%5D=8&text=a+b");
    }
}
