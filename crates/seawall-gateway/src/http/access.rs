//! Who may speak to the endpoint, by `Host` and `Origin`: pages of other sites may not, also not under a name of their own
//! that leads to this machine (DNS rebinding).
//!
//! Source: 2026-07-28, `basic/transports/streamable-http`, "Security & Endpoint".

use std::net::IpAddr;

use http::{HeaderValue, Request, header};
use seawall_proto::jsonrpc::{ErrorObject, INVALID_REQUEST};

/// Which hosts the endpoint answers as, and to pages of which origins. Requests without an `Origin` come of no page.
#[derive(Debug, Clone, Default)]
pub struct Access {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Access {
    /// Names of this machine's loopback alone: `localhost`, 127.0.0.0/8, `[::1]`, any port.
    #[must_use]
    pub fn loopback() -> Self {
        Self::default()
    }

    /// Answers as this host too: a name or an address, without a port.
    #[must_use]
    pub fn with_host(mut self, host: &str) -> Self {
        self.hosts.push(host.to_ascii_lowercase());
        self
    }

    /// Answers pages of this origin too, such as `https://example.com`.
    #[must_use]
    pub fn with_origin(mut self, origin: &str) -> Self {
        self.origins.push(origin.to_ascii_lowercase());
        self
    }

    /// The request's origin, if it has one; an error if it is not allowed.
    pub(super) fn check<B>(
        &self,
        request: &Request<B>,
    ) -> Result<Option<HeaderValue>, ErrorObject> {
        let refuse = |what: &str| {
            let message = format!("Invalid request: its {what} is not allowed here");
            Err(ErrorObject::new(INVALID_REQUEST, message, None))
        };
        let mut hosts = request.headers().get_all(header::HOST).into_iter();
        // HTTP/2 has the host in the URI.
        let host = match (hosts.next(), hosts.next(), request.uri().host()) {
            (Some(host), None, _) => host.to_str().ok().and_then(without_port),
            (None, None, Some(host)) => Some(host),
            _ => None,
        };
        let host = host.map(str::to_ascii_lowercase);
        if !host.is_some_and(|host| is_loopback(&host) || self.hosts.contains(&host)) {
            return refuse("Host");
        }
        let mut origins = request.headers().get_all(header::ORIGIN).into_iter();
        let origin = match (origins.next(), origins.next()) {
            (None, _) => return Ok(None),
            (Some(origin), None) => origin,
            _ => return refuse("Origin"),
        };
        let allowed = origin.to_str().is_ok_and(|origin| {
            let origin = origin.to_ascii_lowercase();
            let local = ["http://", "https://"]
                .iter()
                .find_map(|scheme| origin.strip_prefix(scheme))
                .and_then(without_port)
                .is_some_and(is_loopback);
            local || self.origins.contains(&origin)
        });
        if allowed {
            Ok(Some(origin.clone()))
        } else {
            refuse("Origin")
        }
    }
}

/// A host without its port, and without the brackets of an address; `None` if it is no such text.
fn without_port(authority: &str) -> Option<&str> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (address, port) = rest.split_once(']')?;
        return (port.is_empty() || is_port(port.strip_prefix(':')?)).then_some(address);
    }
    match authority.split_once(':') {
        None => Some(authority),
        Some((host, port)) => is_port(port).then_some(host),
    }
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok()
}

fn is_loopback(host: &str) -> bool {
    let host = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    host == "localhost"
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}
