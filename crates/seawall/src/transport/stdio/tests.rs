use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use super::*;
use crate::config::{Endpoint, ServerConfig, StdioConfig};

/// A checked entry with nothing in it.
fn bare() -> StdioConfig {
    let server = ServerConfig::stdio("demo", "server").build().unwrap();
    match server.endpoint() {
        Endpoint::Stdio(config) => config.clone(),
        other => panic!("not a stdio entry: {other:?}"),
    }
}

fn host(variables: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    variables
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

fn names(environment: &[(OsString, OsString)]) -> Vec<&OsStr> {
    environment
        .iter()
        .map(|(name, _)| name.as_os_str())
        .collect()
}

const ALL: &[&str] = &[
    "CURL_CA_BUNDLE",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_TIME",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "PATH",
    "REQUESTS_CA_BUNDLE",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
];

/// S13: the allow list, whole.
#[test]
fn listed_variables_are_passed() {
    let variables: Vec<(&str, &str)> = ALL.iter().map(|name| (*name, "value")).collect();
    assert_eq!(names(&child_environment(&bare(), host(&variables))), ALL);
}

/// S13: nothing beside the allow list, not even what looks alike; proxies only by `passEnv`.
#[test]
fn unlisted_variables_are_not_passed() {
    let others = [
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "HTTPS_PROXY",
        "http_proxy",
        "NODE_OPTIONS",
        "LD_PRELOAD",
        "PATHX",
        "HOMEX",
        "LC",
        "XDG",
        "MY_LC_ALL",
        "lc_all",
        "SEAWALL_MCP_CONFIG",
        "PYTHONPATH",
        "SSH_AUTH_SOCK",
        "",
    ];
    let variables: Vec<(&str, &str)> = others.iter().map(|name| (*name, "value")).collect();
    assert_eq!(child_environment(&bare(), host(&variables)), vec![]);
}

/// S13: Windows' system names are Windows'.
#[cfg(not(windows))]
#[test]
fn windows_names_are_not_passed_elsewhere() {
    assert_eq!(
        child_environment(&bare(), host(&[("SYSTEMROOT", "x"), ("PATHEXT", "y")])),
        vec![]
    );
}

/// S13: `passEnv` passes what it names, if the host has it.
#[test]
fn named_variables_are_passed() {
    let mut config = bare();
    config.pass_env = vec!["HTTPS_PROXY".into(), "ABSENT".into()];
    let environment = child_environment(
        &config,
        host(&[("HTTPS_PROXY", "http://p"), ("HTTP_PROXY", "http://q")]),
    );
    assert_eq!(environment, host(&[("HTTPS_PROXY", "http://p")]));
}

/// S13: `inheritEnv` passes everything, and declared values win over it.
#[test]
fn inherited_environment_is_whole_and_declared_values_win() {
    let mut config = bare();
    config.inherit_env = true;
    config.env = BTreeMap::from([("B".into(), "declared".into()), ("D".into(), "new".into())]);
    let environment = child_environment(&config, host(&[("A", "1"), ("B", "2"), ("C", "3")]));
    assert_eq!(
        environment,
        host(&[("A", "1"), ("B", "declared"), ("C", "3"), ("D", "new")])
    );
}

/// S13: declared values win over the allow list too, `PATH` with them.
#[test]
fn declared_path_wins() {
    let mut config = bare();
    config.env = BTreeMap::from([("PATH".into(), "/declared".into())]);
    let launch = Launch::new(&config, host(&[("PATH", "/host"), ("HOME", "/home")]));
    assert_eq!(
        launch.env,
        host(&[("HOME", "/home"), ("PATH", "/declared")])
    );
    assert_eq!(launch.variable("PATH"), Some(&OsString::from("/declared")));
}

/// O1: a launch that is printed shows no argument and no value.
#[test]
fn debug_of_a_launch_hides_arguments_and_environment() {
    let launch = Launch {
        command: "server".into(),
        args: vec!["--token=hunter2".into()],
        cwd: None,
        env: host(&[("API_KEY", "hunter2")]),
    };
    assert_eq!(format!("{launch:?}"), "Launch { command: \"server\", .. }");
}

/// T1: the words of a failed end.
#[test]
fn a_child_that_cannot_be_reaped_is_named() {
    let failure = NotReaped::Leader {
        pid: 7,
        server: "demo".into(),
    };
    assert_eq!(
        failure.to_string(),
        "stdio child 7 of MCP server \"demo\" did not exit within 2000ms of SIGKILL"
    );
    let failure = NotReaped::Rest {
        pid: 7,
        server: "demo".into(),
    };
    assert_eq!(
        failure.to_string(),
        "stdio child 7 of MCP server \"demo\" exited, but a process that it started did not exit within 2000ms of \
         SIGKILL"
    );
}
