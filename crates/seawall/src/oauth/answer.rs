//! The authorization server's answer, as the browser brought it (RFC 6749, section 4.1.2; RFC 9207).

use url::Url;

use super::discovery::AuthorizationServer;
use super::fetch::origin;
use super::token::code_of;
use crate::config::Secret;
use crate::web::{AuthError, Exchange, LoginFault};

/// The code of an answer that is to this request and from this server. Only then anything in it counts, its error too.
pub(super) fn code(
    answer: &Url,
    redirect: &Url,
    state: &str,
    server: &AuthorizationServer,
) -> Result<Secret, AuthError> {
    let fault = |fault| Err(AuthError::Login(fault));
    if answer.origin() != redirect.origin()
        || answer.path() != redirect.path()
        || single(answer, "state").as_deref() != Some(state)
    {
        return fault(LoginFault::State);
    }
    match single(answer, "iss") {
        // As texts: an issuer that only means the same is another one.
        Some(issuer) if issuer == server.issuer => {}
        None if !server.names_itself && count(answer, "iss") == 0 => {}
        _ => return fault(LoginFault::Issuer),
    }
    if let Some(error) = single(answer, "error") {
        if error == "access_denied" {
            return fault(LoginFault::Denied);
        }
        return Err(AuthError::Refused {
            origin: origin(&server.url),
            what: Exchange::Authorization,
            code: code_of(&error),
        });
    }
    match single(answer, "code") {
        Some(code) if !code.is_empty() => Ok(Secret::new(code)),
        _ => fault(LoginFault::NoCode),
    }
}

fn count(url: &Url, name: &str) -> usize {
    url.query_pairs().filter(|(key, _)| key == name).count()
}

/// A parameter that is there exactly once.
fn single(url: &Url, name: &str) -> Option<String> {
    if count(url, name) != 1 {
        return None;
    }
    url.query_pairs()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned())
}
