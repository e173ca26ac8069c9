//! The host functions of the contract, served by the fake server of this thread.

#![allow(clippy::unnecessary_wraps, reason = "as the contract has them")]

pub(crate) mod sealing;

use super::state::current;
use crate::contract::types::Failure;

fn failure(status: u16, code: &str, message: &str) -> Failure {
    Failure { status, code: code.to_owned(), message: message.to_owned(), detail: None }
}

fn not_found() -> Failure {
    failure(404, "core.not-found", "Record not found")
}

fn unknown_kind(kind: &str) -> Failure {
    failure(404, "core.unknown-kind", &format!("there is no kind {kind:?} here"))
}

pub(crate) mod log {
    use super::current;
    use crate::contract::log::Level;

    pub(crate) fn emit(level: Level, message: &str, fields: &[(String, String)]) {
        let mut line = message.to_owned();
        for (name, value) in fields {
            line.push_str(&format!(" {name}={value}"));
        }
        let level = format!("{level:?}").trim_start_matches("Level::").to_ascii_lowercase();
        current("log.emit", |state| state.logs.push((level, line)));
    }

    pub(crate) fn counter(name: &str, _: &[(String, String)], add: u64) {
        current("log.counter", |state| *state.counters.entry(name.to_owned()).or_default() += add);
    }

    pub(crate) fn observe(_: &str, _: &[(String, String)], _: f64) {
        current("log.observe", |_| ());
    }
}

pub(crate) mod system {
    use super::current;

    pub(crate) fn now() -> i64 {
        current("system.now", |state| state.now)
    }

    pub(crate) fn elapsed() -> u64 {
        current("system.elapsed", |state| state.elapsed)
    }

    /// Deterministic: the same in each run.
    pub(crate) fn random(length: u32) -> Vec<u8> {
        current("system.random", |state| {
            let mut next = || {
                state.seed = state.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state.seed.to_be_bytes()[0]
            };
            (0..length).map(|_| next()).collect()
        })
    }
}

pub(crate) mod config {
    use serde_json::Value;

    use super::current;

    pub(crate) fn get(key: &str) -> Option<String> {
        current("config.get", |state| state.config.get(key).map(Value::to_string))
    }

    pub(crate) fn all() -> String {
        current("config.all", |state| Value::Object(state.config.clone()).to_string())
    }

    pub(crate) fn secret(name: &str) -> Option<String> {
        current("config.secret", |state| state.secrets.get(name).cloned())
    }

    pub(crate) fn version() -> u64 {
        current("config.version", |state| state.config_version)
    }
}

pub(crate) mod settings {
    use serde_json::{Map, Value};

    use super::{Failure, current, failure, not_found};

    pub(crate) fn get(accounts: &[i64]) -> Result<Vec<String>, Failure> {
        Ok(current("settings.get", |state| {
            let merged = |account: &i64| {
                let mut all = state.setting_defaults.clone();
                all.extend(state.settings.get(account).cloned().unwrap_or_default());
                Value::Object(all).to_string()
            };
            accounts.iter().map(merged).collect()
        }))
    }

    pub(crate) fn set(account: i64, members: &str) -> Result<(), Failure> {
        let members: Map<String, Value> =
            serde_json::from_str(members).map_err(|error| failure(422, "settings.invalid", &error.to_string()))?;
        current("settings.set", |state| {
            if !state.accounts.iter().any(|known| known.id == account && known.domain.is_none()) {
                return Err(not_found());
            }
            let own = state.settings.entry(account).or_default();
            for (name, value) in members {
                if value.is_null() {
                    own.remove(&name)
                } else {
                    own.insert(name, value)
                };
            }
            Ok(())
        })
    }
}

pub(crate) mod core {
    use super::super::render;
    use super::{Failure, current, unknown_kind};
    use crate::contract::core::Emoji;
    use crate::contract::types::{Account, Relationship, Status, Viewer};

    pub(crate) fn statuses(viewer: Viewer, ids: &[i64]) -> Result<Vec<Option<Status>>, Failure> {
        Ok(current("core.statuses", |state| {
            let eyes = render::eyes(state, &viewer);
            let seen = |id: i64| eyes.is_err() || eyes.is_ok_and(|viewer| render::visible(state, viewer, id));
            let find = |id: &i64| state.statuses.iter().find(|status| status.id == *id && seen(*id)).cloned();
            ids.iter().map(find).collect()
        }))
    }

