//! Relationships that somebody lost at one stroke.

use super::text_enum;

text_enum! {
    /// Why they ended.
    SeveranceKind {
        /// Moderators blocked the domain.
        DomainBlock = "domain_block",
        /// They blocked the domain themselves.
        UserDomainBlock = "user_domain_block",
        /// Moderators suspended the account.
        AccountSuspension = "account_suspension",
    }
}
