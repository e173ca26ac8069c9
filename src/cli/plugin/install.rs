//! `rookery plugin install`, `upgrade` and `verify`.
//!
//! The command itself fetches and shows the package, also beside a running server: only it can read the admin's files
//! and ask for consent. Then it moves the package into the folder of plugins, where the running server checks it again
//! and loads it.

use std::io::{IsTerminal as _, stdin};
use std::path::Path;

use clap::Args;
use serde_json::{Value, json};

use super::{ask_to_load, consent, detail, looked_up, words};
use crypto::signature::PublicKey;
use plugin_package::package::{Origin, Package};
use plugins::Cx;
use plugins::install::{self, Candidate, Review, Source, Terms, Trust, verify};
use terminal::{Failure, Output};

/// The consent that the admin gives beforehand.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Public key that the package must be signed with, also in the place of the one that is trusted: the key itself, or a
    /// file
    #[arg(long)]
    key: Option<String>,
    /// Public key that the index must be signed with, also in the place of the one that is trusted: the key itself, or a file
    #[arg(long)]
    index_key: Option<String>,
    /// Trust the key and grant the plugin's permissions without confirmation
    #[arg(long, short)]
    yes: bool,
    /// Take a package without a signature from elsewhere than a file or in place of one that had one, and an index without one
    /// that had one before
    #[arg(long)]
    unsigned: bool,
    /// Take a version before the present one, and an index that was signed before one that was used
    #[arg(long)]
    downgrade: bool,
}

impl Arguments {
    fn terms(&self) -> Result<Terms, Failure> {
        let key = self.key.as_deref().map(read_key).transpose()?;
        let index_key = self.index_key.as_deref().map(read_key).transpose()?;
        Ok(Terms { key, index_key, unsigned: self.unsigned, downgrade: self.downgrade })
    }
}

/// Installs a package.
pub(super) async fn run(
    cx: &Cx,
    what: &str,
    from: Option<&str>,
    arguments: &Arguments,
    output: Output,
) -> Result<(), Failure> {
    let terms = arguments.terms()?;
    let (name, source) = match from {
        Some(from) => (Some(what), source(from)?),
        None => (None, source(what)?),
    };
    match &source {
        Source::File(path) if from.is_none() && !path.is_file() => {
            return Err(Failure::usage(format!(
                "there is no file {what}; a plugin of an index is installed by `rookery plugin install NAME --from URL`"
            )));
        }
        Source::Index(_) if name.is_none() => {
            return Err(Failure::usage(format!(
                "{what} does not end in .plugin: of an index, `rookery plugin install NAME --from {what}` installs one"
            )));
        }
        Source::File(_) | Source::Package(_) | Source::Index(_) => {}
    }
    let candidate = install::fetch(cx, name, source, &terms).await?;
    finish(cx, &candidate, &terms, arguments.yes, output).await
}

/// Upgrades a plugin.
pub(super) async fn upgrade(
    cx: &Cx,
    name: &str,
    from: Option<&str>,
    arguments: &Arguments,
    output: Output,
) -> Result<(), Failure> {
    let terms = arguments.terms()?;
    let known = plugins::admin::find(cx, name).await?;
    let embedded = |package: &Package| matches!(package.origin, Origin::Embedded);
    if from.is_none() && known.package.as_ref().is_ok_and(|package| package.as_ref().is_some_and(embedded)) {
        return Err(Failure::new(format!("{name} comes with the server, and is upgraded with it")));
    }
    if known.plugin.sha256.is_none() {
        return Err(Failure::new(format!("{name} is not installed: `rookery plugin install` installs it")));
    }
    let candidate = match from {
        Some(from) => install::fetch(cx, Some(name), source(from)?, &terms).await?,
        None => install::fetch_again(cx, name, install::origin_of(cx, name).await?, &terms).await?,
    };
    let review = install::review(cx, &candidate, &terms).await?;
    if review.installed && terms.key.is_none() {
        let detail = looked_up(cx, name).await?;
        return output.respond(&detail, || format!("{name} {} is here already: nothing to do.", review.version));
    }
    finish(cx, &candidate, &terms, arguments.yes, output).await
}