    pub(crate) fn accounts(ids: &[i64]) -> Result<Vec<Option<Account>>, Failure> {
        Ok(current("core.accounts", |state| {
            ids.iter().map(|id| state.accounts.iter().find(|account| account.id == *id).cloned()).collect()
        }))
    }

    pub(crate) fn accounts_by_acct(accts: &[String]) -> Result<Vec<Option<Account>>, Failure> {
        Ok(current("core.accounts-by-acct", |state| {
            let find =
                |acct: &String| state.accounts.iter().find(|account| account.acct.eq_ignore_ascii_case(acct)).cloned();
            accts.iter().map(find).collect()
        }))
    }

    pub(crate) fn relationships(of: i64, others: &[i64]) -> Result<Vec<Relationship>, Failure> {
        Ok(current("core.relationships", |state| {
            let bits = |other: i64| {
                let ties = [
                    state.follows.contains(&(of, other)),
                    state.follows.contains(&(other, of)),
                    state.blocks.contains(&(of, other)),
                    state.blocks.contains(&(other, of)),
                    state.mutes.contains(&(of, other)),
                ];
                ties.iter().enumerate().map(|(bit, set)| u32::from(*set) << bit).sum()
            };
            others.iter().map(|other| Relationship { account: *other, bits: bits(*other) }).collect()
        }))
    }

    pub(crate) fn visible(viewer: Viewer, ids: &[i64]) -> Result<Vec<bool>, Failure> {
        Ok(current("core.visible", |state| {
            let eyes = render::eyes(state, &viewer);
            let known = |id: i64| state.statuses.iter().any(|status| status.id == id);
            ids.iter()
                .map(|id| eyes.map_or_else(|()| known(*id), |viewer| render::visible(state, viewer, *id)))
                .collect()
        }))
    }

    pub(crate) fn followers_among(of: i64, among: &[i64]) -> Result<Vec<i64>, Failure> {
        Ok(current("core.followers-among", |state| {
            among.iter().copied().filter(|follower| state.follows.contains(&(*follower, of))).collect()
        }))
    }

    /// A Unicode emoji is anything without letters or digits of ASCII.
    pub(crate) fn emojis(names: &[String]) -> Result<Vec<Option<Emoji>>, Failure> {
        Ok(current("core.emojis", |state| {
            let find = |written: &String| {
                let bare = written.trim_matches(':');
                let (name, domain) = bare.split_once('@').map_or((bare, None), |(name, domain)| (name, Some(domain)));
                let custom = state.emojis.iter().find(|emoji| emoji.name == name && emoji.domain.as_deref() == domain);
                let unicode = !bare.is_empty() && !bare.chars().any(|c| c.is_ascii_alphanumeric() || c.is_whitespace());
                let plain = Emoji {
                    name: bare.into(),
                    domain: None,
                    custom: None,
                    url: None,
                    static_url: None,
                    width: None,
                    height: None,
                };
                custom.cloned().or_else(|| unicode.then_some(plain))
            };
            names.iter().map(find).collect()
        }))
    }

    pub(crate) fn normalise(kind: &str, texts: &[String]) -> Result<Vec<Option<String>>, Failure> {
        let plain = |text: &String| {
            let text = text.trim().trim_start_matches(['#', '@']).to_lowercase();
            (!text.is_empty() && !text.contains(char::is_whitespace)).then_some(text)
        };
        let acct = |text: &String| match plain(text)?.split_once('@') {
            Some((name, super::super::fixtures::DOMAIN)) => Some(name.to_owned()),
            Some((_, "")) => None,
            _ => plain(text),
        };
        current("core.normalise", |_| match kind {
            "hashtag" | "domain" => Ok(texts.iter().map(plain).collect()),
            "acct" => Ok(texts.iter().map(acct).collect()),
            _ => Err(unknown_kind(kind)),
        })
    }
}

pub(crate) mod core_write {
    use super::super::render;
    use super::{Failure, current, not_found, unknown_kind};
    use crate::contract::core_write::{NewNotification, NewStatus};

