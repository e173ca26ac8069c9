//! Blocked user names: how a block compares.

use super::text_enum;

text_enum! {
    /// How a blocked user name is compared with the name of a sign-up, both in the form that look-alikes share.
    UsernameComparison {
        /// They are the same.
        Equals = "equals",
        /// The name of the sign-up contains the blocked one.
        Contains = "contains",
    }
}