/// Asks the admin for consent, and installs the package.
async fn finish(cx: &Cx, candidate: &Candidate, terms: &Terms, yes: bool, output: Output) -> Result<(), Failure> {
    let review = install::review(cx, candidate, terms).await?;
    let (name, version) = (&review.name, &review.version);
    if review.trust == Trust::Unsigned && !terms.unsigned {
        output.warn(&format!("{name} {version} is not signed: nothing says whose it is, nor that it is whole"));
    }
    if review.asks {
        confirm(&review, yes, output).await?;
    }
    let placed = install::place(cx, candidate)?;
    let done = accept(cx, candidate, terms, &review, output).await;
    if done.is_err() {
        install::take_back(&placed);
    }
    let detail = done?;
    let signed = match &review.key_id {
        Some(id) => format!("{name} {version} was installed, signed with the key {id}.\n"),
        None => format!("{name} {version} was installed, without a signature.\n"),
    };
    output.respond(&detail, || {
        let here = detail["generation"].is_u64();
        format!("{signed}{}", if here { words::changed(&detail) } else { words::desired(&detail) })
    })
}

/// Has the server that runs here accept what lies in the folder of plugins, or accepts it for the next one that starts.
async fn accept(
    cx: &Cx,
    candidate: &Candidate,
    terms: &Terms,
    review: &Review,
    output: Output,
) -> Result<Value, Failure> {
    let name = &review.name;
    let body = json!({
        "from": review.source,
        "digest": review.digest,
        "key": terms.key.as_ref().map(PublicKey::as_str),
        "unsigned": review.trust == Trust::Unsigned,
        "downgrade": terms.downgrade,
    });
    let path = format!("/api/admin/plugins/{name}/install");
    if let Some(detail) = ask_to_load(cx, name, &path, &body, output).await? {
        // The server took the file from its folder, and saw no index.
        install::remember_index(cx, candidate, review).await?;
        return Ok(detail);
    }
    install::accept(cx, &model::Staff::operator(), candidate, terms).await?;
    detail(cx, name).await
}

async fn confirm(review: &Review, yes: bool, output: Output) -> Result<(), Failure> {
    let shown = serde_json::to_value(review).map_err(Failure::new)?;
    output.warn(&words::review(&shown));
    if yes {
        return Ok(());
    }
    let Review { name, version, .. } = review;
    let is_new = review.trust == Trust::New;
    if !stdin().is_terminal() {
        let trusts = if is_new { ", trusts this key for it" } else { "" };
        return Err(Failure::usage(format!(
            "there is no terminal to ask on: --yes installs {name} {version}{trusts} and grants all of this"
        )));
    }
    let trust = if is_new { ", trust this key for it" } else { "" };
    let question = format!("Install {name} {version}{trust} and grant all of this?");
    consent::agree(&question, || format!("{name} {version} was not installed")).await
}

/// Verifies a file, or the package of an installed plugin.
pub(super) async fn verify(cx: &Cx, what: &str, key: Option<&str>, output: Output) -> Result<(), Failure> {
    let key = key.map(read_key).transpose()?;
    let is_file = what.contains(['/', '.']);
    let verified = match is_file {
        true => verify::file(cx, absolute(what)?, key).await?,
        false => verify::plugin(cx, what, key).await?,
    };
    let verified = serde_json::to_value(&verified).map_err(Failure::new)?;
    output.respond(&verified, || words::verified(&verified))
}

fn source(text: &str) -> Result<Source, Failure> {
    match Source::parse(text)? {
        // The server may stand in another folder.
        Source::File(_) => Ok(Source::File(absolute(text)?)),
        other => Ok(other),
    }
}

fn absolute(path: &str) -> Result<std::path::PathBuf, Failure> {
    std::path::absolute(path).map_err(Failure::new)
}

/// A public key, or the one in a file.
fn read_key(text: &str) -> Result<PublicKey, Failure> {
    let is_file = Path::new(text).is_file();
    let read = if is_file { std::fs::read_to_string(text) } else { Ok(text.to_owned()) };
    let read = read.map_err(|error| Failure::usage(format!("{text}: {error}")))?;
    PublicKey::parse(&read).map_err(|error| Failure::usage(format!("the key {text:?}: {error}")))
}
