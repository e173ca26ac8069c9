//! The entities by their names in the contract, for the types of responses: `Json<entity::Status>`,
//! `Page<entity::Account>`.
//!
//! Most entities are rendered as text, so their types have no values. Serialised entities use their struct.

use std::marker::PhantomData;

use crate::application::{Application, CredentialApplication};
use crate::async_refresh::AsyncRefresh;
use crate::domain_block::DomainBlockPreview;
use crate::instance::{DomainBlock, InstanceActivity};
use crate::notification::UnreadCount;
use crate::notification_request::NotificationRequestsMerged;
use crate::oembed::OEmbed;
use crate::terms_of_service::TermsOfService;
use crate::token::Token;
use crate::user_info::UserInfo;
use context::json::media::MediaAttachment;

/// JSON of a response.
pub trait Schema {
    /// The name of the schema in `docs/contract/entities`: `Status`, `Status[]`, `Status | ScheduledStatus`. Empty,
    /// for none, unless implemented.
    #[must_use]
    fn name() -> String {
        String::new()
    }
}

/// JSON of one of two schemas.
#[derive(Debug)]
pub struct Either<A, B>(PhantomData<fn() -> (A, B)>);

impl Schema for serde_json::Value {}

impl<T: Schema> Schema for Vec<T> {
    fn name() -> String {
        let element = T::name();
        if element.is_empty() { element } else { format!("{element}[]") }
    }
}

impl<A: Schema, B: Schema> Schema for Either<A, B> {
    fn name() -> String {
        format!("{} | {}", A::name(), B::name())
    }
}

macro_rules! named {
    ($($entity:ty = $name:expr),+ $(,)?) => {
        $(
            impl Schema for $entity {
                fn name() -> String {
                    $name.to_owned()
                }
            }
        )+
    };
}

/// Declares entities that are rendered as text.
macro_rules! rendered {
    ($($entity:ident $(= $name:literal)?),+ $(,)?) => {
        $(
            #[doc = concat!("`", rendered!(@name $entity $($name)?), "`")]
            #[derive(Debug)]
            pub enum $entity {}

            named!($entity = rendered!(@name $entity $($name)?));
        )+
    };
    (@name $entity:ident) => { stringify!($entity) };
    (@name $entity:ident $name:literal) => { $name };
}

named! {
    bool = "boolean",
    String = "string",
    crate::admin::AuditEntry = "Admin_AuditEntry",
    crate::admin::CanonicalEmailBlock = "Admin_CanonicalEmailBlock",
    crate::admin::DomainAllow = "Admin_DomainAllow",
    crate::admin::DomainBlock = "Admin_DomainBlock",
    crate::admin::DomainExclusion = "Admin_DomainExclusion",
    crate::admin::DomainPurge = "Admin_DomainPurge",
    crate::admin::DomainImport = "Admin_DomainImport",
    crate::admin::DomainList = "Admin_DomainList",
    crate::admin::DomainListDraft = "Admin_DomainListDraft",
    crate::admin::EmailDomainBlock = "Admin_EmailDomainBlock",
    crate::admin::IpBlock = "Admin_IpBlock",
    crate::admin::Role = "Admin_Role",
    crate::admin::Relay = "Admin_Relay",
    crate::admin::RemoteMedia = "Admin_RemoteMedia",
    crate::admin::UsernameBlock = "Admin_UsernameBlock",
    crate::admin::WarningPreset = "Admin_WarningPreset",
    Application = "Application",
    AsyncRefresh = "AsyncRefresh",
    CredentialApplication = "CredentialApplication",
    DomainBlock = "DomainBlock",
    DomainBlockPreview = "DomainBlockPreview",
    InstanceActivity = "InstanceActivity",
    TermsOfService = "TermsOfService",
    MediaAttachment = "MediaAttachment",
    NotificationRequestsMerged = "NotificationRequestsMerged",
    OEmbed = "OEmbed",
    Token = "Token",
    UnreadCount = "UnreadCount",
    UserInfo = "UserInfo",
}

rendered! {
    Account,
    AdminAccount = "Admin_Account",
    AdminAppeal = "Admin_Appeal",
    AdminCohort = "Admin_Cohort",
    AdminDimension = "Admin_Dimension",
    AdminMeasure = "Admin_Measure",
    AdminPublisher = "Admin_Publisher",
    AdminReport = "Admin_Report",
    AdminReportNote = "Admin_ReportNote",
    AdminTag = "Admin_Tag",
    AdminTrendsLink = "Admin_TrendsLink",
    AdminTrendsStatus = "Admin_TrendsStatus",
    Announcement,
    Context,
    Conversation,
    CredentialAccount,
    CustomEmoji,
    DefaultPolicies,
    Empty = "{}",
    ExtendedDescription,
    FamiliarFollowers,
    FeaturedTag,
    Filter,
    FilterKeyword,
    FilterStatus,
    GroupedNotificationsResults,
    IdentityProof,
    Instance,
    InteractionRequest,
    Language,
    List,
    Markers,
    MutedAccount,
    Notification,
    NotificationPolicy,
    NotificationRequest,
    Poll,
    Preferences,
    PrivacyPolicy,
    Profile,
    Relationship,
    Report,
    Rule,
    ScheduledStatus,
    Search,
    Status,
    StatusEdit,
    StatusSource,
    Suggestion,
    Tag,
    Translation,
    TranslationLanguages,
    TrendsLink,
    V1Filter = "V1_Filter",
    V1Instance = "V1_Instance",
    V1NotificationPolicy = "V1_NotificationPolicy",
    WebPushSubscription,
}
