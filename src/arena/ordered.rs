//! Work over threads whose results are taken in order, so that nothing depends on how many threads there were.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;

/// Does jobs `0..total` and hands their results to `take` by number, until it breaks. Each thread has its own tools,
/// which are given back at the end.
pub fn ordered<W: Send, T: Send>(
    threads: usize,
    total: u64,
    tools: impl Fn() -> W + Sync,
    job: impl Fn(&mut W, u64) -> T + Sync,
    mut take: impl FnMut(T) -> ControlFlow<()>,
) -> Vec<W> {
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        let work = || {
            let send = send.clone();
            let (next, stop, tools, job) = (&next, &stop, &tools, &job);
            scope.spawn(move || {
                let mut mine = tools();
                while !stop.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= total || send.send((number, job(&mut mine, number))).is_err() {
                        break;
                    }
                }
                mine
            })
        };
        let workers: Vec<_> = (0..threads.max(1)).map(|_| work()).collect();
        drop(send);
        in_order(&receive, &mut take);
        stop.store(true, Ordering::Relaxed);
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    })
}

fn in_order<T>(receive: &mpsc::Receiver<(u64, T)>, take: &mut impl FnMut(T) -> ControlFlow<()>) {
    let mut early = BTreeMap::new();
    let mut expected = 0;
    while let Ok((number, result)) = receive.recv() {
        early.insert(number, result);
        while let Some(result) = early.remove(&expected) {
            expected += 1;
            if take(result).is_break() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_stop_where_asked() {
        for threads in [1, 3] {
            let mut seen = Vec::new();
            let job = |done: &mut u64, number: u64| {
                *done += 1;
                number * number
            };
            let tools = ordered(
                threads,
                100,
                || 0u64,
                job,
                |square| {
                    seen.push(square);
                    if square >= 900 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                },
            );
            assert_eq!(seen, (0..=30).map(|n| n * n).collect::<Vec<_>>());
            assert!(tools.len() == threads && tools.iter().sum::<u64>() >= 31);
        }
    }
}
