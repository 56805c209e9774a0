//! The four methods of BotService. Protobuf only; no game is known here.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tonic::codec::CompressionEncoding;
use tonic::{Request, Response, Status};

use super::Shared;
use super::admission::Class;
use super::call::{Call, Outcome};
use super::deadline::now;
use super::desk::Item;
use super::order::Terms;
use super::status::{self, Error, Stage};
use crate::bot::{Violations, registry::Unknown};
use crate::pb;
use crate::pb::bot_service_server::{BotService, BotServiceServer};

/// Items of a batch.
pub const BATCH_ITEMS: usize = 128;
/// An ALL item of a batch shows at least this many rows.
const BATCH_ROWS: usize = 16;

/// The service, for one call.
pub struct Bots {
    shared: Arc<Shared>,
    call: Arc<Call>,
}

impl Bots {
    /// The generated code around the service for this call.
    pub fn server(shared: &Arc<Shared>, call: &Arc<Call>) -> BotServiceServer<Self> {
        let config = &shared.desk.config;
        let server = BotServiceServer::new(Self { shared: Arc::clone(shared), call: Arc::clone(call) })
            .max_decoding_message_size(config.max_request_bytes)
            .max_encoding_message_size(usize::MAX);
        if config.gzip { server.send_compressed(CompressionEncoding::Gzip) } else { server }
    }
}

fn terms(shared: &Shared, class: Class, rows: usize) -> Terms {
    Terms { max_think: shared.desk.config.max_think, rows, class }
}

/// Notes an error on its call and turns it into a status.
pub(super) fn fail(call: &Call, error: &Error) -> Status {
    call.fail(error);
    status::status(error, &call.id())
}

#[tonic::async_trait]
impl BotService for Bots {
    async fn decide(&self, request: Request<pb::DecideRequest>) -> Result<Response<pb::DecideResponse>, Status> {
        let Self { shared, call } = self;
        let request = request.into_inner();
        let record = shared.recorder.as_ref().and_then(|recorder| recorder.choose(&request));
        let item = Item {
            id: call.request_id.clone(),
            clock: call.clock,
            terms: terms(shared, Class::Interactive, shared.desk.config.max_reply_rows),
            margin: Duration::ZERO,
        };
        let mut outcome = Outcome::default();
        let result = shared.desk.decide(&item, request, &mut outcome).await;
        call.note(|noted| *noted = outcome);
        let reply = result.map_err(|error| fail(call, &error))?;
        if let Some(record) = record {
            record.keep(&reply);
        }
        Ok(Response::new(reply))
    }

    async fn batch_decide(
        &self,
        request: Request<pb::BatchDecideRequest>,
    ) -> Result<Response<pb::BatchDecideResponse>, Status> {
        let Self { shared, call } = self;
        let items = request.into_inner().items;
        if !(1..=BATCH_ITEMS).contains(&items.len()) {
            let mut wrong = Violations::default();
            wrong.add("items", "", format!("{} items, but a batch holds 1..={BATCH_ITEMS}", items.len()));
            return Err(fail(call, &Error::RequestInvalid(wrong)));
        }
        let rows = (shared.desk.config.max_reply_rows / items.len()).max(BATCH_ROWS);
        let batch = Batch { shared, call, terms: terms(shared, Class::Bulk, rows) };
        let results = batch.run(items).await;
        Ok(Response::new(pb::BatchDecideResponse { results }))
    }

    async fn list_policies(
        &self,
        request: Request<pb::ListPoliciesRequest>,
    ) -> Result<Response<pb::ListPoliciesResponse>, Status> {
        let Self { shared, call } = self;
        let game = request.into_inner().game;
        let book = &shared.desk.book;
        if !game.is_empty() && book.games().iter().all(|known| known.key != game) {
            let known: Vec<_> = book.games().iter().map(|known| known.key).collect();
            let shown: String = game.chars().take(64).collect();
            let unknown = Unknown { text: format!("no game {shown:?}"), known: known.join(", ") };
            return Err(fail(call, &Error::PolicyUnknown(unknown)));
        }
        Ok(Response::new(shared.policies(&game)))
    }

