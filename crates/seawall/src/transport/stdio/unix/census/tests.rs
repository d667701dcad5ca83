use super::*;

/// T1: a look is answered by what was read since it was asked for, by nothing older, and both readings of a second look are
/// others' too.
#[test]
fn one_reading_answers_all_who_asked_before_it() {
    let asked = Instant::now();
    let first = Census::since(asked).unwrap();
    let second = Census::since(first.ended()).unwrap();
    assert!(second.began >= first.ended());
    for _ in 0..100 {
        // Other tests read as well, and may have pushed the first one out.
        let again = Census::since(asked).unwrap();
        assert!(again.began >= asked);
    }
    assert!(Census::since(Instant::now()).unwrap().began > second.began);
    assert!(READ.lock().unwrap().len() <= KEPT);
}

/// T1: everybody is in it, the reader too.
#[test]
fn reader_is_in_it() {
    let census = Census::since(Instant::now()).unwrap();
    let own = i32::try_from(std::process::id()).unwrap();
    let found = census.processes.iter().find(|process| process.pid == own);
    assert!(found.unwrap().lives);
}
