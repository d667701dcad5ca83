//! Where files go, and where they never go.

use std::fs;
use std::io::ErrorKind;

use super::super::SavedPath;
use super::*;

fn save(place: &Place, bytes: &[u8]) -> Result<SavedPath, WorkspaceError> {
    place.workspace.save(bytes, "bin")
}

/// N1: a file appears whole, under `tool-results/`, readable by its owner alone, and nothing else stays behind.
#[test]
fn file_is_saved_whole_and_alone() {
    let place = Place::new();
    let path = save(&place, b"abc").unwrap();
    let whole = place.folder.path().join(&path);
    assert_eq!(fs::read(&whole).unwrap(), b"abc");
    assert_eq!(place.names().len(), 1);
    #[cfg(target_os = "linux")]
    super::super::workspace::sync(&place.workspace.folder().unwrap()).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode =
            |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&whole), 0o600);
        assert_eq!(mode(whole.parent().unwrap()), 0o700);
    }
}

/// N1: a symbolic link in the place of `tool-results` is refused, wherever it leads, and nothing is written there.
#[cfg(unix)]
#[test]
fn symbolic_link_in_place_of_the_folder_is_refused() {
    use std::os::unix::fs::symlink;

    let elsewhere = tempfile::tempdir().unwrap();
    let place = Place::new();
    let root = place.folder.path();
    fs::create_dir(root.join("inside")).unwrap();
    // An absolute target and one that leads outside are refused by the sandbox alone; "inside" is not.
    let targets = [
        elsewhere.path(),
        "../..".as_ref(),
        "inside".as_ref(),
        "nothing".as_ref(),
    ];
    for target in targets {
        symlink(target, root.join("tool-results")).unwrap();
        assert_eq!(save(&place, b"abc"), Err(WorkspaceError::NotAFolder));
        fs::remove_file(root.join("tool-results")).unwrap();
    }
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    assert_eq!(fs::read_dir(root.join("inside")).unwrap().count(), 0);
}

/// N1: a file in the place of `tool-results` is refused and left alone.
#[test]
fn file_in_place_of_the_folder_is_refused() {
    let place = Place::new();
    fs::write(place.folder.path().join("tool-results"), "mine").unwrap();
    assert_eq!(save(&place, b"abc"), Err(WorkspaceError::NotAFolder));
    let read = place.read(&content(&payload("audio", b"x", "audio/wav")));
    assert!(matches!(read.outcome(), ModelOutcome::Incomplete(_)));
    let left = fs::read(place.folder.path().join("tool-results")).unwrap();
    assert_eq!(left, b"mine");
}

/// N1: the folder that was opened is the workspace, whatever its path leads to later.
#[cfg(unix)]
#[test]
fn workspace_is_the_folder_that_was_opened() {
    let parent = tempfile::tempdir().unwrap();
    let (first, moved) = (parent.path().join("a"), parent.path().join("b"));
    fs::create_dir(&first).unwrap();
    let workspace = Workspace::open(&first).unwrap();
    fs::rename(&first, &moved).unwrap();
    fs::create_dir(&first).unwrap();
    let path = workspace.save(b"abc", "bin").unwrap();
    assert_eq!(fs::read(moved.join(&path)).unwrap(), b"abc");
    assert_eq!(fs::read_dir(&first).unwrap().count(), 0);
}

/// N1: names are unique: writers that want the same one at the same time each get a file of their own, and none is
/// replaced, not even a dangling link.
#[test]
fn concurrent_writers_of_one_name_replace_nothing() {
    let place = Place::new();
    let writers: Vec<_> = (0_u8..8)
        .map(|writer| {
            // A workspace of its own: nothing makes them take turns.
            let workspace = Workspace::open(place.folder.path()).unwrap();
            std::thread::spawn(move || {
                let mut tried = 0;
                let path = workspace.save_as(&[writer; 1_000], || {
                    tried += 1;
                    Ok(format!("same-{tried}.bin"))
                });
                (writer, path.unwrap())
            })
        })
        .collect();
    for writer in writers {
        let (writer, path) = writer.join().unwrap();
        let bytes = fs::read(place.folder.path().join(path)).unwrap();
        assert_eq!(bytes, [writer; 1_000]);
    }
    let mut names = place.names();
    names.sort();
    let expected: Vec<_> = (1..=8).map(|at| format!("same-{at}.bin")).collect();
    assert_eq!(names, expected);

    #[cfg(unix)]
    std::os::unix::fs::symlink(
        place.folder.path().join("outside"),
        place.folder.path().join("tool-results/linked.bin"),
    )
    .unwrap();
    #[cfg(unix)]
    {
        let refused = place
            .workspace
            .save_as(b"x", || Ok("linked.bin".to_owned()));
        assert_eq!(refused, Err(WorkspaceError::Io(ErrorKind::AlreadyExists)));
        assert!(!place.folder.path().join("outside").exists());
    }
}

