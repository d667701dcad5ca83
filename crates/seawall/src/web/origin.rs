//! What an error says of an address that a server may have named.

use url::Url;

/// The longest name of a host, in bytes (RFC 1035, section 2.3.4).
const MAX_HOST_BYTES: usize = 253;

/// `scheme://host[:port]`, which is all of an address that an error says (O1). A host with a longer name than there is
/// cannot be reached, and is not said back.
pub(crate) fn shown_origin(url: &Url) -> String {
    let too_long = url
        .host_str()
        .is_some_and(|host| host.len() > MAX_HOST_BYTES);
    if too_long {
        return format!("{}://(a name that is too long)", url.scheme());
    }
    url.origin().ascii_serialization()
}
