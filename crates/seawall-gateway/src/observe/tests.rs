use std::sync::Arc;
use std::time::Duration;

use seawall::flows::ToolClass;

use super::meter::BOUNDS_MS;
use super::recent::KEPT_CALLS;
use super::*;

fn gauges(observe: &Observe) -> Gauges {
    Gauges {
        begun: SystemTime::UNIX_EPOCH,
        sessions: 2,
        subscriptions: 1,
        servers: Vec::new(),
        meters: observe.meters(),
    }
}

fn text(observe: &Observe) -> String {
    exposition(gauges(observe)).unwrap()
}

#[track_caller]
fn has(text: &str, line: &str) {
    assert!(text.lines().any(|one| one == line), "no {line} in\n{text}");
}

/// G3: a call that ended is counted by server, class and outcome, with the time that it took, and is no longer under way.
#[tokio::test(start_paused = true)]
async fn calls_are_counted_by_how_they_ended() {
    let observe = Arc::new(Observe::default());
    let meter = observe.meter("a");
    meter.begin();
    meter.begin();
    let read_only = Some(ToolClass::ReadOnly);
    meter.ended(read_only, Ended::Ok, Duration::from_micros(1_000));
    meter.ended(read_only, Ended::NoResponse, Duration::from_secs(200));
    let refused = observe.begin("c", None);
    has(&text(&observe), r#"seawall_calls_in_flight{server=""} 1"#);
    refused.ended(Some(Ended::Refused));
    let text = text(&observe);
    for line in [
        r#"seawall_calls_total{server="a",class="read_only",outcome="ok"} 1"#,
        r#"seawall_calls_total{server="a",class="read_only",outcome="no_response"} 1"#,
        r#"seawall_calls_total{server="",class="other",outcome="refused"} 1"#,
        r#"seawall_calls_in_flight{server="a"} 0"#,
        r#"seawall_calls_in_flight{server=""} 0"#,
        r#"seawall_call_duration_seconds_bucket{le="0.001",server="a"} 1"#,
        r#"seawall_call_duration_seconds_bucket{le="120.0",server="a"} 1"#,
        r#"seawall_call_duration_seconds_bucket{le="+Inf",server="a"} 2"#,
        r#"seawall_call_duration_seconds_sum{server="a"} 200.001"#,
        r#"seawall_call_duration_seconds_count{server="a"} 2"#,
        "seawall_client_sessions 2",
        "seawall_client_subscriptions 1",
        "# EOF",
    ] {
        has(&text, line);
    }
}

/// G3: a call that is dropped counts as cancelled, once; one that ended does not.
#[tokio::test(start_paused = true)]
async fn dropped_call_is_cancelled() {
    let observe = Arc::new(Observe::default());
    drop(observe.begin("c", None));
    let mut fine = observe.begin("c", None);
    fine.says(Ended::ToolError);
    fine.ended(None);
    observe.begin("c", None).ended(None);
    let text = text(&observe);
    for outcome in ["cancelled", "tool_error", "ok"] {
        let line =
            format!(r#"seawall_calls_total{{server="",class="other",outcome="{outcome}"}} 1"#);
        has(&text, &line);
    }
    let ended: Vec<Ended> = observe
        .recent()
        .all()
        .iter()
        .map(|call| call.ended)
        .collect();
    assert_eq!(ended, [Ended::Ok, Ended::ToolError, Ended::Cancelled]);
}

/// G3: an id with a quote, a backslash or a line break in it breaks no line of the format.
#[test]
fn labels_are_escaped() {
    let observe = Observe::default();
    let meter = observe.meter("a\"b\\c\nd");
    meter.begin();
    meter.ended(None, Ended::Ok, Duration::ZERO);
    let text = text(&observe);
    has(
        &text,
        r#"seawall_calls_total{server="a\"b\\c\nd",class="other",outcome="ok"} 1"#,
    );
}

/// L6: what is remembered of calls is bounded, the newest of them are, and long names are cut.
#[test]
fn what_is_remembered_is_bounded() {
    let observe = Observe::default();
    for at in 0..KEPT_CALLS + 10 {
        observe.recent.push(Call {
            at: SystemTime::UNIX_EPOCH,
            server: None,
            tool: Some("é".repeat(1_000)),
            client: format!("{at}{}", "x".repeat(1_000)),
            ended: Ended::Ok,
            elapsed: Duration::ZERO,
        });
    }
    let calls = observe.recent().all();
    assert_eq!(calls.len(), KEPT_CALLS);
    assert!(calls[0].client.starts_with("209x") && calls[199].client.starts_with("10x"));
    assert_eq!(calls[0].tool, Some("é".repeat(128)));
    assert_eq!(calls[0].client.len(), 128);
}

/// The times of the newest calls come in order, with how they ended, and there are at most so many.
#[test]
fn newest_times_are_kept() {
    let meter = Meter::of("a");
    assert!(meter.times().is_empty());
    meter.ended(None, Ended::Ok, Duration::ZERO);
    meter.ended(None, Ended::Refused, Duration::MAX);
    let times = meter.times();
    assert_eq!((times[0], times[1].1), ((0, true), false));
    for us in 0..100 {
        meter.ended(None, Ended::Ok, Duration::from_micros(us));
    }
    let times: Vec<u64> = meter.times().iter().map(|(us, _)| *us).collect();
    assert_eq!(times, (40..100).collect::<Vec<u64>>());
}

/// Each bound is inclusive.
#[test]
fn bounds_are_inclusive() {
    for (at, bound) in BOUNDS_MS.into_iter().enumerate() {
        let meter = Meter::of("a");
        let bound = Duration::from_millis(bound);
        meter.ended(None, Ended::Ok, bound);
        meter.ended(None, Ended::Ok, bound + Duration::from_micros(1));
        let (buckets, _) = meter.histogram();
        assert_eq!((buckets[at].1, buckets[at + 1].1), (1, 1), "{bound:?}");
    }
}

/// The place of each outcome in the counters is its number.
#[test]
fn every_outcome_has_its_place() {
    for (at, ended) in Ended::ALL.into_iter().enumerate() {
        assert_eq!(ended as usize, at);
    }
}

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).unwrap()
}

