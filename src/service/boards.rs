//! BoardService: how hard boards are, and boards of a wished difficulty. The one file here that names a game; the same
//! admission, the same workers. Boards travel in slices of about a millisecond, so a call of a thousand neither fills
//! the queue nor stands in front of a player.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tonic::codec::CompressionEncoding;
use tonic::{Request, Response, Status};

use super::Shared;
use super::admission::{Ask, Class, Ended, Refusal, Ticket};
use super::call::{Call, is_id};
use super::deadline::{micros, now};
use super::grpc::fail;
use super::status::{self, Error, Stage};
use crate::bot::registry::Unknown;
use crate::bot::{Budget, CancelFlag, Reject, Rng, Violations};
use crate::games::apple::Board;
use crate::games::apple::assess::{Assessment, Assessor, Found, Generator, NotFound, Options};
use crate::games::apple::wire::{self, Assessing, BadCall};
use crate::pb::apple as pb;
use crate::pb::apple::board_service_server::{BoardService, BoardServiceServer};

/// Its name in health checks and paths.
pub const SERVICE: &str = "understudy.apple.v1.BoardService";
/// Path of AssessBoards.
pub const ASSESS: &str = "/understudy.apple.v1.BoardService/AssessBoards";
/// Path of GenerateBoard.
pub const GENERATE: &str = "/understudy.apple.v1.BoardService/GenerateBoard";

/// A slice is about this much work.
const SLICE: Duration = Duration::from_millis(1);
/// Features and the greedy game of one board take about this long, and so does each game with random ties.
const GAME: Duration = Duration::from_micros(30);

/// Writing one board's result takes about this long, with its trace.
const REPLY: Duration = Duration::from_micros(10);

/// The service, for one call.
pub struct Boards {
    shared: Arc<Shared>,
    call: Arc<Call>,
}

impl Boards {
    /// The generated code around the service for this call.
    pub fn server(shared: &Arc<Shared>, call: &Arc<Call>) -> BoardServiceServer<Self> {
        let config = &shared.desk.config;
        let server = BoardServiceServer::new(Self { shared: Arc::clone(shared), call: Arc::clone(call) })
            .max_decoding_message_size(config.max_request_bytes)
            .max_encoding_message_size(usize::MAX);
        if config.gzip { server.send_compressed(CompressionEncoding::Gzip) } else { server }
    }
}

/// The id to echo: the request's own, else the header's.
fn id_of(call: &Call, own: &str) -> Result<String, Error> {
    if own.is_empty() {
        return Ok(call.request_id.clone());
    }
    if !is_id(own) {
        let mut wrong = Violations::default();
        wrong.add("request_id", "", "at most 64 visible ASCII characters");
        return Err(Error::RequestInvalid(wrong));
    }
    call.note(|outcome| outcome.request_id = Some(own.to_owned()));
    Ok(own.to_owned())
}

fn bad_call(bad: BadCall) -> Error {
    match bad {
        BadCall::Invalid(list) => Error::RequestInvalid(list),
        BadCall::PolicyUnknown(text) => Error::PolicyUnknown(Unknown { text, known: "hard, expert".to_owned() }),
    }
}

#[tonic::async_trait]
impl BoardService for Boards {
    async fn assess_boards(
        &self,
        request: Request<pb::AssessBoardsRequest>,
    ) -> Result<Response<pb::AssessBoardsResponse>, Status> {
        let Self { shared, call } = self;
        let request = request.into_inner();
        let id = id_of(call, &request.request_id).map_err(|error| fail(call, &error))?;
        let asked = wire::read_assess(&request).map_err(|bad| fail(call, &bad_call(bad)))?;
        let work = Works::new(shared, call, &id, asked.boards.len());
        let mut spent = Spent::default();
        let results = assess(&work, asked, &mut spent).await;
        let [queue_us, think_us, total_us] = spent.told(call);
        Ok(Response::new(pb::AssessBoardsResponse { request_id: id, results, queue_us, think_us, total_us }))
    }

