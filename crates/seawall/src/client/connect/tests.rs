//! What is tried after what.

use super::*;

/// T1, S3: a server that exits on the probe is started once more without it, but never beside a process that could not be
/// ended.
#[test]
fn no_second_launch_beside_one_that_was_not_reaped() {
    let config = ServerConfig::stdio("demo", "server")
        .protocol(Protocol::Auto)
        .build()
        .unwrap();
    let builder = Client::builder(config);
    let spoken = Spoken {
        era: Era::Auto,
        pin: None,
        dialect: Dialect::Streamable,
    };
    let failed = |unreaped| Failure::Handshake {
        step: Step::Discover,
        reason: CloseReason::StdoutClosed,
        outcome: Outcome::NoResponse,
        unreaped,
    };
    let next = builder.after(&failed(None), spoken, false);
    assert_eq!(next.map(|next| next.era), Some(Era::Legacy));
    let pid = 7;
    let server: Arc<str> = Arc::from("demo");
    for unreaped in [
        NotReaped::Leader {
            pid,
            server: Arc::clone(&server),
        },
        NotReaped::Rest {
            pid,
            server: Arc::clone(&server),
        },
    ] {
        let failure = failed(Some(unreaped));
        assert!(builder.after(&failure, spoken, false).is_none());
        let told = failure.into_error(&server).to_string();
        assert!(told.contains("stdio child 7"), "{told}");
    }
}
