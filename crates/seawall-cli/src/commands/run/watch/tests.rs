use super::*;

fn look(watch: &mut Watch, path: &PathBuf) -> bool {
    watch.look(Stamps::of([path].into_iter()))
}

#[test]
fn change_is_told_once_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "one").unwrap();
    let mut watch = Watch::default();
    watch.read(Stamps::of([&path].into_iter()));
    assert!(!look(&mut watch, &path));

    std::fs::write(&path, "half").unwrap();
    assert!(!look(&mut watch, &path));
    std::fs::write(&path, "half and the rest").unwrap();
    assert!(!look(&mut watch, &path));
    assert!(look(&mut watch, &path));
    watch.read(Stamps::of([&path].into_iter()));
    assert!(!look(&mut watch, &path));

    // The same length in a new file under the name.
    let other = folder.path().join("other");
    std::fs::write(&other, "HALF and the rest").unwrap();
    std::fs::rename(&other, &path).unwrap();
    assert!(!look(&mut watch, &path));
    assert!(look(&mut watch, &path));
    watch.read(Stamps::of([&path].into_iter()));

    std::fs::remove_file(&path).unwrap();
    assert!(!look(&mut watch, &path));
    assert!(look(&mut watch, &path));
}

#[test]
fn what_changed_while_it_was_read_is_a_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "one").unwrap();
    let before = Stamps::of([&path].into_iter());
    std::fs::write(&path, "three").unwrap();
    let mut watch = Watch::default();
    watch.read(Stamps::of([&path].into_iter()).overlaid(&before));
    assert!(!look(&mut watch, &path));
    assert!(look(&mut watch, &path));
}
