use super::*;

/// S13, T1: the marks of the hosts that a host descends from are passed on; what is no mark is not.
#[test]
fn marks_of_outer_hosts_are_kept() {
    let mark = Mark::new(7);
    let own = OsString::from(&mark.0);
    assert_eq!(mark.value(None), own);
    let outer = Mark::new(6).value(None);
    let both = mark.value(Some(&outer));
    assert!(Mark::new(6).is_in(both.as_encoded_bytes()) && mark.is_in(both.as_encoded_bytes()));
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
    let (one, seventeen) = (Mark::new(1), Mark::new(0x11));
    assert!(!one.is_in(seventeen.0.as_bytes()) && !seventeen.is_in(one.0.as_bytes()));
    assert!(!one.is_in(host().as_bytes()) && !one.is_in(b""));
    let among = format!("A=1\0{VARIABLE}={}\0B=2\0", one.0);
    assert!(one.is_in(among.as_bytes()));
    assert_eq!(host().len(), 32);
}