    async fn generate_board(
        &self,
        request: Request<pb::GenerateBoardRequest>,
    ) -> Result<Response<pb::GenerateBoardResponse>, Status> {
        let Self { shared, call } = self;
        let request = request.into_inner();
        let id = id_of(call, &request.request_id).map_err(|error| fail(call, &error))?;
        let wish = wire::read_wish(&request, drawn_seed()).map_err(|bad| fail(call, &bad_call(bad)))?;
        let work = Works::new(shared, call, &id, 1);
        let mut spent = Spent::default();
        let found = generate(&work, Generator::new(wish), &mut spent).await.map_err(|error| fail(call, &error))?;
        let [queue_us, think_us, total_us] = spent.told(call);
        Ok(Response::new(pb::GenerateBoardResponse {
            request_id: id,
            board: Some(wire::write_board(&found.board)),
            assessment: Some(wire::write_assessment(&found.assessment, false)),
            seed: wish.seed,
            tries: found.tries,
            queue_us,
            think_us,
            total_us,
        }))
    }
}

/// A seed for those who name none; it is returned, so that the board can be had again.
fn drawn_seed() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    Rng::new(RandomState::new().hash_one("board")).next_u64()
}

/// Where the time of a call went, summed over its slices.
#[derive(Debug, Default)]
struct Spent {
    queue: Duration,
    think: Duration,
}

impl Spent {
    fn add(&mut self, took: Took) {
        self.queue = self.queue.max(took.queue);
        self.think += took.think;
    }

    /// Queue (the longest wait), think (the sum over slices) and total, noted on the call too.
    fn told(&self, call: &Call) -> [u32; 3] {
        let (queue, think) = (micros(self.queue), micros(self.think));
        call.note(|outcome| {
            outcome.game = "apple";
            outcome.queue_us = queue;
            outcome.think_us = think;
        });
        [queue, think, micros(call.clock.elapsed())]
    }
}

/// One slice's share of it.
#[derive(Clone, Copy, Debug)]
struct Took {
    queue: Duration,
    think: Duration,
}

/// What a call's slices have in common.
struct Works<'a> {
    shared: &'a Arc<Shared>,
    call: &'a Call,
    id: &'a str,
    /// The last moment of thinking.
    end: Instant,
    cancel: CancelFlag,
}

impl<'a> Works<'a> {
    fn new(shared: &'a Arc<Shared>, call: &'a Call, id: &'a str, boards: usize) -> Self {
        let config = &shared.desk.config;
        // The call still has to collect its slices: one reserve for that, one for the reply, which grows with the boards.
        let reply = REPLY * u32::try_from(boards).unwrap_or(u32::MAX);
        let end = call.clock.think_end(config.max_think, config.max_queue_wait) - call.clock.reserve;
        let end = end.checked_sub(reply).unwrap_or(end);
        Self { shared, call, id, end, cancel: CancelFlag::default() }
    }

    /// Puts a slice into the queue.
    fn submit<T: Send + 'static>(
        &self,
        cost: Duration,
        run: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Ticket<(Took, T)>, Refusal> {
        let ask = Ask {
            class: Class::Bulk,
            think_end: self.end,
            deadline: self.call.clock.deadline,
            need: GAME,
            cost,
            floor: None,
            cancel: self.cancel.clone(),
            request_id: self.id.to_owned(),
        };
        let queued = now();
        self.shared.desk.pool.submit(ask, move |start| {
            let value = run();
            (Took { queue: start.at - queued, think: now() - start.at }, value)
        })
    }

    fn refused(&self, refusal: Refusal) -> Error {
        match refusal {
            Refusal::TooShort => self.call.clock.exceeded(Stage::Admission),
            Refusal::Estimate { retry } => Error::QueueEstimate { retry },
            Refusal::Full { retry } => Error::QueueFull { retry },
        }
    }

    fn ended<T>(&self, ended: Ended<(Took, T)>) -> Result<(Took, T), Error> {
        match ended {
            Ended::Done(done) => Ok(done),
            Ended::Expired => Err(self.call.clock.exceeded(Stage::Queue)),
            Ended::Evicted { retry } => Err(Error::QueueFull { retry }),
            Ended::Overshot => Err(self.call.clock.exceeded(Stage::Think)),
            Ended::Panicked => Err(Error::Bug),
        }
    }
}