    pub(crate) fn create_statuses(items: &[NewStatus]) -> Result<Vec<Result<i64, Failure>>, Failure> {
        Ok(current("core-write.create-statuses", |state| {
            let mut made = Vec::new();
            for item in items {
                let Some(author) = state.accounts.iter().find(|account| account.id == item.author).cloned() else {
                    made.push(Err(not_found()));
                    continue;
                };
                let id = state.next_id();
                let mut status = super::super::status(id, &author, &item.text);
                status.visibility = item.visibility;
                status.mentions.clone_from(&item.recipients);
                state.statuses.push(status);
                state.created.push(item.clone());
                made.push(Ok(id));
            }
            made
        }))
    }

    pub(crate) fn delete_statuses(ids: &[i64]) -> Result<u32, Failure> {
        Ok(current("core-write.delete-statuses", |state| {
            let before = state.statuses.len();
            state.statuses.retain(|status| !(status.local && ids.contains(&status.id)));
            state.deleted.extend(ids);
            count(before - state.statuses.len())
        }))
    }

    pub(crate) fn bookmark(account: i64, statuses: &[i64]) -> Result<Vec<bool>, Failure> {
        current("core-write.bookmark", |state| {
            let mut originals = Vec::new();
            for id in statuses {
                let found = state.statuses.iter().find(|status| status.id == *id);
                let original = found.map(|status| status.reblog_of.unwrap_or(status.id));
                let shown = original.filter(|id| render::visible(state, Some(account), *id));
                originals.push(shown.ok_or_else(not_found)?);
            }
            Ok(originals.into_iter().map(|id| state.bookmarks.insert((account, id))).collect())
        })
    }

    pub(crate) fn notify(items: &[NewNotification]) -> Result<u32, Failure> {
        Ok(current("core-write.notify", |state| {
            let mut made = 0;
            for item in items {
                let same = |known: &NewNotification| {
                    (known.to, &known.kind, known.activity) == (item.to, &item.kind, item.activity)
                };
                if !state.notifications.iter().any(same) && !state.blocks.contains(&(item.to, item.from)) {
                    state.notifications.push(item.clone());
                    made += 1;
                }
            }
            made
        }))
    }

    pub(crate) fn retract(kind: &str, activities: &[i64]) -> Result<u32, Failure> {
        Ok(current("core-write.retract", |state| {
            let before = state.notifications.len();
            state.notifications.retain(|known| known.kind != kind || !activities.contains(&known.activity));
            count(before - state.notifications.len())
        }))
    }

    pub(crate) fn touch(kind: &str, ids: &[i64]) -> Result<(), Failure> {
        current("core-write.touch", |state| {
            if !matches!(kind, "status" | "account") {
                return Err(unknown_kind(kind));
            }
            state.touched.extend(ids.iter().map(|id| (kind.to_owned(), *id)));
            Ok(())
        })
    }

    pub(crate) fn remove_profile_images(account: i64, images: &[String]) -> Result<u32, Failure> {
        if let Some(image) = images.iter().find(|image| !matches!(image.as_str(), "avatar" | "header")) {
            return Err(unknown_kind(image));
        }
        current("core-write.remove-profile-images", |state| {
            if !state.accounts.iter().any(|known| known.id == account && known.domain.is_none()) {
                return Err(not_found());
            }
            let before = state.profile_images.len();
            state.profile_images.retain(|(owner, image)| *owner != account || !images.contains(image));
            Ok(count(before - state.profile_images.len()))
        })
    }

    /// Unlike on a server, a follow of a locked account is accepted immediately.
    pub(crate) fn follow(account: i64, targets: &[i64]) -> Result<Vec<bool>, Failure> {
        current("core-write.follow", |state| {
            let usable = |id: i64| state.accounts.iter().any(|known| known.id == id && known.state & 1 == 0);
            let blocked =
                |target| [(account, target), (target, account)].iter().any(|pair| state.blocks.contains(pair));
            let may: Vec<bool> = targets.iter().map(|id| *id != account && usable(*id) && !blocked(*id)).collect();
            if !usable(account) {
                return Err(not_found());
            }
            Ok(targets.iter().zip(may).map(|(id, may)| may && state.follows.insert((account, *id))).collect())
        })
    }

    fn count(number: usize) -> u32 {
        u32::try_from(number).unwrap_or(u32::MAX)
    }
}

/// The ids of a page, newest first.
fn paged(ids: impl Iterator<Item = i64>, page: crate::contract::types::Page) -> Vec<i64> {
    let before = page.max_id.unwrap_or(i64::MAX);
    let after = page.min_id.or(page.since_id).unwrap_or(i64::MIN);
    let mut ids: Vec<i64> = ids.filter(|id| *id < before && *id > after).collect();
    ids.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
    let limit = usize::from(page.limit);
    if page.min_id.is_some() && limit > 0 {
        ids.drain(..ids.len().saturating_sub(limit));
    }
    if limit > 0 {
        ids.truncate(limit);
    }
    ids
}

