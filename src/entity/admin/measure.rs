//! <https://docs.joinmastodon.org/entities/Admin_Measure/>

use serde::Serialize;

use super::metrics::{cached, human_size};
use context::Cx;
use context::error::Result;
use context::json::Fragment;
use model::metrics::MeasureKey;
use service::metrics::measure::{self, Measure, Measured};
use service::metrics::period::{Period, midnight};

/// A number over time; numbers are strings.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Entity {
    key: MeasureKey,
    unit: Option<&'static str>,
    total: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    human_value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_total: Option<String>,
    data: Vec<Point>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Point {
    date: String,
    value: String,
}

/// Renders the measures of `period`, in the order given, each at most five minutes old.
///
/// # Errors
/// As [`measure::measure`].
pub async fn render(cx: &Cx, measures: &[(MeasureKey, Measure)], period: Period) -> Result<Vec<Fragment>> {
    let mut rendered = Vec::with_capacity(measures.len());
    for (key, wanted) in measures {
        let name = format!("measure {wanted:?} {period:?}");
        let make = async { Fragment::of(&entity(*key, measure::measure(cx, wanted, period).await?)) };
        rendered.push(cached(cx, name, make).await?);
    }
    Ok(rendered)
}

fn entity(key: MeasureKey, measured: Measured) -> Entity {
    let is_size = key == MeasureKey::InstanceMediaAttachments;
    let is_plain = has_plain_dates(key);
    let point = |(day, number): (i64, i64)| Point {
        date: if is_plain { midnight(day).to_api_date() } else { midnight(day).to_api_midnight() },
        value: number.to_string(),
    };
    Entity {
        key,
        unit: is_size.then_some("bytes"),
        total: measured.total.to_string(),
        human_value: is_size.then(|| human_size(measured.total)),
        previous_total: measured.previous_total.map(|total| total.to_string()),
        data: measured.data.into_iter().map(point).collect(),
    }
}

/// True for measures of the database, whose dates have no time (docs/contract/extensions.md#13-admin-api).
fn has_plain_dates(key: MeasureKey) -> bool {
    match key {
        MeasureKey::ActiveUsers
        | MeasureKey::Interactions
        | MeasureKey::TagAccounts
        | MeasureKey::TagUses
        | MeasureKey::TagServers => false,
        MeasureKey::NewUsers
        | MeasureKey::OpenedReports
        | MeasureKey::ResolvedReports
        | MeasureKey::InstanceAccounts
        | MeasureKey::InstanceMediaAttachments
        | MeasureKey::InstanceReports
        | MeasureKey::InstanceStatuses
        | MeasureKey::InstanceFollows
        | MeasureKey::InstanceFollowers => true,
    }
}
