use std::time::Duration;

use seawall_testkit::{RealPeer, is_alive, wait_until};

const NO_ENV: [(&str, &str); 0] = [];

#[test]
fn an_http_peer_says_its_url_and_is_gone_with_its_handle() {
    let script = "echo starting; echo \"http://127.0.0.1:$PORT/mcp\"; exec cat";
    let peer = RealPeer::start("sh", ["-c", script], [("PORT", "1")]);
    assert_eq!(peer.url(), "http://127.0.0.1:1/mcp");
    let pid = peer.pid();
    assert!(is_alive(pid));
    drop(peer);
    assert!(wait_until(Duration::from_secs(5), || !is_alive(pid)));
}

#[test]
#[should_panic(expected = "said no URL")]
fn a_peer_that_ends_without_a_url_is_a_fault_at_once() {
    drop(RealPeer::start("true", [""; 0], NO_ENV));
}
