//! Which file is read, and what is said when it cannot be.

use super::*;

const GOOD: &str = r#"{"mcpServers": {"a": {"command": "c"}}}"#;

fn lookup(dir: &Path) -> Lookup {
    Lookup {
        working_dir: dir.join("work"),
        config_dir: Some(dir.join("config")),
        ..Lookup::default()
    }
}

/// K2: the flag, then the variable, then the working directory, then the platform's directory, then nothing.
#[test]
fn flag_wins_over_variable_over_directories() {
    let dir = tempfile::tempdir().unwrap();
    let mut lookup = lookup(dir.path());
    std::fs::create_dir_all(&lookup.working_dir).unwrap();
    std::fs::create_dir_all(dir.path().join("config")).unwrap();
    assert_eq!(lookup.locate(), None);
    assert_eq!(load(&lookup, &Nothing).into_servers().unwrap(), []);
    let file = |origin, path: &Path| Some((origin, path.to_path_buf()));
    let last = dir.path().join("config/seawall.json");
    std::fs::write(&last, GOOD).unwrap();
    assert_eq!(lookup.locate(), file(Origin::ConfigDirectory, &last));
    let next = dir.path().join("work/seawall.json");
    std::fs::write(&next, GOOD).unwrap();
    assert_eq!(lookup.locate(), file(Origin::WorkingDirectory, &next));
    lookup.variable = Some("".into());
    assert_eq!(lookup.locate(), file(Origin::WorkingDirectory, &next));
    lookup.variable = Some("var.json".into());
    assert_eq!(
        lookup.locate(),
        file(Origin::Variable, Path::new("var.json"))
    );
    lookup.flag = Some("flag.json".into());
    assert_eq!(lookup.locate(), file(Origin::Flag, Path::new("flag.json")));
}

/// K3: missing, unreadable, not text: the flag or the variable and the path are named.
#[test]
fn unreadable_file_names_how_it_was_named() {
    let dir = tempfile::tempdir().unwrap();
    let gone = dir.path().join("gone.json");
    let mut lookup = lookup(dir.path());
    lookup.variable = Some(gone.clone().into());
    let message = load(&lookup, &Nothing).problems[0].to_string();
    assert!(
        message.contains("SEAWALL_MCP_CONFIG")
            && message.contains("gone.json")
            && message.contains("no such file"),
        "{message}"
    );
    lookup.flag = Some(dir.path().to_path_buf());
    let problem = load(&lookup, &Nothing).problems.remove(0);
    assert_eq!(
        (problem.place().origin(), problem.kind().code()),
        (Origin::Flag, "unreadable")
    );
    std::fs::write(&gone, b"[\"\xff\"]").unwrap();
    assert_eq!(
        check_file(&gone, Origin::Argument, dir.path(), &Nothing).problems[0]
            .kind()
            .code(),
        "not_utf8"
    );
    lookup.flag = Some(PathBuf::new());
    assert_eq!(
        load(&lookup, &Nothing).problems[0].kind().code(),
        "empty_path"
    );
}

/// K3: a file past the bound is not read whole.
#[test]
fn file_past_the_bound_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("big.json");
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(MAX_FILE_BYTES + 1).unwrap();
    assert_eq!(
        check_file(&path, Origin::Flag, dir.path(), &Nothing).problems[0]
            .kind()
            .code(),
        "file_too_large"
    );
}

/// K1: an editor's own file speaks of the folder that holds its directory.
#[test]
fn editors_file_has_its_folder_as_workspace() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join(".vscode")).unwrap();
    let path = dir.path().join(".vscode/mcp.json");
    std::fs::write(
        &path,
        r#"{"servers": {"a": {"command": "${workspaceFolder}/x"}}}"#,
    )
    .unwrap();
    let servers = check_file(&path, Origin::Flag, Path::new("/elsewhere"), &Nothing)
        .into_servers()
        .unwrap();
    assert_eq!(Path::new(&stdio(&servers[0]).command), dir.path().join("x"));
}
