//! Any sequence of operations and faults, against what must always hold.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::task::Poll;

use proptest::prelude::*;
use tokio::runtime::Builder;

use super::faulty::Ending;
use super::*;

const IDS: [&str; 3] = ["a", "b", "c"];

#[derive(Debug, Clone)]
enum Step {
    Connect(usize, Reconnect, Script),
    Disconnect(usize),
    Restart(usize, usize, Script),
    Refresh(usize),
    Change(usize),
    Crash(usize),
    Stop(u64),
    Wait(u64),
}

/// What an operation said at its end, and what was so when it began.
enum Said {
    Connect {
        held: bool,
        stopping: bool,
        result: Result<Connected, HostError>,
    },
    Disconnect(Result<(), HostError>),
    Restart(Result<(), HostError>),
    Refresh(Result<(), HostError>),
    Stop(Result<(), StopError>),
}

impl Said {
    /// Whether the operation may end so.
    fn check(&self) {
        let documented = match self {
            // The model: an id is free or held, and a connect is admitted exactly where it is free.
            Self::Connect {
                held,
                stopping,
                result,
            } => match result {
                Err(HostError::Stopping { .. }) => *stopping,
                Err(HostError::Taken { .. }) => *held && !stopping,
                Ok(_)
                | Err(
                    HostError::Ended { .. }
                    | HostError::Connect { .. }
                    | HostError::LostMeanwhile { .. }
                    | HostError::Unreaped { .. },
                ) => !held && !stopping,
                Err(_) => false,
            },
            Self::Disconnect(result) => matches!(
                result,
                Ok(()) | Err(HostError::NotRegistered { .. } | HostError::Unreaped { .. })
            ),
            Self::Restart(result) => matches!(
                result,
                Ok(())
                    | Err(HostError::NotRegistered { .. }
                        | HostError::NotNow { .. }
                        | HostError::Taken { .. }
                        | HostError::PrefixMeets { .. }
                        | HostError::Stopping { .. }
                        | HostError::RestartFailed { .. })
            ),
            Self::Refresh(result) => matches!(
                result,
                Ok(())
                    | Err(HostError::NotRegistered { .. }
                        | HostError::NotNow { .. }
                        | HostError::Refresh { .. }
                        | HostError::Stopping { .. })
            ),
            Self::Stop(result) => result.as_ref().err().is_none_or(|error| {
                let of_a_stop = |failure: &HostError| {
                    matches!(
                        failure,
                        HostError::Unreaped { .. } | HostError::OutOfTime { .. }
                    )
                };
                error.failures.iter().all(of_a_stop)
            }),
        };
        let text = match self {
            Self::Connect { result, held, .. } => format!("connect (held: {held}): {result:?}"),
            Self::Disconnect(result) => format!("disconnect: {result:?}"),
            Self::Restart(result) => format!("restart: {result:?}"),
            Self::Refresh(result) => format!("refresh: {result:?}"),
            Self::Stop(result) => format!("stop: {result:?}"),
        };
        assert!(documented, "{text}");
    }
}

