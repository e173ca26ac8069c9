//! Enabling and disabling a plugin, and accepting its newest package.

use crate::Cx;
use crate::admin::grant::grant_all;
use crate::admin::installed::{check_shown, newest};
use crate::error::of_fault;
use crate::life::desired::{self, Logged};
use crate::life::pipeline;
use context::error::Result;
use model::{Staff, boxed};
use store::plugin::Plugin;

/// Enables the plugin. The first time, the newest package is accepted with every permission it asks for; later a
/// package that asks for more waits for [`grant`](super::grant()) while the accepted one stays active.
///
/// # Errors
/// [`Error::Invalid`](context::Error::Invalid) when there is no such plugin, or its package is broken or denied.
pub async fn enable(cx: &Cx, staff: &Staff, name: &str) -> Result<Plugin> {
    enable_shown(cx, staff, name, None).await
}

/// As [`enable`]; `shown` is the digest of the package that the admin was shown: another is not accepted.
///
/// # Errors
/// [`Error::Invalid`](context::Error::Invalid) also for another package than that.
#[boxed]
pub async fn enable_shown(cx: &Cx, staff: &Staff, name: &str, shown: Option<&str>) -> Result<Plugin> {
    let package = newest(cx, name).await?;
    check_shown(&package, shown)?;
    desired::change_by(cx, name, Logged::new(staff, "plugin.enable"), |plugin| {
        if plugin.sha256.is_none() {
            grant_all(plugin, &package);
        }
        if pipeline::missing(plugin, &package).is_empty() {
            desired::accept(plugin, &package);
        }
        plugin.enabled = true;
        plugin.quarantined_at = None;
        Ok(())
    })
    .await
}

/// Disables the plugin. Its tables stay.
///
/// # Errors
/// [`Error::Invalid`](context::Error::Invalid) when there is no such plugin.
pub async fn disable(cx: &Cx, staff: &Staff, name: &str) -> Result<Plugin> {
    desired::change_by(cx, name, Logged::new(staff, "plugin.disable"), switch_off).await
}

pub(crate) fn switch_off(plugin: &mut Plugin) -> Result<()> {
    plugin.enabled = false;
    plugin.quarantined_at = None;
    Ok(())
}

/// Accepts the newest package; permissions that were not granted before wait for [`grant`](super::grant()).
///
/// # Errors
/// As [`enable`].
#[boxed]
pub async fn accept(cx: &Cx, staff: &Staff, name: &str) -> Result<Plugin> {
    let package = newest(cx, name).await?;
    desired::change_by(cx, name, Logged::new(staff, "plugin.reload"), |plugin| {
        if pipeline::missing(plugin, &package).is_empty() {
            desired::accept(plugin, &package);
        }
        plugin.refused = None;
        plugin.quarantined_at = None;
        Ok(())
    })
    .await?;
    pipeline::check_grants(&desired::find(cx, name).await?, &package).map_err(|fault| of_fault(&fault))?;
    desired::find(cx, name).await
}