    async fn get_server_info(
        &self,
        _request: Request<pb::GetServerInfoRequest>,
    ) -> Result<Response<pb::GetServerInfoResponse>, Status> {
        Ok(Response::new(self.shared.info()))
    }
}

/// One batch on its way.
struct Batch<'a> {
    shared: &'a Arc<Shared>,
    call: &'a Arc<Call>,
    terms: Terms,
}

type Answer = Result<pb::DecideResponse, Error>;

impl Batch<'_> {
    /// At most 2 x workers items are in the queue at a time, so a batch never fills it. The reply leaves before the
    /// deadline less the reserve; what is not done by then says so.
    async fn run(&self, items: Vec<pb::DecideRequest>) -> Vec<pb::BatchDecideResult> {
        let width = 2 * self.shared.desk.pool.workers();
        let ids: Vec<String> = items.iter().enumerate().map(|(i, item)| self.id(i, item)).collect();
        let mut answers: Vec<Option<Answer>> = items.iter().map(|_| None).collect();
        let mut waiting: VecDeque<_> = items.into_iter().enumerate().collect();
        let mut running = JoinSet::new();
        let clock = self.call.clock;
        let end = clock.deadline.map(|deadline| deadline - clock.reserve);
        loop {
            while running.len() < width
                && let Some((place, request)) = waiting.pop_front()
            {
                running.spawn(self.item(place, &ids[place], request));
            }
            let next = running.join_next();
            let next = match end {
                Some(end) => tokio::time::timeout_at(end.into(), next).await.ok().flatten(),
                None => next.await,
            };
            match next {
                Some(Ok((place, answer))) => answers[place] = Some(answer),
                // A task that panicked: its place stays empty, and `Bug` below fills it.
                Some(Err(_)) => {}
                None => break,
            }
        }
        // Whatever still runs is aborted here; its ticket tells the search to stop.
        let late = end.is_some_and(|end| now() >= end);
        drop(running);
        answers
            .into_iter()
            .zip(&ids)
            .map(|(answer, id)| {
                let missing = || Err(if late { clock.exceeded(Stage::Queue) } else { Error::Bug });
                self.result(answer.unwrap_or_else(missing), id)
            })
            .collect()
    }

    fn id(&self, place: usize, item: &pb::DecideRequest) -> String {
        let own = super::call::is_id(&item.request_id);
        if own { item.request_id.clone() } else { format!("{}.{place}", self.call.request_id) }
    }

    fn item(
        &self,
        place: usize,
        id: &str,
        request: pb::DecideRequest,
    ) -> impl Future<Output = (usize, Answer)> + Send + 'static {
        let shared = Arc::clone(self.shared);
        let mut item = Item {
            id: id.to_owned(),
            clock: self.call.clock,
            terms: self.terms,
            // One reserve to collect the items, one for the reply.
            margin: self.call.clock.reserve,
        };
        async move {
            if item.clock.deadline.is_none() {
                // Without a deadline an item's waiting starts when it enters the queue, not behind its neighbours.
                item.clock.arrival = now();
            }
            let record = shared.recorder.as_ref().and_then(|recorder| recorder.choose(&request));
            let answer = shared.desk.decide(&item, request, &mut Outcome::default()).await;
            if let (Some(record), Ok(reply)) = (record, &answer) {
                record.keep(reply);
            }
            (place, answer)
        }
    }

    fn result(&self, answer: Answer, id: &str) -> pb::BatchDecideResult {
        let outcome = match answer {
            Ok(reply) => pb::batch_decide_result::Outcome::Decision(reply),
            Err(error) => {
                self.shared.desk.metrics.rejected(error.reason());
                pb::batch_decide_result::Outcome::Error(status::message(&error, id))
            }
        };
        pb::BatchDecideResult { outcome: Some(outcome) }
    }
}
