//! The client's IP address: the peer's, or the one a trusted proxy reports in `X-Forwarded-For`.
//!
//! Used for rate limits, blocked networks, and the addresses that accounts used. Headers from addresses outside
//! `server.trusted_proxies` are ignored, as anyone can set them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, Request};
use axum::http::{Extensions, HeaderMap};
use ipnet::IpNet;

/// The client's address; localhost for a request without a connection, as in tests.
#[must_use]
pub fn client_address(request: &Request, trusted: &[IpNet]) -> IpAddr {
    of(request.extensions(), request.headers(), trusted)
}

/// Like [`client_address`], from the parts of a request.
#[must_use]
pub fn of(extensions: &Extensions, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    let peer = peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |ConnectInfo(peer)| peer.ip().to_canonical());
    resolve_forwarded(peer, headers, trusted)
}

/// Walks `X-Forwarded-For` from right to left for as long as the hop that reported the next address is trusted.
fn resolve_forwarded(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|network| network.contains(address));
    if !is_trusted(&peer) {
        return peer;
    }
    let hops: Vec<&str> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .collect();
    let mut address = peer;
    for hop in hops.into_iter().rev() {
        if !is_trusted(&address) {
            break;
        }
        match hop.parse::<IpAddr>() {
            Ok(next) => address = next.to_canonical(),
            Err(_) => break,
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(peer: &str, forwarded: &'static str, trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", axum::http::HeaderValue::from_static(forwarded));
        let trusted: Vec<IpNet> = trusted.iter().map(|network| network.parse().expect("a network")).collect();
        resolve_forwarded(peer.parse().expect("an address"), &headers, &trusted).to_string()
    }

    #[test]
    fn only_a_trusted_proxy_is_believed() {
        assert_eq!(seen("192.0.2.9", "198.51.100.1", &[]), "192.0.2.9");
        assert_eq!(seen("10.0.0.1", "198.51.100.1", &["10.0.0.0/8"]), "198.51.100.1");
        assert_eq!(seen("10.0.0.1", "203.0.113.5, 198.51.100.1, 10.0.0.2", &["10.0.0.0/8"]), "198.51.100.1");
        assert_eq!(seen("10.0.0.1", "nonsense", &["10.0.0.0/8"]), "10.0.0.1");
    }
}
