//! Rolling back to the package that served before.

use crate::Cx;
use crate::admin::installed::discover;
use crate::error::of_fault;
use crate::life::desired::{self, Logged};
use crate::life::pipeline;
use crate::life::source;
use context::error::{Error, Result};
use model::Staff;
use plugin_package::package;
use serde_json::json;
use store::plugin::Plugin;

/// Rolls back to the package that was active before the desired one, after a dry run: by the plugin's history, else, when it
/// was uninstalled meanwhile, to the newest copy that is left of it.
///
/// # Errors
/// [`Error::Invalid`] when there is no such package, its copy is gone, or it cannot be loaded: nothing changed then.
pub async fn rollback(cx: &Cx, staff: &Staff, name: &str) -> Result<Plugin> {
    let plugin = desired::find(cx, name).await?;
    let serving = cx.plugins.latest().find(name).map(|active| active.digest.clone());
    let packages = discover(cx).await?;
    let chosen = source::choose(cx, &plugin, &packages).await.ok().flatten().map(|package| package.digest);
    let now = serving.or(chosen).or_else(|| plugin.sha256.clone());
    let folder = cx.config.plugins.cache_dir.join("packages");
    let copies = package::kept_digests(&folder, name);
    let known = plugin.approved.0.iter().rev().chain(&copies);
    for digest in known.filter(|digest| Some(*digest) != now.as_ref()) {
        if let Some(package) = package::find_rollback_copy(&folder, name, digest).map_err(|fault| of_fault(&fault))? {
            let back = |plugin: &mut Plugin| -> Result<()> {
                desired::go_back(plugin, &package, now.clone());
                plugin.quarantined_at = None;
                Ok(())
            };
            let mut target = plugin.clone();
            back(&mut target)?;
            pipeline::dry_run(cx, target).await.map_err(|fault| of_fault(&fault))?;
            let details = json!({ "version": package.manifest.plugin.version });
            let logged = Logged::new(staff, "plugin.rollback").with(details);
            return desired::change_by(cx, name, logged, back).await;
        }
    }
    Err(Error::invalid(format!("there is no copy of a package of {name} that served before: install one and reload")))
}
