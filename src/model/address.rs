//! IP addresses and networks: how they are written, compared and ordered.
//!
//! An IPv4 address that is mapped to IPv6 (`::ffff:192.0.2.1`) is the IPv4 address, everywhere.

use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net};

/// Prefix length of the IPv6 network of all mapped IPv4 addresses.
const MAPPED_LENGTH: u8 = 96;

/// The network that `text` names, as an address or in CIDR notation, without host bits; `None` for anything else.
#[must_use]
pub fn parse_network(text: &str) -> Option<IpNet> {
    let text = text.trim();
    let network = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from)).ok()?;
    Some(canonical(network))
}

/// `network` without host bits; a network of mapped addresses becomes its IPv4 network.
fn canonical(network: IpNet) -> IpNet {
    let IpNet::V6(v6) = network else { return network.trunc() };
    let mapped = v6.addr().to_ipv4_mapped().zip(v6.prefix_len().checked_sub(MAPPED_LENGTH));
    let v4 = mapped.and_then(|(address, length)| Ipv4Net::new(address, length).ok());
    v4.map_or(network, IpNet::V4).trunc()
}

/// `address` as a text whose order is that of addresses: `4` or `6`, and its hexadecimal digits.
#[must_use]
pub fn sortable(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(v4) => format!("4{:08x}", v4.to_bits()),
        IpAddr::V6(v6) => format!("6{:032x}", v6.to_bits()),
    }
}

/// The address that [`sortable`] wrote; `None` for any other text.
#[must_use]
pub fn from_sortable(text: &str) -> Option<IpAddr> {
    let (family, digits) = text.split_at_checked(1)?;
    match (family, digits.len()) {
        ("4", 8) => u32::from_str_radix(digits, 16).ok().map(|bits| IpAddr::V4(bits.into())),
        ("6", 32) => u128::from_str_radix(digits, 16).ok().map(|bits| IpAddr::V6(bits.into())),
        _ => None,
    }
}

/// The first and the last address of `network`, as [`sortable`] writes them.
#[must_use]
pub fn sortable_range(network: &IpNet) -> (String, String) {
    let network = canonical(*network);
    (sortable(network.network()), sortable(network.broadcast()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_is_written_in_one_way() {
        for (text, network) in [
            ("203.0.113.7", "203.0.113.7/32"),
            (" 203.0.113.7/24 ", "203.0.113.0/24"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("2001:DB8::1", "2001:db8::1/128"),
            ("2001:db8:1:2:3::/48", "2001:db8:1::/48"),
            ("::ffff:203.0.113.7", "203.0.113.7/32"),
            ("::ffff:203.0.113.7/120", "203.0.113.0/24"),
            ("::ffff:0:0/96", "0.0.0.0/0"),
            ("::/0", "::/0"),
        ] {
            assert_eq!(parse_network(text).map(|network| network.to_string()).as_deref(), Some(network), "{text}");
        }
        for text in ["", "203.0.113", "203.0.113.7/33", "::1/129", "example.org", "fe80::1%eth0", "1.2.3.4/", "1/8"] {
            assert_eq!(parse_network(text), None, "{text}");
        }
    }

    #[test]
    fn order_of_texts_is_the_order_of_addresses() {
        let addresses = ["0.0.0.0", "9.255.255.255", "10.0.0.1", "255.255.255.255", "::", "9::", "a::", "ffff::1"];
        let texts: Vec<String> = addresses.iter().map(|text| sortable(text.parse().expect("an address"))).collect();
        assert!(texts.is_sorted(), "{texts:?}");
        for (address, text) in addresses.iter().zip(&texts) {
            assert_eq!(from_sortable(text).map(|address| address.to_string()).as_deref(), Some(*address));
        }
        assert_eq!(sortable("::ffff:10.0.0.1".parse().expect("an address")), texts[2]);
        for text in ["", "4", "4zzzzzzzz", "600000000", "é0000000", "50a000001"] {
            assert_eq!(from_sortable(text), None, "{text}");
        }
    }

    #[test]
    fn network_is_a_range() {
        let within = |address: &str, network: &str| {
            let (first, last) = sortable_range(&parse_network(network).expect("a network"));
            (first..=last).contains(&sortable(address.parse().expect("an address")))
        };
        assert!(within("203.0.113.255", "203.0.113.0/24") && !within("203.0.114.0", "203.0.113.0/24"));
        assert!(within("2001:db8:1:ffff::", "2001:db8:1::/48") && !within("2001:db8:2::", "2001:db8:1::/48"));
        assert!(!within("203.0.113.1", "::/0") && within("203.0.113.1", "0.0.0.0/0"));
    }
}