fn script() -> impl Strategy<Value = Script> {
    let ending = prop_oneof![
        6 => Just(Ending::Never),
        1 => Just(Ending::Fails),
        1 => Just(Ending::Refuses),
        1 => Just(Ending::LostMeanwhile),
        1 => Just(Ending::Stuck),
        2 => (1_u64..20_000).prop_map(|after| Ending::Dies(ms(after))),
    ];
    let slow = || prop_oneof![3 => 1_u64..50, 1 => 50_u64..9_000];
    let unreapable = prop_oneof![5 => Just(0_u32), 1 => 1_u32..3];
    (ending, slow(), slow(), slow(), unreapable).prop_map(
        |(ending, handshake, end, reading, unreapable)| Script {
            handshake: ms(handshake),
            ending,
            end: ms(end),
            unreapable,
            reading: ms(reading),
            ..Script::default()
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let id = || 0..IDS.len();
    let reconnect = prop_oneof![Just(Reconnect::On), Just(Reconnect::Off)];
    let wait = prop_oneof![4 => 1_u64..100, 2 => 100_u64..10_000, 1 => 10_000_u64..400_000];
    prop_oneof![
        6 => (id(), reconnect, script()).prop_map(|(id, reconnect, script)| Step::Connect(id, reconnect, script)),
        4 => id().prop_map(Step::Disconnect),
        4 => (id(), id(), script()).prop_map(|(from, to, script)| Step::Restart(from, to, script)),
        2 => id().prop_map(Step::Refresh),
        2 => id().prop_map(Step::Change),
        2 => id().prop_map(Step::Crash),
        1 => prop_oneof![1_u64..100, 100_u64..20_000].prop_map(Step::Stop),
        6 => wait.prop_map(Step::Wait),
    ]
}

/// What must hold at any moment.
fn check(faulty: &Faulty, host: &Host) {
    faulty.check();
    let held: BTreeSet<String> = host
        .status()
        .into_iter()
        .filter(|status| status.state != ServerState::Down)
        .map(|status| status.server)
        .collect();
    for server in faulty.alive() {
        assert!(
            held.contains(&server),
            "the id of a living child is held: {server}"
        );
    }
    let serving = faulty.serving();
    let snapshot = host.tools();
    let mut seen = BTreeSet::new();
    for flow in snapshot.flows() {
        assert!(seen.insert(flow.name().to_owned()), "two flows of one name");
        let (prefix, _) = flow.name().rsplit_once('/').unwrap();
        assert!(
            serving.iter().any(|live| live == prefix),
            "a tool of a dead session: {prefix}"
        );
    }
}

async fn run(steps: Vec<Step>) {
    let (faulty, host) = world();
    let mut tasks: JoinSet<Said> = JoinSet::new();
    let mut begun = 0;
    let mut ended = 0;
    let mut stopping = false;
    for step in steps {
        match step {
            Step::Connect(id, reconnect, script) => {
                faulty.script(IDS[id], [script]);
                let config = entry(IDS[id]).reconnect(reconnect).build().unwrap();
                let held = host.0.world.registry.find(IDS[id]).is_ok();
                // Admission is a part of the call, so that what is so now is what it sees.
                let answered = host.begin(config);
                begun += 1;
                tasks.spawn(async move {
                    let result = match answered {
                        Ok(answered) => answered.await.unwrap(),
                        Err(error) => Err(error),
                    };
                    Said::Connect {
                        held,
                        stopping,
                        result,
                    }
                });
            }
            Step::Disconnect(id) => {
                let host = host.clone();
                begun += 1;
                tasks.spawn(async move { Said::Disconnect(host.disconnect(IDS[id]).await) });
            }
            Step::Restart(from, to, script) => {
                faulty.script(IDS[to], [script]);
                let host = host.clone();
                begun += 1;
                tasks.spawn(async move {
                    Said::Restart(host.restart(IDS[from], config(IDS[to])).await)
                });
            }
            Step::Refresh(id) => {
                let host = host.clone();
                begun += 1;
                tasks.spawn(async move { Said::Refresh(host.refresh(IDS[id]).await) });
            }
            Step::Change(id) => {
                if let Some(child) = faulty.children(IDS[id]).last() {
                    child.change(&["three"]);
                }
            }
            Step::Crash(id) => {
                if let Some(child) = faulty.children(IDS[id]).last() {
                    child.crash();
                    // Until its supervisor has heard of it.
                    settle().await;
                }
            }
            Step::Stop(budget) => {
                let host = host.clone();
                begun += 1;
                stopping = true;
                // A stop begins with its first poll.
                let mut stop = Box::pin(async move { Said::Stop(host.stop(ms(budget)).await) });
                let first = poll_fn(|context| Poll::Ready(stop.as_mut().poll(context))).await;
                match first {
                    Poll::Ready(said) => {
                        said.check();
                        ended += 1;
                    }
                    Poll::Pending => {
                        tasks.spawn(stop);
                    }
                }
            }
            Step::Wait(wait) => sleep(ms(wait)).await,
        }
        settle().await;
        check(&faulty, &host);
        while let Some(said) = tasks.try_join_next() {
            said.unwrap().check();
            ended += 1;
        }
    }
    // Every child gives in after a few attempts, so that a stop succeeds in the end, and leaves nothing.
    let mut attempts = 0;
    while host.stop(ms(60_000)).await.is_err() {
        attempts += 1;
        assert!(attempts < 10, "a stop that never succeeds");
    }
    while let Some(said) = tasks.join_next().await {
        said.unwrap().check();
        ended += 1;
    }
    assert_eq!(begun, ended, "every operation ends exactly once");
    check(&faulty, &host);
    assert!(faulty.alive().is_empty(), "{:?}", faulty.alive());
    assert_eq!(host.tools().flows().count(), 0);
    assert!(host.0.world.registry.servers().is_empty());
    assert!(host.tasks().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// H1, H3, H4, H5, H6, F5: whatever is asked for and whatever fails, in any order.
    #[test]
    fn any_sequence_keeps_every_promise(steps in proptest::collection::vec(step(), 1..50)) {
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(run(steps));
    }
}
