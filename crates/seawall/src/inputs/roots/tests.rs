//! What is a root.

use std::path::Path;

use super::{Root, RootError};

#[test]
fn a_root_is_a_plain_file_uri() {
    for (uri, kept) in [
        ("file:///srv/project", "file:///srv/project"),
        ("file:///srv/a/../b/./c", "file:///srv/b/c"),
        ("file:///srv/a/%2e%2e/b", "file:///srv/b"),
        ("file://localhost/srv", "file:///srv"),
    ] {
        assert_eq!(Root::new(uri).unwrap().uri().as_str(), kept);
    }
    for (uri, expected) in [
        ("https://example.com/", RootError::NotFile),
        ("/srv/project", RootError::NotUri),
        ("file://server/share", RootError::NotPlain),
        ("file:///srv?q", RootError::NotPlain),
        ("file:///srv#f", RootError::NotPlain),
        ("file:///srv/%00", RootError::NotPlain),
        ("file:///srv/..%2Fetc", RootError::NotPlain),
    ] {
        assert_eq!(Root::new(uri).unwrap_err(), expected, "{uri}");
    }
}

#[cfg(unix)]
#[test]
fn a_path_is_encoded() {
    let root = Root::of_path(Path::new("/srv/my #1 project?"))
        .unwrap()
        .named("mine");
    assert_eq!(root.uri().as_str(), "file:///srv/my%20%231%20project%3F");
    assert_eq!(root.name(), Some("mine"));
    assert_eq!(
        Root::of_path(Path::new("project")).unwrap_err(),
        RootError::NotAbsolute
    );
}
