//! Dimensions: a number of a period split by a property, the highest ones first.

use super::period::Period;
use super::{ServerQuery, check_tag, count, domains};
use context::Cx;
use context::error::Result;
use database::db::Engine;
use model::{AppId, TagId};

/// What is split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Active users by the language of their pages.
    Languages,
    /// New users by the application with which they signed up.
    Sources,
    /// Statuses by server.
    Servers,
    /// Space by use, without a period.
    SpaceUsage,
    /// The versions of programs, without a period.
    SoftwareVersions,
    /// Statuses with a hashtag by server.
    TagServers(TagId),
    /// Statuses with a hashtag by language.
    TagLanguages(TagId),
    /// Accounts of a server by their followers here, without a period.
    ServerAccounts(ServerQuery),
    /// Statuses of a server by language.
    ServerLanguages(ServerQuery),
}

/// One value of the property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Statuses or users with this language; empty for none.
    Language(String, i64),
    /// New users of an application; without an id of the pages of this server.
    Source(Option<AppId>, Option<String>, i64),
    /// Statuses of a server, by domain.
    Server(String, i64),
    /// Bytes of the database.
    Database(Engine, i64),
    /// Bytes of media of this kind.
    Media(String, i64),
    /// Bytes of pictures of preview cards.
    CardImages(i64),
    /// Followers of an account, by its user name.
    Account(String, i64),
    /// The version of this server.
    ServerVersion,
    /// The version of the database.
    DatabaseVersion(Engine, String),
}

/// Splits a number in `period`; at most `limit` parts.
///
/// # Errors
/// [`Error::NotFound`](context::Error::NotFound) when there is no such hashtag.
#[model::use_case]
pub async fn dimension(cx: &Cx, dimension: &Dimension, period: Period, limit: i64) -> Result<Vec<Part>> {
    use store::metrics;
    let named = |domain: String| if domain.is_empty() { cx.urls.local_domain.clone() } else { domain };
    let languages = |rows: Vec<(String, i64)>| rows.into_iter().map(|(code, n)| Part::Language(code, n)).collect();
    let servers =
        |rows: Vec<(String, i64)>| rows.into_iter().map(|(domain, n)| Part::Server(named(domain), n)).collect();
    Ok(match dimension {
        Dimension::Languages => languages(metrics::list_locales(&cx.db, period.first, period.until, limit).await?),
        Dimension::Sources => {
            let sources = metrics::list_sources(&cx.db, period.ids(), limit).await?;
            sources.into_iter().map(|(app, name, users)| Part::Source(app, name, users)).collect()
        }
        Dimension::Servers => servers(count::servers(cx, period, limit).await?),
        Dimension::SpaceUsage => space_usage(cx).await?,
        Dimension::SoftwareVersions => {
            let (_, version) = metrics::database(&cx.db).await?;
            vec![Part::ServerVersion, Part::DatabaseVersion(cx.db.engine(), version)]
        }
        Dimension::TagServers(tag) => {
            check_tag(cx, *tag).await?;
            servers(metrics::list_tag_servers(&cx.db, *tag, period.ids(), limit).await?)
        }
        Dimension::TagLanguages(tag) => {
            check_tag(cx, *tag).await?;
            languages(metrics::list_tag_languages(&cx.db, *tag, period.ids(), limit).await?)
        }
        Dimension::ServerAccounts(query) => {
            let found = metrics::list_followed(&cx.db, &domains(cx, query).await?, limit).await?;
            found.into_iter().map(|(username, followers)| Part::Account(username, followers)).collect()
        }
        Dimension::ServerLanguages(query) => {
            languages(count::languages(cx, &domains(cx, query).await?, period, limit).await?)
        }
    })
}

async fn space_usage(cx: &Cx) -> Result<Vec<Part>> {
    let (size, _) = store::metrics::database(&cx.db).await?;
    let mut parts = vec![Part::Database(cx.db.engine(), size)];
    parts.extend(count::media(cx).await?.into_iter().map(|(kind, bytes)| Part::Media(kind, bytes)));
    parts.push(Part::CardImages(store::card::sum_images(&cx.db).await?));
    Ok(parts)
}
