//! Which addresses a login may touch: `https`, or this machine if the server itself is on it.
//!
//! A server's metadata names the addresses, so without this rule any server could have requests made inside the network
//! of its host. A name that resolves to such an address is the egress policy's business.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// A longer address is none: it would be kept, and its host told in errors.
const MAX_ADDRESS_BYTES: usize = 4096;

/// From where a host can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// From anywhere, as far as its name tells.
    Public,
    /// From inside a network.
    Private,
    /// From this machine or this link.
    Local,
}

/// `text` as an address that a login with `resource` may request, or open in a browser.
pub(super) fn endpoint(text: &str, resource: &Url) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let secure = url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url));
    (secure && harmless(&url, resource)).then_some(url)
}

/// Whether `text` is all of the address that it stands for: a reader of addresses drops line feeds, tabs and blanks, and
/// of a host's name whatever nobody sees, so that they would be kept and shown with a name that is compared as a text.
pub(super) fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// `text` as an address of the server's own metadata: an endpoint, or of the origin that is spoken to anyway.
pub(super) fn metadata(text: &str, resource: &Url) -> Option<Url> {
    let own = Url::parse(text)
        .ok()
        .filter(|url| url.origin() == resource.origin() && harmless(url, resource));
    own.or_else(|| endpoint(text, resource))
}

/// Whether `url` is on this machine by its name.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => is_localhost(name),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn harmless(url: &Url, resource: &Url) -> bool {
    url.as_str().len() <= MAX_ADDRESS_BYTES
        && url.has_host()
        && url.username().is_empty()
        && url.password().is_none()
        && url.fragment().is_none()
        && reach(url) <= reach(resource)
}

fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}

fn reach(url: &Url) -> Reach {
    match url.host() {
        Some(Host::Domain(name)) if is_localhost(name) => Reach::Local,
        Some(Host::Domain(_)) | None => Reach::Public,
        Some(Host::Ipv4(address)) => reach_of(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => reach_of(IpAddr::V6(address)),
    }
}

fn reach_of(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(v4) => reach_v4(v4),
        IpAddr::V6(v6) => embedded(v6).map_or_else(|| reach_v6(v6), reach_v4),
    }
}

fn reach_v4(address: Ipv4Addr) -> Reach {
    let [a, b, ..] = address.octets();
    if address.is_private() || (a == 100 && (64..128).contains(&b)) {
        Reach::Private
    } else if a == 0 || a == 127 || a >= 224 || address.is_link_local() {
        Reach::Local
    } else {
        Reach::Public
    }
}

fn reach_v6(address: Ipv6Addr) -> Reach {
    if address.is_unique_local() {
        Reach::Private
    } else if address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unicast_link_local()
    {
        Reach::Local
    } else {
        Reach::Public
    }
}

/// The IPv4 address that an IPv6 address stands for: mapped, or behind NAT64.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    address
        .to_ipv4_mapped()
        .or_else(|| match address.segments() {
            [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
                let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
                Some(Ipv4Addr::new(a, b, c, d))
            }
            _ => None,
        })
}
