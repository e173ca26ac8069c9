//! Blocked networks: what clients at an address may not do.
//!
//! Reached through `context::Cx`, which keeps all blocks in memory, since they are compared with every request. Where
//! several blocks cover an address, the strictest one holds that has not expired.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use ipnet::IpNet;

use super::{Time, text_enum};

text_enum! {
    /// The severity of a blocked network, the mildest first.
    IpSeverity {
        /// A moderator decides about each sign-up.
        SignUpRequiresApproval = "sign_up_requires_approval",
        /// No sign-up.
        SignUpBlock = "sign_up_block",
        /// Every request is refused.
        NoAccess = "no_access",
    }
}

/// The block of one network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpRule {
    pub severity: IpSeverity,
    /// `None`: never.
    pub expires_at: Option<Time>,
}

impl IpRule {
    fn holds(&self, now: Time) -> bool {
        self.expires_at.is_none_or(|expires_at| now < expires_at)
    }
}

/// All blocks of networks, by the length of their prefix: a look-up for each length that occurs.
#[derive(Clone, Debug, Default)]
pub struct IpBlocks(BTreeMap<u8, HashMap<IpNet, IpRule>>);

impl IpBlocks {
    /// These blocks, whose networks are as [`parse_network`](crate::address::parse_network) returns them.
    #[must_use]
    pub fn new(blocks: impl IntoIterator<Item = (IpNet, IpRule)>) -> Self {
        let mut by_length: BTreeMap<u8, HashMap<IpNet, IpRule>> = BTreeMap::new();
        for (network, rule) in blocks {
            by_length.entry(network.prefix_len()).or_default().insert(network, rule);
        }
        Self(by_length)
    }

    /// The strictest severity that holds for `address` at `now`; `None` without a block.
    #[must_use]
    pub fn severity(&self, address: IpAddr, now: Time) -> Option<IpSeverity> {
        if self.0.is_empty() {
            return None;
        }
        let address = address.to_canonical();
        let covering = self.0.iter().filter_map(|(length, blocks)| {
            let network = IpNet::new(address, *length).ok()?.trunc();
            blocks.get(&network).filter(|rule| rule.holds(now))
        });
        covering.map(|rule| rule.severity).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::parse_network;
    use IpSeverity::{NoAccess, SignUpBlock, SignUpRequiresApproval};

    const NOW: i64 = 100;

    fn blocks() -> IpBlocks {
        let blocks = [
            ("203.0.113.0/24", SignUpRequiresApproval, None),
            ("203.0.113.7", SignUpBlock, None),
            ("203.0.113.0/28", NoAccess, Some(NOW)),
            ("198.51.100.9", NoAccess, Some(NOW + 1)),
            ("2001:db8:1::/48", NoAccess, None),
            ("2001:db8:1:2::/64", SignUpBlock, None),
        ];
        IpBlocks::new(blocks.map(|(network, severity, expires_at)| {
            let rule = IpRule { severity, expires_at: expires_at.map(Time::from_micros) };
            (parse_network(network).expect("a network"), rule)
        }))
    }

    #[test]
    fn strictest_block_that_has_not_expired_holds() {
        let blocks = blocks();
        for (address, severity) in [
            ("203.0.113.200", Some(SignUpRequiresApproval)),
            ("203.0.113.7", Some(SignUpBlock)),
            ("::ffff:203.0.113.7", Some(SignUpBlock)),
            ("203.0.113.8", Some(SignUpRequiresApproval)),
            ("203.0.114.1", None),
            ("198.51.100.9", Some(NoAccess)),
            ("2001:db8:1:2::1", Some(NoAccess)),
            ("2001:db8:2::1", None),
            ("::1", None),
        ] {
            let found = blocks.severity(address.parse().expect("an address"), Time::from_micros(NOW));
            assert_eq!(found, severity, "{address}");
        }
        let later = blocks.severity("198.51.100.9".parse().expect("an address"), Time::from_micros(NOW + 1));
        assert_eq!(later, None);
    }

    #[test]
    fn networks_of_zero_bits_cover_their_family() {
        let all = |network| {
            let rule = IpRule { severity: NoAccess, expires_at: None };
            IpBlocks::new([(parse_network(network).expect("a network"), rule)])
        };
        let holds = |blocks: &IpBlocks, address: &str| {
            blocks.severity(address.parse().expect("an address"), Time::from_micros(0)).is_some()
        };
        let (v4, v6) = (all("0.0.0.0/0"), all("::/0"));
        assert!(holds(&v4, "203.0.113.7") && holds(&v4, "::ffff:203.0.113.7") && !holds(&v4, "2001:db8::1"));
        assert!(holds(&v6, "2001:db8::1") && !holds(&v6, "203.0.113.7") && !holds(&v6, "::ffff:203.0.113.7"));
        assert!(!holds(&IpBlocks::default(), "203.0.113.7"));
    }
}
