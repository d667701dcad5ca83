//! How a child starts, and what is said when it does not.

use std::fs;
use std::io::{IoSlice, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::super::super::SpawnError;
use super::*;

fn file(path: &Path, mode: u32, text: &str) {
    fs::File::create(path)
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn launch(command: impl Into<OsString>) -> Launch {
    Launch {
        command: command.into(),
        args: vec![],
        ..shell("")
    }
}

fn refusal(launch: &Launch) -> SpawnError {
    run(async {
        let error = spawn(launch, "demo").unwrap_err();
        let text = error.to_string();
        assert!(
            !text.contains('/') && !text.contains("secret"),
            "a path in {text:?}"
        );
        error
    })
}

/// T1, O1: a command that does not exist.
#[test]
fn missing_command_is_not_found() {
    assert!(matches!(
        refusal(&launch("seawall-no-such-secret")),
        SpawnError::NotFound
    ));
    assert!(matches!(
        refusal(&launch("/no/such/secret")),
        SpawnError::NotFound
    ));
    assert!(matches!(refusal(&launch("./secret")), SpawnError::NotFound));
    assert!(matches!(
        refusal(&launch("/dev/null/secret")),
        SpawnError::NotFound
    ));
    assert!(matches!(refusal(&launch("")), SpawnError::NotFound));
}

/// T1, O1: a file without the permission, by path and in the `PATH`.
#[test]
fn unexecutable_command_is_not_executable() {
    let folder = tempfile::tempdir().unwrap();
    file(&folder.path().join("secret"), 0o644, "#!/bin/sh\n");
    assert!(matches!(
        refusal(&launch(folder.path().join("secret"))),
        SpawnError::NotExecutable
    ));
    let mut bare = launch("secret");
    bare.env = vec![("PATH".into(), folder.path().into())];
    assert!(matches!(refusal(&bare), SpawnError::NotExecutable));
    assert!(matches!(
        refusal(&launch("/dev/null")),
        SpawnError::NotExecutable
    ));
}

/// T1, O1: a directory.
#[test]
fn directory_is_no_command() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(
        refusal(&launch(folder.path())),
        SpawnError::IsDirectory
    ));
    fs::create_dir(folder.path().join("secret")).unwrap();
    let mut bare = launch("secret");
    bare.env = vec![("PATH".into(), folder.path().into())];
    assert!(matches!(refusal(&bare), SpawnError::IsDirectory));
}

/// T1, O1: the file is there, its interpreter is not.
#[test]
fn missing_interpreter_is_told_from_a_missing_command() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("secret");
    file(&script, 0o755, "#!/no/such/interpreter\n");
    assert!(matches!(
        refusal(&launch(&script)),
        SpawnError::InterpreterMissing
    ));
}

/// T1, O1: the working directory is gone, or is a file.
#[test]
fn missing_working_directory_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut launch = shell("true");
    launch.cwd = Some(folder.path().join("secret"));
    assert!(matches!(refusal(&launch), SpawnError::WorkingDirectory));
    launch.cwd = Some("/dev/null".into());
    assert!(matches!(refusal(&launch), SpawnError::WorkingDirectory));
}

/// O1: what the system refuses for other reasons.
#[test]
fn impossible_argument_is_refused_without_its_text() {
    let mut launch = shell("true");
    launch.args = words(&["secret\0"]);
    let refused = refusal(&launch);
    assert!(
        matches!(&refused, SpawnError::Io(error) if error.kind() == std::io::ErrorKind::InvalidInput)
    );
    assert_eq!(
        refused.to_string(),
        "the process could not be started: invalid input parameter"
    );
}

/// O1: what the system ran out of is named, also where the standard library has no kind for it.
#[test]
fn refusal_of_the_system_is_told_in_its_words() {
    let refused = SpawnError::from(std::io::Error::from(rustix::io::Errno::MFILE));
    let text = refused.to_string();
    assert!(
        text.starts_with("the process could not be started: Too many open files"),
        "{text}"
    );
}

/// T1: without a runtime there is an error, not a panic.
#[test]
fn spawn_without_a_runtime_is_refused() {
    assert!(matches!(
        spawn(&shell("true"), "demo"),
        Err(SpawnError::NoRuntime)
    ));
}

