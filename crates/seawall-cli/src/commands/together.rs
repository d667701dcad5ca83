//! The same work for many servers, side by side.

use std::future::Future;

use tokio::task::JoinSet;

use crate::failure::{Failure, Undone};
use crate::interrupt::Interrupts;

/// What each of `works` comes to, in their order. A signal ends all that are still under way, and with them whatever they
/// started.
pub(super) async fn together<T, W>(
    works: impl IntoIterator<Item = W>,
    interrupts: &mut Interrupts,
) -> Result<Vec<T>, Failure>
where
    T: Send + 'static,
    W: Future<Output = T> + Send + 'static,
{
    let mut running = JoinSet::new();
    for (place, work) in works.into_iter().enumerate() {
        running.spawn(async move { (place, work.await) });
    }
    let mut done = Vec::with_capacity(running.len());
    loop {
        match interrupts.unless(running.join_next()).await {
            Ok(Some(Ok(one))) => done.push(one),
            Ok(Some(Err(error))) => return Err(Failure::Runtime(error.into())),
            Ok(None) => break,
            Err(_) => {
                return Err(Failure::Interrupted {
                    server: None,
                    undone: Undone::Anything,
                });
            }
        }
    }
    done.sort_by_key(|(place, _)| *place);
    Ok(done.into_iter().map(|(_, done)| done).collect())
}
