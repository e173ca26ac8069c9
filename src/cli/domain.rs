//! `rookery domain`: the policy of this server about other servers. Lists are in
//! [`domain_import`] and [`domain_subscription`].

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use context::Cx;
use model::Staff;
use model::domain_policy::Flags;
use model::instance::Severity;
use service::domain_decision::{self, BlockParams};
use store::domain_policy::{Allow, Block};
use terminal::{Failure, Output};

use super::domain_import::{self, NewExport, NewImport};
use super::{domain_purge, domain_subscription};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the blocked and the allowed domains
    List,
    /// Block a domain and its subdomains, or replace the block of the domain
    Block(Box<NewBlock>),
    /// Allow a domain, without its subdomains, in limited federation (access.limited_federation)
    Allow {
        /// The domain: example.org
        domain: String,
    },
    /// Remove the block of a domain, which shows its accounts again; ended follows are not restored
    Remove {
        /// The domain: example.org
        domain: String,
        /// Remove the allow of the domain instead
        #[arg(long)]
        allow: bool,
    },
    /// Count the accounts of a domain, and remove them and what is owed to it with --yes
    Purge(domain_purge::Purge),
    /// Show the effect of a list of domains, and apply it with --yes
    Import(NewImport),
    /// Print the blocked domains as a list
    Export(NewExport),
    /// Subscribe to lists of blocked domains, which are fetched daily
    #[command(subcommand)]
    Subscription(domain_subscription::Command),
    /// Exclude a domain and its subdomains from lists: none can block it
    Exclude {
        /// The domain: example.org
        domain: String,
    },
    /// Let lists block a domain again
    Unexclude {
        /// The domain: example.org
        domain: String,
    },
    /// List the domains that no list can block
    Exclusions,
}

#[derive(Debug, Args)]
pub(super) struct NewBlock {
    /// The domain: example.org
    domain: String,
    /// The effect on the accounts of the domain
    #[arg(long, value_enum, default_value = "suspend")]
    severity: Effect,
    /// Reason in the published list of blocks
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
    /// Reason for the staff
    #[arg(long, value_name = "TEXT")]
    private_comment: Option<String>,
    /// Hide the middle of the domain in the published list
    #[arg(long)]
    obfuscate: bool,
    /// Leave the domain out of the published list
    #[arg(long)]
    hidden: bool,
    /// Reject avatars, headers, attachments and emojis
    #[arg(long)]
    reject_media: bool,
    /// Ignore reports
    #[arg(long)]
    reject_reports: bool,
    /// Ignore favourites and reactions
    #[arg(long)]
    reject_favourite: bool,
    /// Ignore mentions of and replies to accounts that do not follow the sender
    #[arg(long)]
    reject_reply_exclude_followers: bool,
    /// Drop hashtags
    #[arg(long)]
    reject_hashtag: bool,
    /// Require approval of follows
    #[arg(long)]
    reject_straight_follow: bool,
    /// Reject follows
    #[arg(long)]
    reject_new_follow: bool,
    /// Have no friend relation
    #[arg(long)]
    reject_friend: bool,
    /// Do not send sensitive statuses
    #[arg(long)]
    reject_send_sensitive: bool,
    /// Exclude from trends
    #[arg(long)]
    block_trends: bool,
    /// Treat as software of the Misskey family for unlisted statuses
    #[arg(long)]
    detect_invalid_subscription: bool,
}

/// The severity of a block.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Effect {
    /// Suspends the accounts and ends their follows
    Suspend,
    /// Limits the accounts: only followers see them
    Silence,
    /// None, apart from the flags
    Noop,
}

impl Command {
    /// True for a command that a running server must apply.
    pub(super) fn changes(&self) -> bool {
        match self {
            Self::List | Self::Export(_) | Self::Exclusions => false,
            Self::Block(_) | Self::Allow { .. } | Self::Remove { .. } | Self::Import(_) | Self::Purge(_) => true,
            Self::Exclude { .. } | Self::Unexclude { .. } => true,
            Self::Subscription(command) => command.changes(),
        }
    }
}

/// An entry of the list.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Entry {
    Block(BlockRow),
    Allow(AllowRow),
}

#[derive(Serialize)]
struct BlockRow {
    domain: String,
    severity: Severity,
    /// The flags that are set; they have no effect yet.
    flags: Vec<&'static str>,
    obfuscate: bool,
    hidden: bool,
    comment: Option<String>,
    private_comment: Option<String>,
    created_at: String,
}

#[derive(Serialize)]
struct AllowRow {
    domain: String,
    created_at: String,
}