pub(crate) mod feeds {
    use super::{Failure, current};
    use crate::contract::feeds::{Entry, Feed};
    use crate::contract::types::Page;

    pub(crate) fn insert(entries: &[Entry]) -> Result<u32, Failure> {
        Ok(current("feeds.insert", |state| {
            entries.iter().map(|entry| u32::from(state.feed_mut(&entry.feed).insert(entry.status))).sum()
        }))
    }

    pub(crate) fn remove(feed: &Feed, ids: &[i64]) -> Result<u32, Failure> {
        Ok(current("feeds.remove", |state| {
            let kept = state.feed_mut(feed);
            ids.iter().map(|id| u32::from(kept.remove(id))).sum()
        }))
    }

    pub(crate) fn remove_authors(feeds: &[Feed], authors: &[i64]) -> Result<u32, Failure> {
        Ok(current("feeds.remove-authors", |state| {
            let theirs: Vec<i64> = state
                .statuses
                .iter()
                .filter(|status| authors.contains(&status.account))
                .map(|status| status.id)
                .collect();
            let mut removed = 0;
            for feed in feeds {
                let kept = state.feed_mut(feed);
                removed += theirs.iter().map(|id| u32::from(kept.remove(id))).sum::<u32>();
            }
            removed
        }))
    }

    pub(crate) fn range(feed: &Feed, page: Page) -> Result<Vec<i64>, Failure> {
        Ok(current("feeds.range", |state| super::paged(state.feed_mut(feed).iter().copied(), page)))
    }

    pub(crate) fn drop_feeds(feeds: &[Feed]) -> Result<(), Failure> {
        current("feeds.drop-feeds", |state| state.feeds.retain(|(feed, _)| !feeds.contains(feed)));
        Ok(())
    }
}

pub(crate) mod streaming {
    use super::{Failure, current};
    use crate::contract::streaming::Message;

    pub(crate) fn publish(messages: &[Message]) -> Result<u32, Failure> {
        current("streaming.publish", |state| state.published.extend_from_slice(messages));
        Ok(u32::try_from(messages.len()).unwrap_or(u32::MAX))
    }
}

pub(crate) mod sql {
    use super::{Failure, current};
    use crate::contract::sql::{Call, Rows, Value};

    pub(crate) fn query(statement: &str, params: &[Value]) -> Result<Rows, Failure> {
        current("sql.query", |state| state.database.clone().query(state, statement, params))
    }

    pub(crate) fn batch(calls: &[Call]) -> Result<Vec<Rows>, Failure> {
        current("sql.batch", |state| {
            let database = state.database.clone();
            database.begin();
            let rows = calls.iter().map(|call| database.query(state, &call.statement, &call.params)).collect();
            database.end(Result::is_ok(&rows));
            rows
        })
    }

    pub(crate) fn many(statement: &str, width: u16, params: &[Value]) -> Result<u64, Failure> {
        current("sql.many", |state| {
            let database = state.database.clone();
            database.begin();
            let rows = params.chunks(usize::from(width.max(1)));
            let changed = rows.map(|row| Ok(database.query(state, statement, row)?.affected)).sum();
            database.end(Result::is_ok(&changed));
            changed
        })
    }
}

pub(crate) mod kv {
    use super::{Failure, current, failure};
    use crate::contract::kv::Item;

    pub(crate) fn get(keys: &[String]) -> Result<Vec<Option<Vec<u8>>>, Failure> {
        Ok(current("kv.get", |state| {
            let now = state.now;
            let live =
                |(value, expires): &(Vec<u8>, Option<i64>)| expires.is_none_or(|at| at > now).then(|| value.clone());
            keys.iter().map(|key| state.kv.get(key).and_then(live)).collect()
        }))
    }

    pub(crate) fn set(items: &[Item]) -> Result<(), Failure> {
        current("kv.set", |state| {
            state.kv.extend(items.iter().map(|item| (item.key.clone(), (item.value.clone(), item.expires))));
        });
        Ok(())
    }

    pub(crate) fn delete(keys: &[String]) -> Result<u32, Failure> {
        Ok(current("kv.delete", |state| keys.iter().map(|key| u32::from(state.kv.remove(key).is_some())).sum()))
    }

