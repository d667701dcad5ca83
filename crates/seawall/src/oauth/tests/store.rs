use std::fs;

use crate::config::Secret;
use crate::oauth::credentials::Kept;
use crate::oauth::{FileStore, MemoryStore, Slot, StoreFault, TokenStore};

fn slot(resource: &str) -> Slot {
    Slot::new(resource.to_owned(), "dynamic".to_owned())
}

fn keeps(store: &dyn TokenStore) {
    let (one, other) = (slot("https://one.example"), slot("https://other.example"));
    assert_eq!(store.load(&one), Ok(None));
    let lock = store.try_lock(&one).unwrap().unwrap();
    assert!(store.try_lock(&one).unwrap().is_none());
    assert!(store.try_lock(&other).unwrap().is_some());
    lock.save(&Secret::new("first")).unwrap();
    lock.save(&Secret::new("second")).unwrap();
    assert_eq!(store.load(&one), Ok(Some(Secret::new("second"))));
    assert_eq!(store.load(&other), Ok(None));
    lock.erase().unwrap();
    lock.erase().unwrap();
    assert_eq!(store.load(&one), Ok(None));
    drop(lock);
    assert!(store.try_lock(&one).unwrap().is_some());
}

/// T5
#[test]
fn a_store_keeps_a_text_for_each_slot_and_locks_it() {
    keeps(&MemoryStore::new());
    let folder = tempfile::tempdir().unwrap();
    keeps(&FileStore::new(folder.path().join("deep").join("down")));
}

/// T5
#[cfg(unix)]
#[test]
fn files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("oauth");
    let store = FileStore::new(&place);
    let lock = store.try_lock(&slot("https://x.example")).unwrap().unwrap();
    lock.save(&Secret::new("text")).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&place), 0o700);
    for entry in fs::read_dir(&place).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}

/// T5: whoever can write in the folder could put a login of theirs there.
#[cfg(unix)]
#[test]
fn a_folder_that_others_can_write_in_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let slot = slot("https://x.example");
    for (mode, expected) in [
        (0o755, Ok(None)),
        (0o775, Err(StoreFault::Folder)),
        (0o702, Err(StoreFault::Folder)),
    ] {
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(store.load(&slot), expected, "{mode:o}");
        let locked = store.try_lock(&slot).map(drop);
        assert_eq!(locked, expected.map(drop), "{mode:o}");
    }
}

/// T5: what could not be read again is not written in the place of what can.
#[test]
fn a_text_that_is_too_long_leaves_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let slot = slot("https://x.example");
    let lock = store.try_lock(&slot).unwrap().unwrap();
    let longest = Secret::new("x".repeat(1 << 20));
    lock.save(&longest).unwrap();
    let longer = Secret::new("x".repeat((1 << 20) + 1));
    assert_eq!(lock.save(&longer), Err(StoreFault::Io));
    assert_eq!(store.load(&slot), Ok(Some(longest)));
}

/// T5: what a killed process left beside the file is in nobody's way.
#[test]
fn a_half_written_file_is_never_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let slot = slot("https://x.example");
    let lock = store.try_lock(&slot).unwrap().unwrap();
    lock.save(&Secret::new("whole")).unwrap();
    fs::write(folder.path().join(format!("{}.new", slot.name())), "ha").unwrap();
    assert_eq!(store.load(&slot), Ok(Some(Secret::new("whole"))));
    lock.save(&Secret::new("newer")).unwrap();
    assert_eq!(store.load(&slot), Ok(Some(Secret::new("newer"))));
}

#[test]
fn a_text_that_is_not_ours_is_no_login() {
    for text in [
        "",
        "{",
        "null",
        "{\"version\":2,\"current\":null,\"logins\":{}}",
    ] {
        assert_eq!(Kept::read(Some(&Secret::new(text))), Kept::default());
    }
    let written = Kept::default().write();
    assert_eq!(Kept::read(written.as_ref()), Kept::default());
}

#[test]
fn names_of_slots_are_names_of_files() {
    let name = slot("https://x.example/../../etc").name();
    assert_eq!(name.len(), 32);
    assert!(name.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert_ne!(name, slot("https://x.example").name());
}

#[cfg(feature = "keyring")]
mod keyring {
    use keyring_core::{Entry, Error, mock};

    use super::{keeps, slot};
    use crate::config::Secret;
    use crate::oauth::{FileStore, KeyringStore, TokenStore as _};

    /// T5
    #[test]
    fn logins_are_in_the_keyring_and_not_in_files() {
        let folder = tempfile::tempdir().unwrap();
        let files = FileStore::new(folder.path());
        let store = KeyringStore::with(mock::Store::new().unwrap(), files.clone());
        keeps(&store);
        let slot = slot("https://x.example");
        let lock = store.try_lock(&slot).unwrap().unwrap();
        lock.save(&Secret::new("text")).unwrap();
        assert_eq!(store.load(&slot), Ok(Some(Secret::new("text"))));
        assert_eq!(files.load(&slot), Ok(None));
    }

    /// T5: what the keyring does not take is kept in a file, and nothing older is read instead.
    #[test]
    fn a_login_that_the_keyring_does_not_take_is_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let files = FileStore::new(folder.path());
        let keyring: std::sync::Arc<keyring_core::CredentialStore> = mock::Store::new().unwrap();
        let store = KeyringStore::with(std::sync::Arc::clone(&keyring), files.clone());
        let slot = slot("https://x.example");
        let lock = store.try_lock(&slot).unwrap().unwrap();
        lock.save(&Secret::new("older")).unwrap();
        let entry = Entry::new_in_store(&keyring, "seawall-oauth", &slot.name()).unwrap();
        let place = entry.as_any().downcast_ref::<mock::Cred>().unwrap();
        place.set_error(Error::TooLong("password".into(), 4));
        lock.save(&Secret::new("newer")).unwrap();
        assert_eq!(store.load(&slot), Ok(Some(Secret::new("newer"))));
        assert_eq!(files.load(&slot), Ok(Some(Secret::new("newer"))));
        // One that a keyring that was closed kept is not newer because it opens again.
        entry.set_password("older").unwrap();
        assert_eq!(store.load(&slot), Ok(Some(Secret::new("newer"))));
        lock.save(&Secret::new("newest")).unwrap();
        assert_eq!(store.load(&slot), Ok(Some(Secret::new("newest"))));
        assert_eq!(files.load(&slot), Ok(None));
    }

    /// T5
    #[test]
    fn without_a_keyring_there_are_files() {
        let folder = tempfile::tempdir().unwrap();
        keeps(&KeyringStore::without(FileStore::new(folder.path())));
    }
}