/// N1: even a name that would lead out of the folder leads nowhere.
#[test]
fn no_name_leads_out_of_the_workspace() {
    let place = Place::new();
    let outside = place
        .folder
        .path()
        .parent()
        .unwrap()
        .join("seawall-escaped");
    for name in ["../../seawall-escaped", outside.to_str().unwrap()] {
        assert!(
            place
                .workspace
                .save_as(b"x", || Ok(name.to_owned()))
                .is_err()
        );
    }
    assert!(!outside.exists());
    assert!(place.names().is_empty(), "no unfinished file stays");
}

/// N1: the quotas count what already stands there, inclusive, before anything is written.
#[test]
fn quotas_are_checked_before_writing() {
    let place = Place::with_quota(Quota::new(10, 3));
    assert!(save(&place, &[0; 4]).is_ok());
    // The files of an earlier run count too.
    let place = Place {
        workspace: Workspace::with_quota(place.folder.path(), Quota::new(10, 3)).unwrap(),
        folder: place.folder,
    };
    let full = Err(WorkspaceError::TooManyBytes { max_bytes: 10 });
    assert_eq!(save(&place, &[0; 7]), full);
    assert!(save(&place, &[0; 6]).is_ok());
    assert_eq!(save(&place, &[0; 1]), full);
    assert!(save(&place, &[]).is_ok());
    let full = Err(WorkspaceError::TooManyFiles { max_files: 3 });
    assert_eq!(save(&place, &[]), full);
    assert_eq!(place.names().len(), 3);
    let none = Place::with_quota(Quota::new(10, 0));
    let full = Err(WorkspaceError::TooManyFiles { max_files: 0 });
    assert_eq!(save(&none, &[]), full);
}

/// N1: writers that share a workspace never exceed its quotas together.
#[test]
fn concurrent_writers_keep_the_quotas() {
    let place = Place::with_quota(Quota::new(1_000, 5));
    let writers: Vec<_> = (0..8)
        .map(|_| {
            let workspace = place.workspace.clone();
            std::thread::spawn(move || workspace.save(b"x", "bin").is_ok())
        })
        .collect();
    let saved = writers.into_iter().map(|writer| writer.join().unwrap());
    assert_eq!(saved.filter(|saved| *saved).count(), 5);
    assert_eq!(place.names().len(), 5);
}

/// N1: a folder that cannot be written makes a result incomplete. O1: the reason has no path.
#[cfg(target_os = "linux")]
#[test]
fn folder_that_cannot_be_written_makes_the_result_incomplete() {
    // Nobody can make a folder there, not even the superuser, for whom modes say nothing.
    let workspace = Workspace::open("/proc/self").unwrap();
    let blocks = payload("audio", b"x", "audio/wav");
    let read = ModelResult::read(&content(&blocks), &workspace);
    let ModelOutcome::Incomplete(incomplete) = read.outcome() else {
        panic!("{}", read.to_text());
    };
    assert!(matches!(incomplete.reason(), WorkspaceError::Io(_)));
    assert!(!format!("{incomplete} {incomplete:?} {workspace:?}").contains("proc"));
}

/// N1: so does a read-only folder, for everybody but the superuser.
#[cfg(unix)]
#[test]
fn read_only_folder_makes_the_result_incomplete() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::new();
    let root = place.folder.path();
    fs::set_permissions(root, fs::Permissions::from_mode(0o500)).unwrap();
    let bound = fs::create_dir(root.join("probe")).is_err();
    let saved = save(&place, b"x");
    fs::set_permissions(root, fs::Permissions::from_mode(0o700)).unwrap();
    if bound {
        let denied = WorkspaceError::Io(ErrorKind::PermissionDenied);
        assert_eq!(saved, Err(denied));
    }
}

/// A workspace is an existing folder.
#[test]
fn workspace_that_is_no_folder_is_not_opened() {
    let file = tempfile::NamedTempFile::new().unwrap();
    assert!(Workspace::open(file.path()).is_err());
    let missing = file.path().with_extension("missing");
    let refused = Workspace::open(missing).map(|_| ());
    assert_eq!(refused, Err(WorkspaceError::Io(ErrorKind::NotFound)));
}
