//! Relationships that an account lost in one event.

use super::text_enum;

text_enum! {
    /// Why the relationships ended.
    SeveranceKind {
        /// Moderators blocked the domain.
        DomainBlock = "domain_block",
        /// The account blocked the domain.
        UserDomainBlock = "user_domain_block",
        /// Moderators suspended the account.
        AccountSuspension = "account_suspension",
    }
}
