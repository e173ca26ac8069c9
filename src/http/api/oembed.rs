//! oEmbed: how other sites show a status of this server; the page in their frame is [`embed`](crate::web::embed).
//!
//! Spec: <https://docs.joinmastodon.org/methods/oembed/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::Params;
use crate::json::Json;
use entity::oembed::{DEFAULT_WIDTH, OEmbed};
use model::params::required;
use service::public;

/// Largest side of a frame, in pixels.
const SIDE_MAX: i64 = 10_000;

/// Query parameters of [`show`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct EmbedParams {
    /// Of a status of this server.
    #[schemars(transform = required)]
    url: Option<String>,
    /// Width of the frame in pixels; 400 by default.
    #[schemars(with = "Option<i64>")]
    maxwidth: Option<i64>,
    /// Height of the frame in pixels.
    #[schemars(with = "Option<i64>")]
    maxheight: Option<i64>,
}

/// `GET /api/oembed`
pub async fn show(cx: Cx, Params(params): Params<EmbedParams>) -> Result<Json<entity::OEmbed>> {
    let url = params.url.filter(|url| !url.is_empty()).ok_or_else(|| Error::missing("url"))?;
    let (width, height) = (side("maxwidth", params.maxwidth)?, side("maxheight", params.maxheight)?);
    let (author, seen) = public::embeddable(&cx, &url).await?;
    Json::of(&OEmbed::new(&cx, &author, seen.head().id, width.unwrap_or(DEFAULT_WIDTH), height))
}

fn side(name: &str, sent: Option<i64>) -> Result<Option<i64>> {
    match sent {
        Some(pixels) if !(1..=SIDE_MAX).contains(&pixels) => {
            Err(Error::invalid(format!("{name}: must be 1 to {SIDE_MAX} pixels")).into())
        }
        sent => Ok(sent),
    }
}
