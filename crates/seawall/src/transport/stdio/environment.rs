//! The environment that a child gets (S13).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use crate::config::StdioConfig;

/// What every child gets, if the host has it.
const PASSED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "TZ",
    "TMPDIR",
    "TMP",
    "TEMP",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
];

/// The beginnings of names that every child gets.
const PASSED_PREFIXES: &[&str] = &["LC_", "XDG_"];

/// What Windows programs do not start without.
#[cfg(windows)]
const PASSED_SYSTEM: &[&str] = &[
    "ALLUSERSPROFILE",
    "APPDATA",
    "COMMONPROGRAMFILES",
    "COMMONPROGRAMFILES(X86)",
    "COMMONPROGRAMW6432",
    "COMPUTERNAME",
    "COMSPEC",
    "DRIVERDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROCESSOR_IDENTIFIER",
    "PROCESSOR_LEVEL",
    "PROCESSOR_REVISION",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "PROGRAMW6432",
    "PUBLIC",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "USERDOMAIN",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];
#[cfg(not(windows))]
const PASSED_SYSTEM: &[&str] = &[];

/// The child's whole environment, by name: the fixed few of `host`, what `passEnv` names, everything if `inheritEnv` says
/// so, and then what the entry declares, which wins. On Linux the launch adds its mark, `SEAWALL_LAUNCH`, over all of it.
pub(crate) fn child_environment(
    config: &StdioConfig,
    host: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let inherited = host.into_iter().filter(|(name, _)| {
        config.inherit_env || is_passed(name) || is_named(name, &config.pass_env)
    });
    let declared = config
        .env
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let by_name: BTreeMap<OsString, (OsString, OsString)> = inherited
        .chain(declared)
        .map(|(name, value)| (folded(&name), (name, value)))
        .collect();
    by_name.into_values().collect()
}

/// Whether two names are the same variable.
pub(super) fn same_name(left: &OsStr, right: &str) -> bool {
    if cfg!(windows) {
        left.eq_ignore_ascii_case(right)
    } else {
        left == right
    }
}

fn is_passed(name: &OsStr) -> bool {
    let listed = || {
        PASSED
            .iter()
            .chain(PASSED_SYSTEM)
            .any(|passed| same_name(name, passed))
    };
    let begins = || {
        folded(name).to_str().is_some_and(|name| {
            PASSED_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
        })
    };
    listed() || begins()
}

fn is_named(name: &OsStr, names: &[String]) -> bool {
    names.iter().any(|wanted| same_name(name, wanted))
}

/// The form in which equal names are equal.
fn folded(name: &OsStr) -> OsString {
    if cfg!(windows) {
        name.to_ascii_uppercase()
    } else {
        name.to_owned()
    }
}
