//! The steps, the same for both.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::task::JoinSet;

use super::fleet::{Fleet, Start};
use super::server::Manner;
use super::{CALLS, Figures, Job, SERVERS, Scene, TOOLS};
use crate::measure::{cpu_seconds, resident_bytes};

/// What is still freed or settled after a step is not its result.
const SETTLE: Duration = Duration::from_millis(300);

pub(super) async fn all<F: Fleet>(job: &Job, core: usize, fleet: F) -> Result<Figures> {
    let mut figures = Figures::new();
    let mut note = |name: &str, value: f64| figures.insert(name.to_owned(), value);
    let tools = match job.scene {
        Scene::Calls => 1,
        Scene::Catalogs => TOOLS,
    };
    let names: Vec<String> = (0..SERVERS).map(|n| format!("server-{n}")).collect();
    // What the first server costs beyond its own is not the others'.
    fleet
        .connect("first", &start(core, 1, Manner::Answers)?)
        .await?;
    tokio::time::sleep(SETTLE).await;

    let before = resident_bytes()?;
    let begun = Instant::now();
    let server = start(core, tools, Manner::Answers)?;
    each(&names, |name| {
        let (fleet, server) = (fleet.clone(), server.clone());
        async move { fleet.connect(&name, &server).await }
    })
    .await?;
    note("connect", begun.elapsed().as_secs_f64());
    tokio::time::sleep(SETTLE).await;
    let grown = resident_bytes()?.saturating_sub(before);
    note("memory", count(grown) / count(SERVERS as u64));

    match job.scene {
        Scene::Calls => {
            let quiet = calls(job, &fleet, &names).await?;
            note("rate", quiet.rate);
            note("median", quiet.median);
            note("p99", quiet.p99);
            note("cpu", quiet.cpu);
            for (name, manner) in [("stuck", Manner::Stuck), ("floods", Manner::Floods)] {
                fleet.connect(name, &start(core, 1, manner)?).await?;
            }
            let mut waiting = JoinSet::new();
            for name in ["stuck"; 10].into_iter().chain(["floods"]) {
                let fleet = fleet.clone();
                waiting.spawn(async move { fleet.call(name).await });
            }
            let troubled = calls(job, &fleet, &names).await?;
            note("troubled rate", troubled.rate);
            note("troubled median", troubled.median);
            note("troubled p99", troubled.p99);
            note("troubled by", troubled.p99 / quiet.p99);
            drop(waiting);
        }
        Scene::Catalogs => {
            let (begun, cpu) = (Instant::now(), cpu_seconds());
            each(&names, |name| {
                let fleet = fleet.clone();
                async move { fleet.refresh(&name).await }
            })
            .await?;
            note("refresh", begun.elapsed().as_secs_f64());
            note("refresh cpu", cpu_seconds() - cpu);
        }
    }
    let begun = Instant::now();
    if fleet.stop().await? {
        note("stop", begun.elapsed().as_secs_f64());
    }
    Ok(figures)
}

/// Does the same to every server at once.
async fn each<W>(names: &[String], work: impl Fn(String) -> W) -> Result<()>
where
    W: Future<Output = Result<()>> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    for name in names {
        tasks.spawn(work(name.clone()));
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}

struct Calls {
    rate: f64,
    median: f64,
    p99: f64,
    cpu: f64,
}

/// So many tasks, spread over the servers, each calling without a pause for a while.
async fn calls<F: Fleet>(job: &Job, fleet: &F, names: &[String]) -> Result<Calls> {
    let from = Instant::now() + job.effort.warm_up;
    let until = from + job.effort.length;
    let mut tasks = JoinSet::new();
    for name in names.iter().cycle().take(CALLS) {
        let (fleet, name) = (fleet.clone(), name.clone());
        tasks.spawn(async move {
            let mut latencies = Vec::new();
            loop {
                let begun = Instant::now();
                if begun >= until {
                    return anyhow::Ok(latencies);
                }
                fleet.call(&name).await?;
                if begun >= from {
                    latencies.push(begun.elapsed().as_secs_f64());
                }
            }
        });
    }
    let cpu = cpu_seconds();
    let mut latencies = Vec::new();
    while let Some(done) = tasks.join_next().await {
        latencies.append(&mut done??);
    }
    let seconds = (job.effort.warm_up + job.effort.length).as_secs_f64();
    let cpu = (cpu_seconds() - cpu) / seconds;
    latencies.sort_by(f64::total_cmp);
    let at = |per_cent: usize| {
        let value = latencies.get(latencies.len() * per_cent / 100);
        value.copied().context("no call was measured")
    };
    Ok(Calls {
        rate: count(latencies.len() as u64) / job.effort.length.as_secs_f64(),
        median: at(50)?,
        p99: at(99)?,
        cpu,
    })
}

fn start(core: usize, tools: usize, manner: Manner) -> Result<Start> {
    let program = std::env::current_exe()?;
    Ok(Start {
        program: program
            .to_str()
            .context("a path that is not UTF-8")?
            .to_owned(),
        args: vec![
            "scale-server".to_owned(),
            core.to_string(),
            tools.to_string(),
            serde_json::to_string(&manner)?,
        ],
    })
}

#[expect(clippy::cast_precision_loss, reason = "a figure of a report")]
fn count(value: u64) -> f64 {
    value as f64
}