/// Answers with a context of its own, and remembers what it was given.
#[derive(Debug, Default)]
struct Spans(std::sync::Mutex<Vec<Option<TraceContext>>>);

impl Telemetry for Spans {
    fn join(&self, _span: &tracing::Span, parent: Option<&TraceContext>) -> Option<TraceContext> {
        self.0.lock().unwrap().push(parent.cloned());
        Some(TraceContext::new("ours".to_owned(), None))
    }
}

/// G2: a call is a part of its client's trace, and what is none, or is too long, is no parent.
#[tokio::test(start_paused = true)]
async fn client_s_context_is_the_parent() {
    let spans = Arc::new(Spans::default());
    let observe = Arc::new(Observe::new(Some(Arc::clone(&spans) as _)));
    let long = format!(r#"{{"_meta":{{"traceparent":"{}"}}}}"#, "0".repeat(5_000));
    for params in [
        r#"{"_meta":{"traceparent":"p","tracestate":"s"}}"#,
        r#"{"_meta":{"traceparent":"p","tracestate":1}}"#,
        r#"{"_meta":{"traceparent":1,"tracestate":"s"}}"#,
        r#"{"_meta":"traceparent"}"#,
        &long,
    ] {
        let observed = observe.begin("c", Some(&json(params)));
        observed.ended(Some(Ended::Refused));
    }
    let context =
        |state: Option<&str>| Some(TraceContext::new("p".to_owned(), state.map(str::to_owned)));
    let given = [context(Some("s")), context(None), None, None, None];
    assert_eq!(*spans.0.lock().unwrap(), given);
    let plain = Arc::new(Observe::default());
    let params = json(r#"{"_meta":{"traceparent":"p"}}"#);
    assert_eq!(plain.begin("c", Some(&params)).trace(), None);
}

/// G2: a context takes the place of the one that is there, and nothing else of `_meta` changes.
#[test]
fn context_is_put_into_meta() {
    let context = |state: Option<&str>| TraceContext::new("p".to_owned(), state.map(str::to_owned));
    let put = |context: TraceContext, meta: &str| context.put_into(&json(meta)).as_str().to_owned();
    assert_eq!(
        put(
            context(Some("s")),
            r#"{"a": 1.0,"traceparent":"x" ,"tracestate":"y"}"#
        ),
        r#"{"a": 1.0,"traceparent":"p" ,"tracestate":"s"}"#
    );
    assert_eq!(
        put(context(Some("s")), r#"{"a":1}"#),
        r#"{"traceparent":"p","tracestate":"s","a":1}"#
    );
    assert_eq!(put(context(None), "{}"), r#"{"traceparent":"p"}"#);
}
