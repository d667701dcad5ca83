//! What is printed: data on stdout, talk on stderr. A reader that went away is no error here.

use std::fmt::Display;
use std::io::Write as _;

/// Prints one line of data on stdout.
pub(crate) fn data(line: impl Display) {
    drop(writeln!(std::io::stdout().lock(), "{line}"));
}

/// Prints one line of talk on stderr.
pub(crate) fn say(line: impl Display) {
    drop(writeln!(std::io::stderr().lock(), "{line}"));
}
