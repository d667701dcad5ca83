//! What the journal costs a call: the same calls to the same server with and without one, in turn, in one run.
//!
//! `cargo build --release -p seawall-testkit && cargo run --release -p seawall --features journal --example journal_cost`

use std::error::Error;
use std::time::{Duration, Instant};

use seawall::journal::{Durability, Journal, JournalOptions};
use seawall::{Arguments, Host, ServerConfig};
use seawall_testkit::{CallRule, Script, Serve, tool};
use tokio::task::JoinSet;

const ROUNDS: usize = 5;
const ALONE: usize = 300;
const TOGETHER: usize = 2_048;
const IN_FLIGHT: usize = 64;

/// A way to call.
struct Way {
    name: &'static str,
    host: Host,
    flow: &'static str,
    alone: Vec<Duration>,
    rates: Vec<f64>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let mut ways = Vec::new();
    for (name, durability, flow) in [
        ("no journal", None, "mcp/s/write"),
        ("marked read-only", Some(Durability::Process), "mcp/s/read"),
        (
            "not marked read-only",
            Some(Durability::Process),
            "mcp/s/write",
        ),
        (
            "the same, for a loss of power",
            Some(Durability::Power),
            "mcp/s/write",
        ),
    ] {
        let mut builder = Host::builder();
        if let Some(durability) = durability {
            let path = folder.path().join(format!("{}.db", ways.len()));
            let mut options = JournalOptions::at(path);
            options.durability = durability;
            builder = builder.journal(Journal::open(options)?);
        }
        let host = builder.build();
        host.connect(server()?).await?;
        ways.push(Way {
            name,
            host,
            flow,
            alone: Vec::new(),
            rates: Vec::new(),
        });
    }
    // The first is not counted.
    for round in 0..=ROUNDS {
        for way in &mut ways {
            let alone = alone(way).await?;
            let rate = together(way).await?;
            if round > 0 {
                way.alone.extend(alone);
                way.rates.push(rate);
            }
        }
    }
    let mut first = None;
    for way in &mut ways {
        way.alone.sort_unstable();
        way.rates.sort_by(f64::total_cmp);
        let at = |part: usize| way.alone.get(way.alone.len() * part / 100);
        let micros = |part| at(part).map_or(0.0, |took| took.as_secs_f64() * 1e6);
        let rate = way.rates.get(ROUNDS / 2).copied().unwrap_or_default();
        let (median, late) = (micros(50), micros(99));
        let (base, base_rate) = *first.get_or_insert((median, rate));
        let line = format!(
            "{:<30} median {median:>7.1} µs ({:.2}x)  p99 {late:>8.1} µs  {rate:>8.0} calls/s ({:.2}x)\n",
            way.name,
            median / base,
            rate / base_rate,
        );
        std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes())?;
    }
    for way in ways {
        way.host.stop(Duration::from_secs(5)).await?;
    }
    Ok(())
}

fn server() -> Result<ServerConfig, Box<dyn Error>> {
    let marked =
        r#"{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#;
    let script = Script::new().serve(
        Serve::new()
            .page([tool("write"), marked.to_owned()])
            .calls(CallRule::Echo),
    );
    let server = script.server();
    let config = ServerConfig::stdio("s", server.program_str()).args(server.args.iter().cloned());
    Ok(config.build()?)
}

fn arguments() -> Arguments {
    Arguments::text(format!(r#"{{"text":"{}"}}"#, "x".repeat(100)))
}

async fn alone(way: &Way) -> Result<Vec<Duration>, seawall::Error> {
    let mut took = Vec::with_capacity(ALONE);
    for _ in 0..ALONE {
        let begun = Instant::now();
        way.host.call(way.flow, arguments()).await?;
        took.push(begun.elapsed());
    }
    Ok(took)
}

/// Calls in a second, with many under way.
async fn together(way: &Way) -> Result<f64, Box<dyn Error>> {
    let begun = Instant::now();
    let mut callers = JoinSet::new();
    for _ in 0..IN_FLIGHT {
        let (host, flow) = (way.host.clone(), way.flow);
        callers.spawn(async move {
            for _ in 0..TOGETHER / IN_FLIGHT {
                host.call(flow, arguments()).await?;
            }
            Ok::<(), seawall::Error>(())
        });
    }
    while let Some(ended) = callers.join_next().await {
        ended??;
    }
    let calls = u32::try_from(TOGETHER)?;
    Ok(f64::from(calls) / begun.elapsed().as_secs_f64())
}
