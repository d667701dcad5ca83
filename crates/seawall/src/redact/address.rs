//! What may be secret in an address (R1).

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::SecretString;
use url::Url;

use super::{MARKER, MIN_SECRET_CHARS};
use crate::config::looks_like_credential;

/// The secrets of an address.
#[derive(Default)]
pub(super) struct AddressSecrets {
    /// Secrets wherever they stand.
    pub(super) values: Vec<SecretString>,
    /// Short values with their names, secrets where no word runs on.
    pub(super) pairs: Vec<SecretString>,
}

/// An address as it may be shown: its origin and path. User information and fragment are left out; path segments that
/// look like a credential, and the whole query, are replaced by [`MARKER`] (R1).
#[must_use]
pub fn shown_url(url: &Url) -> String {
    let origin = url.origin();
    let mut shown = if origin.is_tuple() {
        origin.ascii_serialization()
    } else {
        format!("{}:", url.scheme())
    };
    for segment in url.path_segments().into_iter().flatten() {
        let secret = looks_like_credential(segment) || looks_like_credential(&decoded(segment));
        shown.push('/');
        shown.push_str(if secret { MARKER } else { segment });
    }
    if url.query().is_some_and(|query| !query.is_empty()) {
        shown.push('?');
        shown.push_str(MARKER);
    }
    shown
}

/// What may be secret in `url`, as it is sent and decoded.
pub(super) fn secrets(url: &Url) -> AddressSecrets {
    let mut found = AddressSecrets::default();
    let (user, password) = (url.username(), url.password().unwrap_or_default());
    if !user.is_empty() || !password.is_empty() {
        let (plain_user, plain_password) = (decoded(user), decoded(password));
        let basic = STANDARD.encode(format!("{plain_user}:{plain_password}"));
        found.value(&basic);
        for text in [user, password, &plain_user, &plain_password] {
            found.value(text);
        }
    }
    for segment in url.path_segments().into_iter().flatten() {
        let plain = decoded(segment);
        if looks_like_credential(segment) || looks_like_credential(&plain) {
            found.value(segment);
            found.value(&plain);
        }
    }
    for sent in url.query().unwrap_or_default().split('&') {
        let (name, value) = sent.split_once('=').unwrap_or((sent, ""));
        let (plain_name, plain_value) = (form_decoded(name), form_decoded(value));
        if looks_like_credential(&plain_name) {
            // A credential in the place of a name.
            found.value(name);
            found.value(&plain_name);
            found.value(&decoded(name));
        }
        // As it is sent; as a form's reader has it, where `+` is a blank; and as anybody else has it.
        let forms = [
            (name, value),
            (&*plain_name, &*plain_value),
            (&*decoded(name), &*decoded(value)),
        ];
        for (name, value) in forms {
            if value.chars().count() >= MIN_SECRET_CHARS {
                found.value(value);
            } else if !value.is_empty() && !name.is_empty() {
                found.pairs.push(format!("{name}={value}").into());
            }
        }
    }
    found
}

impl AddressSecrets {
    /// Adds a text; one that is too short is dropped where the forms are made.
    fn value(&mut self, text: &str) {
        if !text.is_empty() {
            self.values.push(text.into());
        }
    }
}

fn decoded(text: &str) -> Cow<'_, str> {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy()
}

/// As a form's parameter: `+` is a blank.
fn form_decoded(text: &str) -> String {
    decoded(&text.replace('+', " ")).into_owned()
}
