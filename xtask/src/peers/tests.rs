use std::path::{Path, PathBuf};

use super::install::{Part, key, part};
use super::{PeersError, cache_folder, catalog};
use crate::tree;

#[test]
fn the_cache_folder_is_ours_then_the_platforms() {
    let from = |set: &[(&str, &str)]| {
        cache_folder(|name| {
            set.iter()
                .find(|(other, _)| *other == name)
                .map(|(_, value)| PathBuf::from(value))
        })
    };
    let all = [
        ("SEAWALL_PEERS", "/mine"),
        ("XDG_CACHE_HOME", "/xdg"),
        ("HOME", "/home"),
    ];
    assert_eq!(from(&all), Some(PathBuf::from("/mine")));
    if cfg!(target_os = "linux") {
        assert_eq!(from(&all[1..]), Some(PathBuf::from("/xdg/seawall/peers")));
        assert_eq!(
            from(&all[2..]),
            Some(PathBuf::from("/home/.cache/seawall/peers"))
        );
    }
    assert_eq!(from(&[]), None);
}

#[test]
fn a_key_depends_on_every_input_and_its_border() {
    let keys = [&["a", "b"][..], &["ab", ""], &["a"], &["b", "a"], &[]].map(|inputs| {
        key(&inputs
            .iter()
            .map(|input| input.as_bytes().to_vec())
            .collect::<Vec<_>>())
    });
    for (at, one) in keys.iter().enumerate() {
        assert_eq!(one.len(), 12);
        assert!(!keys[at + 1..].contains(one), "{keys:?}");
    }
}

#[test]
fn a_part_is_built_once_and_a_failed_one_leaves_nothing() {
    let cache = tempfile::tempdir().unwrap();
    let fail = |_: &Path| Err(PeersError::NoCacheFolder);
    let fill =
        |folder: &Path| std::fs::write(folder.join("x"), "1").map_err(PeersError::file(folder));
    let with = |build: &(dyn Fn(&Path) -> Result<(), PeersError> + Sync)| {
        part(
            cache.path(),
            &Part {
                name: "p",
                title: "a part",
                inputs: vec![b"1".to_vec()],
                build,
            },
        )
    };
    assert!(with(&fail).is_err());
    assert_eq!(std::fs::read_dir(cache.path()).unwrap().count(), 0);
    let place = with(&fill).unwrap();
    assert!(place.join("x").is_file());
    assert_eq!(with(&fail).unwrap(), place);
    assert_eq!(std::fs::read_dir(cache.path()).unwrap().count(), 1);
}

#[test]
fn versions_are_read_from_the_locks() {
    let lock = |path: &str| std::fs::read_to_string(tree::root().join("peers").join(path)).unwrap();
    let npm = lock("npm/package-lock.json");
    assert_eq!(
        catalog::npm_version(&npm, "@modelcontextprotocol/server-memory").as_deref(),
        Some("2026.8.31")
    );
    assert_eq!(catalog::npm_version(&npm, "absent"), None);
    let python = lock("python/requirements-servers.txt");
    assert_eq!(
        catalog::python_version(&python, "mcp").as_deref(),
        Some("2.3.0")
    );
    assert_eq!(catalog::python_version(&python, "mc"), None);
    let rust = lock("rmcp-server/Cargo.lock");
    assert_eq!(
        catalog::cargo_version(&rust, "rmcp").as_deref(),
        Some("3.11.0")
    );
}

#[test]
fn locks_pin_exactly_and_name_no_registry() {
    let lock = |path: &str| std::fs::read_to_string(tree::root().join("peers").join(path)).unwrap();
    for list in ["npm/package-lock.json", "conformance/package-lock.json"] {
        let npm: serde_json::Value = serde_json::from_str(&lock(list)).unwrap();
        for (name, package) in npm["packages"].as_object().unwrap() {
            assert!(
                package["resolved"].is_null(),
                "{list}: {name} names where it came from"
            );
            assert!(
                name.is_empty() || package["integrity"].is_string(),
                "{list}: {name} has no hash"
            );
        }
    }
    for list in [
        "python/requirements-servers.txt",
        "python/requirements-fastmcp.txt",
    ] {
        for line in lock(list).lines().filter(|line| !line.starts_with('#')) {
            assert!(
                line.contains("==") && !line.contains("://"),
                "{list}: {line}"
            );
        }
    }
}
