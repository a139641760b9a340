//! Futures that are given up after some polls: dropped wherever they stand.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

use tokio::task::yield_now;

/// Polls the future at most so many times, other tasks running in between, and drops it. `None`:
/// that was not enough. `u64::MAX` is patience without end.
pub async fn at_most<F: Future>(polls: u64, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    if polls == u64::MAX {
        return Some(future.await);
    }
    for _ in 0..polls {
        let polled = poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await;
        if let Poll::Ready(output) = polled {
            return Some(output);
        }
        yield_now().await;
    }
    None
}