/// S13: a bare command is looked up where the child would look, not where the host would.
#[test]
fn command_is_looked_up_in_the_path_of_the_child() {
    let folder = tempfile::tempdir().unwrap();
    file(
        &folder.path().join("tool"),
        0o755,
        "#!/bin/sh\necho \"$0 $1\"\n",
    );
    let mut launch = launch("tool");
    launch.args = words(&["word"]);
    launch.env = vec![(
        "PATH".into(),
        format!("/no/such:{}", folder.path().display()).into(),
    )];
    run(async {
        let mut child = spawn(&launch, "demo").unwrap();
        assert_eq!(
            line(&mut child.stdout).await,
            format!("{}/tool word", folder.path().display())
        );
        child.tree.end(BOUND).await.unwrap();
    });
    let mut hidden = shell("true");
    hidden.env = vec![("PATH".into(), folder.path().into())];
    assert!(matches!(refusal(&hidden), SpawnError::NotFound));
}

/// T1: a relative command, and a relative entry of `PATH`, are relative to the child's working directory.
#[test]
fn relative_command_is_relative_to_the_working_directory() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("bin")).unwrap();
    file(
        &folder.path().join("bin/tool"),
        0o755,
        "#!/bin/sh\necho ran\n",
    );
    run(async {
        for (command, path) in [
            ("./bin/tool", "/usr/bin:/bin"),
            ("bin/tool", "/usr/bin:/bin"),
            ("tool", "bin"),
        ] {
            let mut launch = launch(command);
            launch.cwd = Some(folder.path().to_owned());
            launch.env = vec![("PATH".into(), path.into())];
            let mut child = spawn(&launch, "demo").unwrap();
            assert_eq!(line(&mut child.stdout).await, "ran");
            child.tree.end(BOUND).await.unwrap();
        }
    });
}

/// S13: the child's environment is the launch's, whole, and on Linux the launch's mark.
#[test]
fn child_sees_exactly_the_environment_of_the_launch() {
    run(async {
        let mut launch = launch("env");
        launch.env.push(("DECLARED".into(), "value".into()));
        let mut child = spawn(&launch, "demo").unwrap();
        let mut text = String::new();
        child.stdout.read_to_string(&mut text).await.unwrap();
        let mut names: Vec<&str> = text
            .lines()
            .filter_map(|line| Some(line.split_once('=')?.0))
            .collect();
        names.sort_unstable();
        #[cfg(target_os = "linux")]
        assert_eq!(names.pop(), Some("SEAWALL_LAUNCH"));
        assert_eq!(names, ["DECLARED", "PATH"]);
        child.tree.end(BOUND).await.unwrap();
    });
}

/// T1: a group of its own, led by the child.
#[test]
fn child_leads_its_own_group() {
    run(async {
        let child = start("cat");
        let pid = rustix::process::Pid::from_raw(raw(child.tree.pid())).unwrap();
        assert_eq!(rustix::process::getpgid(Some(pid)), Ok(pid));
        drop(child.stdin);
        child.tree.end(BOUND).await.unwrap();
    });
}

/// T1: the pipes are non-blocking, take several frames in one write, and say so when they are full.
#[test]
fn full_pipe_does_not_block() {
    run(async {
        let child = start("sleep 60");
        child.stdin.writable().await.unwrap();
        let frames = [IoSlice::new(b"one\n"), IoSlice::new(b"two\n")];
        assert_eq!(child.stdin.try_write_vectored(&frames).unwrap(), 8);
        let block = vec![b'x'; 4096];
        let refused = loop {
            child.stdin.writable().await.unwrap();
            match child.stdin.try_write(&block) {
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert_eq!(refused.kind(), std::io::ErrorKind::WouldBlock);
        child.tree.kill_now();
    });
}

/// T1: a child that closes only its stdin lives, and what is written breaks.
#[test]
fn child_that_closes_only_stdin_lives_and_is_ended() {
    run(async {
        let mut child = start("exec <&-; echo closed; sleep 60");
        assert_eq!(line(&mut child.stdout).await, "closed");
        // A child of another thread's that is between fork and exec holds every pipe there is for that moment.
        let error = loop {
            match child.stdin.try_write(b"x") {
                Ok(_) => tokio::time::sleep(Duration::from_millis(5)).await,
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
        let pid = raw(child.tree.pid());
        assert!(lives(pid));
        drop(child.stdin);
        child.tree.end(Duration::ZERO).await.unwrap();
        assert!(!exists(pid));
    });
}
