//! Keys of the metrics that staff sees.

use super::text_enum;

text_enum! {
    /// A number over time.
    MeasureKey {
        ActiveUsers = "active_users",
        NewUsers = "new_users",
        Interactions = "interactions",
        OpenedReports = "opened_reports",
        ResolvedReports = "resolved_reports",
        TagAccounts = "tag_accounts",
        TagUses = "tag_uses",
        TagServers = "tag_servers",
        InstanceAccounts = "instance_accounts",
        InstanceMediaAttachments = "instance_media_attachments",
        InstanceReports = "instance_reports",
        InstanceStatuses = "instance_statuses",
        InstanceFollows = "instance_follows",
        InstanceFollowers = "instance_followers",
    }
}

text_enum! {
    /// A number split by a property.
    DimensionKey {
        Languages = "languages",
        Sources = "sources",
        Servers = "servers",
        SpaceUsage = "space_usage",
        SoftwareVersions = "software_versions",
        TagServers = "tag_servers",
        TagLanguages = "tag_languages",
        InstanceAccounts = "instance_accounts",
        InstanceLanguages = "instance_languages",
    }
}

text_enum! {
    /// The length of the periods of a cohort.
    Frequency {
        Day = "day",
        Month = "month",
    }
}