    pub(crate) fn add(key: &str, delta: i64) -> Result<i64, Failure> {
        current("kv.add", |state| {
            let kept = state.kv.get(key).map(|(value, _)| String::from_utf8_lossy(value).into_owned());
            let number = kept.map_or(Ok(0), |text| text.parse::<i64>());
            let sum = number.ok().and_then(|number| number.checked_add(delta));
            let sum = sum.ok_or_else(|| failure(422, "kv.no-number", &format!("{key} is no number")))?;
            state.kv.insert(key.to_owned(), (sum.to_string().into_bytes(), None));
            Ok(sum)
        })
    }

    pub(crate) fn scan(prefix: &str, after: Option<&str>, limit: u16) -> Result<Vec<Item>, Failure> {
        Ok(current("kv.scan", |state| {
            let live = |expires: &Option<i64>| expires.is_none_or(|at| at > state.now);
            let follows = |key: &str| key.starts_with(prefix) && after.is_none_or(|after| key > after);
            let wanted = state.kv.iter().filter(|(key, (_, expires))| follows(key) && live(expires));
            let items = wanted.map(|(key, (value, expires))| Item {
                key: key.clone(),
                value: value.clone(),
                expires: *expires,
            });
            items.take(limit.into()).collect()
        }))
    }
}

pub(crate) mod cache {
    use super::current;

    pub(crate) fn get(key: &str) -> Option<Vec<u8>> {
        current("cache.get", |state| state.cache.get(key).cloned())
    }

    pub(crate) fn set(key: &str, value: &[u8], _: u32) {
        current("cache.set", |state| state.cache.insert(key.to_owned(), value.to_vec()));
    }

    pub(crate) fn drop_prefix(prefix: &str) {
        current("cache.drop-prefix", |state| state.cache.retain(|key, _| !key.starts_with(prefix)));
    }
}

pub(crate) mod http_client {
    use super::current;
    use crate::contract::http_client::{HttpError, Request, Response};

    pub(crate) fn fetch(requests: &[Request]) -> Vec<Result<Response, HttpError>> {
        current("http-client.fetch", |state| {
            state.fetched.extend_from_slice(requests);
            let unknown = || Err(HttpError::Other("the test gives this address no answer".into()));
            requests.iter().map(|request| state.web.get(&request.url).cloned().unwrap_or_else(unknown)).collect()
        })
    }
}

pub(crate) mod queue {
    use super::{Failure, current};
    use crate::contract::queue::Job;

    pub(crate) fn enqueue(jobs: &[Job]) -> Result<u32, Failure> {
        Ok(current("queue.enqueue", |state| {
            let mut queued = 0;
            for job in jobs {
                let same =
                    |known: &Job| job.unique.is_some() && (&known.kind, &known.unique) == (&job.kind, &job.unique);
                if !state.jobs.iter().any(same) {
                    state.jobs.push(job.clone());
                    queued += 1;
                }
            }
            queued
        }))
    }

    pub(crate) fn cancel(kind: &str, unique: &[String]) -> Result<u32, Failure> {
        Ok(current("queue.cancel", |state| {
            let before = state.jobs.len();
            let named = |job: &Job| job.unique.as_ref().is_some_and(|own| unique.contains(own));
            state.jobs.retain(|job| job.kind != kind || !named(job));
            u32::try_from(before - state.jobs.len()).unwrap_or(u32::MAX)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::Fake;

    #[test]
    fn failures_have_the_codes_of_the_server() {
        let _fake = Fake::bare();
        let item = crate::contract::kv::Item { key: "n".to_owned(), value: b"one".to_vec(), expires: None };
        kv::set(&[item]).unwrap();
        let code = |failure: Option<Failure>| failure.map(|failure| (failure.status, failure.code));
        for (failed, status, wanted) in [
            (kv::add("n", 1).err(), 422, "kv.no-number"),
            (core::normalise("colour", &[]).err(), 404, "core.unknown-kind"),
            (core_write::touch("list", &[1]).err(), 404, "core.unknown-kind"),
            (core_write::bookmark(1, &[7]).err(), 404, "core.not-found"),
            (settings::set(1, "{}").err(), 404, "core.not-found"),
        ] {
            assert_eq!(code(failed), Some((status, wanted.to_owned())));
        }
    }
}
