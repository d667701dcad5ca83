//! Where each host keeps its servers, on each platform.

use super::*;

fn paths(platform: Platform, variables: &[(&str, &str)]) -> Vec<(HostApp, String, bool)> {
    let variable = |name: &str| {
        let mut pairs = variables.iter();
        pairs
            .find(|(key, _)| *key == name)
            .map(|(_, value)| OsString::from(value))
    };
    let world = World {
        platform,
        home: PathBuf::from("/h"),
        working_dir: PathBuf::from("/w"),
        variable: &variable,
    };
    let places = world.places().into_iter();
    let shown = |place: Place| {
        let path = place.path.display().to_string().replace('\\', "/");
        (place.host, path, place.project.is_some())
    };
    places.map(shown).collect()
}

#[test]
fn places_of_linux() {
    insta::assert_debug_snapshot!(paths(Platform::Linux, &[]));
}

#[test]
fn places_of_macos() {
    insta::assert_debug_snapshot!(paths(Platform::MacOs, &[]));
}

#[test]
fn places_of_windows() {
    insta::assert_debug_snapshot!(paths(Platform::Windows, &[]));
}

#[test]
fn variables_move_places_and_relative_ones_do_not() {
    let moved = paths(
        Platform::Linux,
        &[
            ("XDG_CONFIG_HOME", "/x"),
            ("CODEX_HOME", "/codex"),
            ("CLAUDE_CONFIG_DIR", "claude"),
        ],
    );
    let has = |path: &str| moved.iter().any(|(_, place, _)| place == path);
    assert!(has("/x/Claude/claude_desktop_config.json"));
    assert!(has("/x/Code/User/mcp.json"));
    assert!(has("/codex/config.toml"));
    assert!(has("/h/.claude.json"));
}

#[test]
fn home_as_working_directory_has_the_users_own_files() {
    let none = |_: &str| None;
    let world = World {
        platform: Platform::Linux,
        home: PathBuf::from("/h"),
        working_dir: PathBuf::from("/h"),
        variable: &none,
    };
    let cursor: Vec<Place> = world
        .places()
        .into_iter()
        .filter(|place| place.host == HostApp::Cursor)
        .collect();
    assert_eq!(cursor.len(), 1);
    assert_eq!(cursor[0].project, None);
}
