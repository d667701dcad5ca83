//! The names under which clients see tools (G4).
//!
//! **Invariant:** [`exported`] is a function of the server's id and the tool's name alone, so a name is the same after a
//! restart, in another order, and whatever other servers come or go. It matches `^[A-Za-z0-9_-]{1,64}$`, which is what
//! models' interfaces take.
//!
//! **Invariant:** two tools have different names, but for tools that are made to collide in 32 bits of SHA-256; whoever
//! offers names has to leave such tools out.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

#[cfg(test)]
mod tests;

/// How tools are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Names {
    /// `server__tool`, or what is made of it: see [`exported`]. The default.
    #[default]
    Scoped,
    /// The tool's own name, whatever it is made of. Of two tools that have the same one neither is offered.
    Plain,
}

/// Characters of a name at most: the bound of the models' interfaces.
pub const MAX_NAME: usize = 64;

/// Between the server's id and the tool's name.
pub(crate) const BETWEEN: &str = "__";
/// Hexadecimal digits of the hash, after an underscore.
const DIGITS: usize = 8;

impl Names {
    /// The name of this tool.
    #[must_use]
    pub fn of(self, server: &str, tool: &str) -> String {
        match self {
            Self::Scoped => exported(server, tool),
            Self::Plain => tool.to_owned(),
        }
    }
}

/// The name of a server's tool (G4): `server__tool` where that is legal and can be read in one way only, else made legal,
/// cut, and followed by `_` and 8 hexadecimal digits of the SHA-256 of both.
///
/// It can be read in one way only where the first `__` is the one between the two, and where it does not end as a name with a
/// hash does.
#[must_use]
pub fn exported(server: &str, tool: &str) -> String {
    let name = format!("{server}{BETWEEN}{tool}");
    let is_legal = is_word(server) && is_word(tool) && name.len() <= MAX_NAME;
    let is_clear = !server.contains(BETWEEN) && !server.ends_with('_') && !ends_as_hashed(&name);
    if is_legal && is_clear {
        return name;
    }
    let legal = |c: char| if is_part(c) { c } else { '_' };
    let mut hashed: String = name
        .chars()
        .map(legal)
        .take(MAX_NAME - DIGITS - 1)
        .collect();
    hashed.push('_');
    hashed.push_str(&digits(server, tool));
    hashed
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_part)
}

/// Whether the name ends in an underscore and as many hexadecimal digits as a hash has.
fn ends_as_hashed(name: &str) -> bool {
    let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    name.rsplit_once('_')
        .is_some_and(|(_, end)| end.len() == DIGITS && end.chars().all(is_digit))
}

fn digits(server: &str, tool: &str) -> String {
    let mut hash = Sha256::new();
    // The length says where the one ends and the other begins.
    hash.update(
        u64::try_from(server.len())
            .unwrap_or(u64::MAX)
            .to_be_bytes(),
    );
    hash.update(server.as_bytes());
    hash.update(tool.as_bytes());
    let mut digits = String::with_capacity(DIGITS);
    for byte in hash.finalize().iter().take(DIGITS / 2) {
        // Writing to a String cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
