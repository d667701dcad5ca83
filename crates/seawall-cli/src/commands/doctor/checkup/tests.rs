use seawall::Client;
use seawall::config::ServerConfig;

use super::{Status, Verdict, verdict};

/// BEHAVIOUR T1: a server that cannot be closed has failed, whatever else is well.
#[test]
fn server_that_cannot_be_closed_has_failed() {
    let config = ServerConfig::stdio("s", "/nonexistent/server").build();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let connecting = Client::connect(config.expect("a valid entry"));
    let error = runtime.block_on(connecting).expect_err("nothing is there");
    for left_out in [0, 1] {
        let (verdict, status) = verdict(Some(&error), left_out);
        assert_eq!((verdict, status), (Verdict::Failed, Status::of(&error)));
        assert_ne!(status, Status::Done);
    }
    assert_eq!(verdict(None, 0), (Verdict::Healthy, Status::Done));
    assert_eq!(verdict(None, 1), (Verdict::Degraded, Status::Unusable));
}