/// A board on its way. Workers lend it out; it stays here, so that nothing is lost when the time is up.
enum Slot {
    Board(Box<Board>),
    Begun(Box<Assessor>),
    Failed(Error),
    /// Lent to a worker.
    Lent,
}

type Slots = Arc<Vec<Mutex<Slot>>>;

fn lock(slot: &Mutex<Slot>) -> MutexGuard<'_, Slot> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Two passes: features and the greedy game for all, then the expensive parts for as long as there is time.
async fn assess(work: &Works<'_>, asked: Assessing, spent: &mut Spent) -> Vec<pb::AssessBoardsResult> {
    let slots: Slots = Arc::new(asked.boards.into_iter().map(|board| Mutex::new(slot(board))).collect());
    let options = asked.options;
    let fresh: Vec<_> = (0..slots.len()).filter(|i| matches!(*lock(&slots[*i]), Slot::Board(_))).collect();
    pass(work, &slots, options, fresh, spent).await;
    let begun = (0..slots.len()).filter(|i| games_left(&slots[*i]) > 0).collect();
    pass(work, &slots, options, begun, spent).await;
    slots.iter().map(|slot| result(work, std::mem::replace(&mut *lock(slot), Slot::Lent), asked.trace)).collect()
}

fn slot(board: Result<Board, Reject>) -> Slot {
    match board {
        Ok(board) => Slot::Board(Box::new(board)),
        Err(Reject::Invalid(list)) => Slot::Failed(Error::ViewInvalid(list)),
        Err(Reject::NothingToDecide(text)) => Slot::Failed(Error::NothingToDecide(text)),
    }
}

/// Rough work left, in games.
fn games_left(slot: &Mutex<Slot>) -> u64 {
    match &*lock(slot) {
        Slot::Board(_) => 1,
        // The bound comes behind the games.
        Slot::Begun(assessor) if !assessor.is_done() => assessor.games_left() + 1,
        _ => 0,
    }
}

/// Brings these boards one pass further. What is refused or late keeps what it has.
async fn pass(work: &Works<'_>, slots: &Slots, options: Options, boards: Vec<usize>, spent: &mut Spent) {
    let width = 2 * work.shared.desk.pool.workers();
    let mut waiting: VecDeque<usize> = boards.into();
    let mut running = JoinSet::new();
    loop {
        while running.len() < width
            && let Some((slice, games)) = next_slice(slots, &mut waiting)
        {
            let cost = GAME * u32::try_from(games).unwrap_or(u32::MAX);
            let (lent, end, cancel, places) = (Arc::clone(slots), work.end, work.cancel.clone(), slice.clone());
            match work.submit(cost, move || advance(&lent, &places, options, end, &cancel)) {
                Ok(ticket) => {
                    running.spawn(async move { (slice, ticket.wait(Duration::ZERO).await) });
                }
                Err(refusal) => keep_or_fail(slots, &slice, &work.refused(refusal)),
            }
        }
        match running.join_next().await {
            Some(Ok((slice, ended))) => match work.ended(ended) {
                Ok((took, unfinished)) => {
                    spent.add(took);
                    waiting.extend(unfinished);
                }
                Err(error) => keep_or_fail(slots, &slice, &error),
            },
            Some(Err(_)) => {}
            None => return,
        }
    }
}

/// The next boards for about a millisecond of work, and how many games that is.
fn next_slice(slots: &Slots, waiting: &mut VecDeque<usize>) -> Option<(Vec<usize>, u64)> {
    let full = (SLICE.as_micros() / GAME.as_micros()) as u64;
    let (mut slice, mut games) = (Vec::new(), 0);
    while games < full
        && let Some(place) = waiting.pop_front()
    {
        games += games_left(&slots[place]).max(1);
        slice.push(place);
    }
    (!slice.is_empty()).then_some((slice, games))
}

