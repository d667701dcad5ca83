//! A configuration's checks: pure, complete, and silent about values (K3, K9, K12, H6).

use std::collections::HashSet;
use std::io;
use std::path::Path;

use seawall::config::{Checked, Source, Surroundings, check};
use seawall::limits::{MAX_LIMIT, MAX_TIMEOUT_MS};

/// What every variable that is set holds.
const VARIABLE: &str = "VALUE-9f3a-VARIABLE";
/// What the file of variables holds.
const FILED: &str = "VALUE-9f3a-FILED";

/// A world in which names that begin with a letter up to M are set.
struct World;

impl Surroundings for World {
    fn variable(&self, name: &str) -> Option<String> {
        match name.bytes().next()? {
            b'A'..=b'L' => Some(VARIABLE.to_owned()),
            b'M' => Some(String::new()),
            _ => None,
        }
    }

    fn env_file(&self, path: &Path) -> io::Result<String> {
        if path.as_os_str().len().is_multiple_of(2) {
            Ok(format!("FROM_FILE={FILED}\nOTHER='{FILED}'\n"))
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }
}

/// The input is the text of a configuration.
pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut source = Source::new(text);
    source.surroundings = &World;
    let checked = check(&source);
    let again = check(&source);
    assert_eq!(checked.problems, again.problems);
    assert_eq!(checked.warnings, again.warnings);
    assert_eq!(
        format!("{:?}", checked.servers),
        format!("{:?}", again.servers)
    );
    if !text.contains("9f3a") {
        check_silence(&checked);
    }
    check_places(text, &checked);
    check_servers(&checked);
    let usable = checked.problems.is_empty();
    let found = checked.servers.len();
    match checked.into_servers() {
        Ok(servers) => assert!(usable && servers.len() == found),
        Err(problems) => assert!(!usable && !problems.as_slice().is_empty()),
    }
}

/// No finding holds a value, and no Debug one of the environment.
fn check_silence(checked: &Checked) {
    for problem in &checked.problems {
        let text = format!("{problem} {problem:?}");
        assert!(!text.contains("9f3a"), "{text}");
    }
    for warning in &checked.warnings {
        let text = format!("{warning} {warning:?}");
        assert!(!text.contains("9f3a"), "{text}");
    }
    for server in &checked.servers {
        let text = format!("{server:?}");
        assert!(!text.contains(FILED), "{text}");
    }
}

/// Every place is one of the text; CR LF, LF and a lone CR each end a line.
fn check_places(text: &str, checked: &Checked) {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<&str> = text.split('\n').collect();
    let problems = checked.problems.iter().map(|problem| problem.place());
    for place in problems.chain(checked.warnings.iter().map(|warning| warning.place())) {
        if let (Some(line), Some(column)) = (place.line(), place.column()) {
            let found = lines.get(line.wrapping_sub(1)).expect("a line of the text");
            // The end of a line is a place too, and so is the LF after a CR.
            assert!(
                column >= 1 && column <= found.chars().count() + 2,
                "{line}:{column}"
            );
        }
    }
}

/// Every entry that came through keeps the rules, also together with the others.
fn check_servers(checked: &Checked) {
    let mut ids = HashSet::new();
    for server in &checked.servers {
        let id = server.server();
        assert!(!id.is_empty() && id != "." && id != ".." && !id.contains('/'));
        let limits = server.limits();
        for count in [
            limits.queue_capacity,
            limits.max_frame_bytes,
            limits.max_outbound_frame_bytes,
            limits.max_tools,
            limits.max_tool_name_bytes,
            limits.max_tool_document_bytes,
            limits.max_catalog_pages,
            limits.max_stderr_bytes,
            limits.max_buffered_bytes,
        ] {
            assert!(count >= 1 && count as u64 <= MAX_LIMIT);
        }
        for time in [limits.handshake_timeout, limits.request_timeout] {
            let time = time.as_millis();
            assert!(time >= 1 && time <= u128::from(MAX_TIMEOUT_MS));
        }
        assert!(server.reconnect_interval() <= server.reconnect_max_interval());
        assert!(!server.name_prefix().is_empty());
        if checked.problems.is_empty() {
            assert!(ids.insert(id), "one owner per id");
            for other in &checked.servers {
                let (one, two) = (server.name_prefix(), other.name_prefix());
                let nested = two
                    .strip_prefix(one)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
                assert!(other.server() == id || !nested, "names could meet");
            }
        }
    }
}