#[derive(Serialize)]
struct Changed {
    domain: String,
    changed: bool,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    let staff = Staff::operator();
    match command {
        Command::List => {
            let (blocks, allows) = domain_decision::list(cx).await?;
            let blocks = blocks.into_iter().map(|block| Entry::Block(block.into()));
            let entries: Vec<Entry> =
                blocks.chain(allows.into_iter().map(|allow| Entry::Allow(allow.into()))).collect();
            output.list(&entries, "No domain is blocked or allowed.", Entry::line)
        }
        Command::Block(new) => {
            let (domain, params) = new.parts();
            let block = BlockRow::from(domain_decision::block(cx, &staff, &domain, params).await?);
            output.respond(&block, || block.text())
        }
        Command::Allow { domain } => {
            let (allow, changed) = domain_decision::allow(cx, &staff, &domain).await?;
            let since = if changed { "now" } else { "already" };
            let effect = match cx.config.access.limited_federation {
                true => "",
                false => " This has an effect only with access.limited_federation.",
            };
            let allowed = Changed { domain: allow.domain, changed };
            output.respond(&allowed, || format!("{} is {since} allowed.{effect}", allowed.domain))
        }
        Command::Remove { domain, allow } => {
            let (domain, state) = match allow {
                true => (domain_decision::disallow(cx, &staff, &domain).await?, "allowed"),
                false => (domain_decision::unblock(cx, &staff, &domain).await?, "blocked"),
            };
            let lost = match allow {
                true => "",
                false => " Its accounts are shown again; follows and media that the block ended stay lost.",
            };
            let removed = Changed { domain, changed: true };
            output.respond(&removed, || format!("{} is no longer {state}.{lost}", removed.domain))
        }
        Command::Purge(purge) => domain_purge::run(cx, purge, output).await,
        Command::Import(new) => Box::pin(domain_import::import(cx, new, output)).await,
        Command::Export(new) => domain_import::export(cx, new, output).await,
        Command::Subscription(command) => Box::pin(domain_subscription::run(cx, command, output)).await,
        Command::Exclude { domain } => domain_subscription::exclude(cx, &domain, output).await,
        Command::Unexclude { domain } => domain_subscription::unexclude(cx, &domain, output).await,
        Command::Exclusions => domain_subscription::exclusions(cx, output).await,
    }
}

impl From<Effect> for Severity {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Suspend => Self::Suspend,
            Effect::Silence => Self::Silence,
            Effect::Noop => Self::Noop,
        }
    }
}

impl NewBlock {
    fn parts(self) -> (String, BlockParams) {
        let params = BlockParams {
            severity: self.severity.into(),
            flags: Flags {
                reject_media: self.reject_media,
                reject_reports: self.reject_reports,
                reject_favourite: self.reject_favourite,
                reject_reply_exclude_followers: self.reject_reply_exclude_followers,
                reject_hashtag: self.reject_hashtag,
                reject_straight_follow: self.reject_straight_follow,
                reject_new_follow: self.reject_new_follow,
                reject_friend: self.reject_friend,
                reject_send_sensitive: self.reject_send_sensitive,
                block_trends: self.block_trends,
                detect_invalid_subscription: self.detect_invalid_subscription,
            },
            obfuscate: self.obfuscate,
            hidden: self.hidden,
            private_comment: self.private_comment,
            public_comment: self.comment,
        };
        (self.domain, params)
    }
}

impl From<Block> for BlockRow {
    fn from(block: Block) -> Self {
        Self {
            domain: block.domain,
            severity: block.severity,
            flags: block.flags.names(),
            obfuscate: block.obfuscate,
            hidden: block.hidden,
            comment: block.public_comment,
            private_comment: block.private_comment,
            created_at: block.created_at.to_api(),
        }
    }
}

impl From<Allow> for AllowRow {
    fn from(allow: Allow) -> Self {
        Self { domain: allow.domain, created_at: allow.created_at.to_api() }
    }
}

impl BlockRow {
    fn text(&self) -> String {
        let effect = match self.severity {
            Severity::Suspend => "Its accounts are suspended, and their follows end, in the background.",
            Severity::Silence => "Its accounts are limited in the background.",
            Severity::Noop => "Its accounts are neither suspended nor limited.",
        };
        let flags = match self.flags.is_empty() {
            true => String::new(),
            false => format!(" These flags are stored and have no effect yet: {}.", self.flags.join(", ")),
        };
        format!("{} is blocked now. {effect}{flags}", self.domain)
    }

    fn line(&self) -> String {
        let published = [(self.obfuscate, "obfuscate"), (self.hidden, "hidden")];
        let published = published.iter().filter(|(set, _)| *set).map(|(_, word)| *word);
        let words: Vec<&str> = self.flags.iter().copied().chain(published).collect();
        let comments: Vec<&str> =
            [&self.comment, &self.private_comment].into_iter().flatten().map(String::as_str).collect();
        let line =
            format!("{:<8} {:<40} {}  {}", self.severity.as_str(), self.domain, words.join(", "), comments.join(" / "));
        format!("{}\n", line.replace(char::is_control, " ").trim_end())
    }
}

impl Entry {
    fn line(&self) -> String {
        match self {
            Self::Block(block) => block.line(),
            Self::Allow(allow) => format!("{:<8} {}", "allow", allow.domain),
        }
    }
}
