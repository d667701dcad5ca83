use super::*;

/// S13, T1: the marks of the hosts that a host descends from are passed on; what is no mark is not.
#[test]
fn marks_of_outer_hosts_are_kept() {
    let mark = Mark::new(7);
    let own = OsString::from(&mark.0);
    assert_eq!(mark.value(None), own);
    let outer = Mark::new(6).value(None);
    let both = mark.value(Some(&outer));
    assert_eq!(launches_in(both.as_encoded_bytes()), [6, 7]);
    let long = "0".repeat(MAX_INHERITED_BYTES + 1);
    for wrong in ["", "secret", "0 1", &long] {
        assert_eq!(mark.value(Some(OsStr::new(wrong))), own, "{wrong:?}");
    }
    let longest = OsString::from("0".repeat(MAX_INHERITED_BYTES));
    assert_ne!(mark.value(Some(&longest)), own);
}

/// T1: a launch's mark is no part of another's, and is found only whole.
#[test]
fn marks_are_told_apart() {
    for launch in [0, 1, 0x11, u64::MAX] {
        let mark = Mark::new(launch).0;
        assert_eq!(launches_in(mark.as_bytes()), [launch]);
        assert!(launches_in(&mark.as_bytes()[..47]).is_empty());
        let among = format!("A=1\0{VARIABLE}={mark}\0B=2\0");
        assert_eq!(launches_in(among.as_bytes()), [launch]);
    }
    let other = format!("{}{:016x}", "0".repeat(32), 1);
    let signed = format!("{}+00000000000000f", host());
    for none in ["", host(), &other, &signed] {
        assert!(launches_in(none.as_bytes()).is_empty(), "{none}");
    }
    assert_eq!(host().len(), 32);
}
