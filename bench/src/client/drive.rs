//! What every asynchronous client is put through, the same for all: one thread, one runtime.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use tokio::task::JoinSet;

use crate::measure::{Alone, Memory, Window, flooded};
use crate::plan::{Flooded, Job, Load, Sample};

/// A connected client.
pub(crate) trait Caller: Sized + Send + 'static {
    /// Makes one call and gives up its result.
    fn call(&mut self) -> impl Future<Output = Result<()>> + Send;

    /// Another caller, for a call that overlaps with this one's.
    fn another(&self) -> impl Future<Output = Result<Self>> + Send;
}

/// Connects and measures.
pub(crate) fn measure<C: Caller>(
    job: &Job,
    connect: impl Future<Output = Result<C>>,
) -> Result<Sample> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let caller = connect.await.context("cannot connect")?;
        match job.cell.load {
            Load::Alone => alone(job, caller).await,
            Load::InFlight(calls) => in_flight(job, caller, calls).await,
            Load::Flood => flood(caller).await,
        }
    })
}

/// One task that calls without a pause.
async fn alone<C: Caller>(job: &Job, mut caller: C) -> Result<Sample> {
    caller.call().await?;
    let mut alone = Alone::begin(job)?;
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        loop {
            caller.call().await?;
            if !alone.called() {
                return alone.finish();
            }
        }
    });
    tasks.join_next().await.context("no call was made")??
}

/// So many tasks, each calling without a pause.
async fn in_flight<C: Caller>(job: &Job, mut caller: C, calls: usize) -> Result<Sample> {
    caller.call().await?;
    let mut callers = Vec::with_capacity(calls);
    for _ in 0..calls {
        callers.push(caller.another().await?);
    }
    let window = Arc::new(Mutex::new(Window::begin(job)?));
    let mut tasks = JoinSet::new();
    for mut caller in callers {
        let window = Arc::clone(&window);
        tasks.spawn(async move {
            loop {
                caller.call().await?;
                if !window
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .called(1)
                {
                    return anyhow::Ok(());
                }
            }
        });
    }
    // The first to end saw the end of the window; the others' calls are let go.
    match tasks.join_next().await {
        Some(ended) => ended??,
        None => bail!("no call was made"),
    }
    tasks.detach_all();
    let window = window.lock().unwrap_or_else(PoisonError::into_inner);
    window.finish()
}

async fn flood<C: Caller>(mut caller: C) -> Result<Sample> {
    let memory = Memory::begin()?;
    let begun = Instant::now();
    let flood = match caller.call().await {
        Ok(()) => Flooded::Answered,
        Err(_) => Flooded::Refused,
    };
    flooded(&memory, begun, flood)
}
