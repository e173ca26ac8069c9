//! Running a command of a plugin.

use rookery_plugin_host::Part;
use rookery_plugin_host::imports::types::{CallContext, Caller as CallerRecord};
use serde_json::{Value, json};

use crate::call::{Call, Caller, Mode};
use crate::life::desired;
use crate::{Active, Cx};
use config::nearest;
use context::error::{Error, Result};
use model::{Staff, boxed};
use service::audit::{self, Entry, Target};

/// Logs the run of a command, unless `args` are those of a further step. The arguments are not logged: they may be
/// private.
async fn log(cx: &Cx, staff: &Staff, name: &str, command: &str, args: &Value) -> Result<()> {
    if cx.plugins.steps.take(name, command, args) {
        return Ok(());
    }
    let plugin = desired::find(cx, name).await?;
    let entry = Entry::new("plugin.run", Target::new("plugin", plugin.id, name));
    let mut tx = cx.db.begin().await?;
    audit::record(cx, &mut tx, staff, entry.with(json!({ "command": command }))).await?;
    Ok(tx.commit().await?)
}

/// Runs a command that the plugin's manifest declares, or the step of it that `args` stand for, in a transaction of its
/// own. There is more to do while the answer has a [`next_step`].
///
/// # Errors
/// [`Error::Invalid`] for a plugin that is not active here, an unknown command, or an error of the plugin's own.
#[boxed]
pub async fn run(cx: &Cx, staff: &Staff, name: &str, command: &str, args: &Value) -> Result<Value> {
    let registry = cx.plugins.latest();
    let active =
        registry.find(name).ok_or_else(|| Error::invalid(format!("the plugin {name} is not active on this node")))?;
    let commands = &active.manifest.commands;
    if !commands.iter().any(|known| known.name == command) {
        let known = commands.iter().map(|known| known.name.clone());
        let hint = nearest(command, known).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        return Err(Error::invalid(format!("{name} has no command {command:?}{hint}")));
    }
    cx.plugins.pauses.check(active).map_err(|busy| Error::invalid(format!("{name}: {}", busy.message)))?;
    log(cx, staff, name, command, args).await?;
    let call = Call::new(cx, active, Part::Jobs, Caller::system(), Mode::Ambient);
    let context = context(active);
    let answer = active.component.command(call.clone(), context, command, args.to_string()).await;
    let answer = answer.map_err(|error| {
        if error.failure.is_none() {
            cx.plugins.report(active, "command", command, &error);
        }
        Error::invalid(error.failure.map_or(error.message, |failure| failure.message))
    })?;
    let answer: Value = serde_json::from_str(&answer)
        .map_err(|error| Error::invalid(format!("{name} returned invalid JSON: {error}")))?;
    call.commit().await?;
    if let Some(next) = answer.get("continue") {
        cx.plugins.steps.expect(name, command, next);
    }
    Ok(answer)
}

/// Takes the arguments of a command's next step from the answer to the one before; `None` when that was the last
/// (contract: interface `admin`).
pub fn next_step(answer: &mut Value) -> Option<Value> {
    answer.as_object_mut()?.remove("continue")
}

/// The call context of an admin, without identifying them to the plugin.
fn context(active: &Active) -> CallContext {
    const ADMIN: u8 = 3;
    CallContext {
        request_id: String::new(),
        caller: CallerRecord {
            account: None,
            token: None,
            scopes: Vec::new(),
            role: ADMIN,
            locale: String::new(),
            app: None,
        },
        budget_ms: u32::try_from(active.limits.host.route_wall.as_millis()).unwrap_or(u32::MAX),
    }
}