/// On a worker: boards of one slice, until a millisecond is over; gives back those that are not done with this pass.
fn advance(slots: &Slots, places: &[usize], options: Options, end: Instant, cancel: &CancelFlag) -> Vec<usize> {
    let over = now() + SLICE;
    let mut unfinished = Vec::new();
    for &place in places {
        if now() >= over.min(end) || cancel.is_raised() {
            unfinished.push(place);
            continue;
        }
        let taken = std::mem::replace(&mut *lock(&slots[place]), Slot::Lent);
        let (back, more) = match taken {
            Slot::Board(board) => {
                let assessor = Assessor::start(&wire::board_path(place), *board, &options);
                (Slot::Begun(Box::new(assessor)), false)
            }
            Slot::Begun(mut assessor) => {
                let budget = Budget::until(options.search_limits(), Some(end), Some(cancel.clone()));
                while !assessor.is_done() && now() < over.min(end) && !cancel.is_raised() {
                    assessor.step(&budget);
                }
                let more = !assessor.is_done();
                (Slot::Begun(assessor), more)
            }
            other => (other, false),
        };
        *lock(&slots[place]) = back;
        if more && now() < end {
            unfinished.push(place);
        }
    }
    unfinished
}

/// A board with a first pass is returned with what it has; one without says why.
fn keep_or_fail(slots: &Slots, slice: &[usize], error: &Error) {
    for &place in slice {
        let mut slot = lock(&slots[place]);
        if matches!(*slot, Slot::Board(_) | Slot::Lent) {
            *slot = Slot::Failed(error.clone());
        }
    }
}

fn result(work: &Works<'_>, slot: Slot, trace: bool) -> pb::AssessBoardsResult {
    use pb::assess_boards_result::Outcome;
    let outcome = match finished(work, slot) {
        Ok(assessment) => Outcome::Assessment(wire::write_assessment(&assessment, trace)),
        Err(error) => {
            work.shared.desk.metrics.rejected(error.reason());
            Outcome::Error(status::message(&error, work.id))
        }
    };
    pb::AssessBoardsResult { outcome: Some(outcome) }
}

fn finished(work: &Works<'_>, slot: Slot) -> Result<Assessment, Error> {
    match slot {
        Slot::Begun(assessor) => Ok(assessor.finish()),
        Slot::Failed(error) => Err(error),
        Slot::Board(_) | Slot::Lent => Err(work.call.clock.exceeded(Stage::Queue)),
    }
}

/// Candidates of one stream, a slice at a time, until one lies in the band.
async fn generate(work: &Works<'_>, generator: Generator, spent: &mut Spent) -> Result<Found, Error> {
    let generator = Arc::new(Mutex::new(generator));
    loop {
        let lent = Arc::clone(&generator);
        let (cancel, end) = (work.cancel.clone(), work.end);
        let slice = work.submit(SLICE, move || look(&lent, end, &cancel));
        let ended = match slice {
            Ok(ticket) => work.ended(ticket.wait(Duration::ZERO).await),
            Err(refusal) => Err(work.refused(refusal)),
        };
        match ended {
            Ok((took, looked)) => {
                spent.add(took);
                match looked {
                    Ok(Some(found)) => return Ok(found),
                    Ok(None) if now() < work.end => {}
                    Ok(None) => return Err(with_tries(work.call.clock.exceeded(Stage::Think), &generator)),
                    Err(NotFound { tries, nearest }) => return Err(Error::BandNotFound { tries, nearest }),
                }
            }
            Err(error) => return Err(with_tries(error, &generator)),
        }
    }
}

/// On a worker: candidates until a millisecond is over.
fn look(generator: &Mutex<Generator>, end: Instant, cancel: &CancelFlag) -> Result<Option<Found>, NotFound> {
    let over = (now() + SLICE).min(end);
    let mut generator = generator.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let found = generator.step()?;
        if found.is_some() || now() >= over || cancel.is_raised() {
            return Ok(found);
        }
    }
}

/// An error of time says how many candidates were looked at.
fn with_tries(error: Error, generator: &Mutex<Generator>) -> Error {
    match error {
        Error::Deadline { stage, waited, budget, .. } => {
            // A worker that still holds it is looking at a candidate that will not count.
            let tries = generator.try_lock().map(|generator| generator.tries()).ok();
            Error::Deadline { stage, waited, budget, tries }
        }
        other => other,
    }
}
