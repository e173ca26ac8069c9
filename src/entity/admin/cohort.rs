//! <https://docs.joinmastodon.org/entities/Admin_Cohort/>

use serde::Serialize;

use super::metrics::cached;
use context::Cx;
use context::error::Result;
use context::json::Fragment;
use model::Time;
use model::metrics::Frequency;
use service::metrics::period::{day, midnight};
use service::metrics::retention::{self, Cohort};

/// The users who signed up in one period.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Entity {
    period: String,
    frequency: Frequency,
    data: Vec<Point>,
}

/// The users of the cohort who were active in a period or later.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Point {
    date: String,
    /// Of all users of the cohort: 0 to 1.
    rate: f64,
    value: String,
}

/// Renders the cohorts from `start` to `end`, at most five minutes old: a list.
///
/// # Errors
/// As [`retention::cohorts`].
pub async fn render(cx: &Cx, start: Time, end: Time, frequency: Frequency) -> Result<Fragment> {
    let name = format!("retention {} {} {frequency}", day(start), day(end));
    let make = async {
        let cohorts = retention::cohorts(cx, start, end, frequency).await?;
        let entities: Vec<Entity> = cohorts.iter().map(|cohort| entity(cohort, frequency)).collect();
        Fragment::of(&entities)
    };
    cached(cx, name, make).await
}

fn entity(cohort: &Cohort, frequency: Frequency) -> Entity {
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let rate = |number: i64| number as f64 / cohort.users.max(1) as f64;
    let point = |(day, number): &(i64, i64)| Point {
        date: midnight(*day).to_api_midnight(),
        rate: rate(*number),
        value: number.to_string(),
    };
    Entity {
        period: midnight(cohort.period).to_api_midnight(),
        frequency,
        data: cohort.data.iter().map(point).collect(),
    }
}
