//! Every error, and the one function that turns it into a status.

use std::collections::HashMap;
use std::time::Duration;

use prost::Message as _;
use tonic::metadata::MetadataValue;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt as _};

use super::deadline::micros;
use crate::bot::registry::Unknown;
use crate::bot::{Violation, Violations};

/// Where a call ran out of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Its body was not complete in time.
    Receive,
    /// Too little time was left to start.
    Admission,
    /// It expired while waiting.
    Queue,
    /// The policy overshot: a bug to fix.
    Think,
}

impl Stage {
    /// As metadata and logs spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Receive => "receive",
            Self::Admission => "admission",
            Self::Queue => "queue",
            Self::Think => "think",
        }
    }
}

/// Everything that may end a call other than OK.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The view breaks rules of its game.
    ViewInvalid(Violations),
    /// The request around the view is wrong.
    RequestInvalid(Violations),
    /// Bytes that are not the message.
    Undecodable(String),
    /// A `grpc-timeout` that the protocol does not allow; the text received.
    TimeoutMalformed(String),
    /// Unknown policy, version or game.
    PolicyUnknown(Unknown),
    /// A valid view without a candidate.
    NothingToDecide(String),
    /// No board in the band.
    BandNotFound {
        /// Boards looked at.
        tries: u32,
        /// The percentile that came closest; `None`: no board could be drawn.
        nearest: Option<f64>,
    },
    /// No place in the queue.
    QueueFull {
        /// When to come back.
        retry: Duration,
    },
    /// The queue is too long for the time that is left.
    QueueEstimate {
        /// When to come back.
        retry: Duration,
    },
    /// Too many calls in flight.
    InFlight,
    /// Too many bytes of half-received messages.
    ReceiveMemory,
    /// Too many bytes of replies that peers have not taken.
    SendMemory,
    /// The message is over the limit.
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// Out of time.
    Deadline {
        /// Where.
        stage: Stage,
        /// Since arrival.
        waited: Duration,
        /// What the client allowed.
        budget: Option<Duration>,
        /// Boards looked at, where one was looked for.
        tries: Option<u32>,
    },
    /// Nobody waits for the answer.
    Cancelled,
    /// Not serving yet.
    Starting,
    /// Going away.
    Draining,
    /// Ours.
    Bug,
    /// Missing or wrong token.
    Unauthenticated,
    /// A compression we do not speak.
    Compression,
    /// No such method.
    UnknownMethod,
}

/// The reasons of section 3: labels of `understudy_rejected_total`, `ErrorInfo.reason`, and in logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Reason {
    ViewInvalid,
    RequestInvalid,
    Undecodable,
    TimeoutMalformed,
    PolicyUnknown,
    NothingToDecide,
    BandNotFound,
    QueueFull,
    QueueEstimate,
    InFlight,
    ReceiveMemory,
    SendMemory,
    RequestTooLarge,
    Deadline,
    Cancelled,
    Starting,
    Draining,
    Bug,
    Unauthenticated,
    Unimplemented,
    ContentType,
}

impl Reason {
    /// All of them, in order.
    pub const ALL: [Self; 21] = [
        Self::ViewInvalid,
        Self::RequestInvalid,
        Self::Undecodable,
        Self::TimeoutMalformed,
        Self::PolicyUnknown,
        Self::NothingToDecide,
        Self::BandNotFound,
        Self::QueueFull,
        Self::QueueEstimate,
        Self::InFlight,
        Self::ReceiveMemory,
        Self::SendMemory,
        Self::RequestTooLarge,
        Self::Deadline,
        Self::Cancelled,
        Self::Starting,
        Self::Draining,
        Self::Bug,
        Self::Unauthenticated,
        Self::Unimplemented,
        Self::ContentType,
    ];

    /// As the wire, the metrics and the logs spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ViewInvalid => "VIEW_INVALID",
            Self::RequestInvalid => "REQUEST_INVALID",
            Self::Undecodable => "UNDECODABLE",
            Self::TimeoutMalformed => "TIMEOUT_MALFORMED",
            Self::PolicyUnknown => "POLICY_UNKNOWN",
            Self::NothingToDecide => "NOTHING_TO_DECIDE",
            Self::BandNotFound => "BAND_NOT_FOUND",
            Self::QueueFull => "QUEUE_FULL",
            Self::QueueEstimate => "QUEUE_ESTIMATE",
            Self::InFlight => "IN_FLIGHT",
            Self::ReceiveMemory => "RECEIVE_MEMORY",
            Self::SendMemory => "SEND_MEMORY",
            Self::RequestTooLarge => "REQUEST_TOO_LARGE",
            Self::Deadline => "DEADLINE",
            Self::Cancelled => "CANCELLED",
            Self::Starting => "STARTING",
            Self::Draining => "DRAINING",
            Self::Bug => "BUG",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Unimplemented => "UNIMPLEMENTED",
            Self::ContentType => "CONTENT_TYPE",
        }
    }
}

impl Error {
    /// Its reason.
    pub const fn reason(&self) -> Reason {
        match self {
            Self::ViewInvalid(_) => Reason::ViewInvalid,
            Self::RequestInvalid(_) => Reason::RequestInvalid,
            Self::Undecodable(_) => Reason::Undecodable,
            Self::TimeoutMalformed(_) => Reason::TimeoutMalformed,
            Self::PolicyUnknown(_) => Reason::PolicyUnknown,
            Self::NothingToDecide(_) => Reason::NothingToDecide,
            Self::BandNotFound { .. } => Reason::BandNotFound,
            Self::QueueFull { .. } => Reason::QueueFull,
            Self::QueueEstimate { .. } => Reason::QueueEstimate,
            Self::InFlight => Reason::InFlight,
            Self::ReceiveMemory => Reason::ReceiveMemory,
            Self::SendMemory => Reason::SendMemory,
            Self::TooLarge { .. } => Reason::RequestTooLarge,
            Self::Deadline { .. } => Reason::Deadline,
            Self::Cancelled => Reason::Cancelled,
            Self::Starting => Reason::Starting,
            Self::Draining => Reason::Draining,
            Self::Bug => Reason::Bug,
            Self::Unauthenticated => Reason::Unauthenticated,
            Self::Compression | Self::UnknownMethod => Reason::Unimplemented,
        }
    }

    /// The stage, for errors of time.
    pub const fn stage(&self) -> Option<Stage> {
        match self {
            Self::Deadline { stage, .. } => Some(*stage),
            _ => None,
        }
    }

    /// Its status code.
    pub const fn code(&self) -> Code {
        match self {
            Self::ViewInvalid(_) | Self::RequestInvalid(_) | Self::Undecodable(_) | Self::TimeoutMalformed(_) => {
                Code::InvalidArgument
            }
            Self::PolicyUnknown(_) => Code::NotFound,
            Self::NothingToDecide(_) | Self::BandNotFound { .. } => Code::FailedPrecondition,
            Self::QueueFull { .. }
            | Self::QueueEstimate { .. }
            | Self::InFlight
            | Self::ReceiveMemory
            | Self::SendMemory
            | Self::TooLarge { .. } => Code::ResourceExhausted,
            Self::Deadline { .. } => Code::DeadlineExceeded,
            Self::Cancelled => Code::Cancelled,
            Self::Starting | Self::Draining => Code::Unavailable,
            Self::Bug => Code::Internal,
            Self::Unauthenticated => Code::Unauthenticated,
            Self::Compression | Self::UnknownMethod => Code::Unimplemented,
        }
    }

    /// When to come back, where a retry can help at all.
    pub const fn retry(&self) -> Option<Duration> {
        match self {
            Self::QueueFull { retry } | Self::QueueEstimate { retry } => Some(*retry),
            Self::InFlight => Some(Duration::from_millis(50)),
            Self::ReceiveMemory | Self::SendMemory => Some(Duration::from_millis(200)),
            Self::Starting => Some(Duration::from_millis(200)),
            // Another replica, or this one after its restart.
            Self::Draining => Some(Duration::from_millis(50)),
            _ => None,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::ViewInvalid(list) => problems("the view", list),
            Self::RequestInvalid(list) => problems("the request", list),
            Self::Undecodable(text) => format!("undecodable: {text}"),
            Self::TimeoutMalformed(text) => format!("malformed grpc-timeout: {text}"),
            Self::PolicyUnknown(unknown) => unknown.text.clone(),
            Self::NothingToDecide(text) => text.clone(),
            Self::BandNotFound { tries, nearest } => {
                let nearest =
                    nearest.map_or_else(String::new, |nearest| format!("; the nearest percentile was {nearest}"));
                format!("no board in the band within {tries} tries{nearest}")
            }
            Self::QueueFull { .. } => "the queue is full".to_owned(),
            Self::QueueEstimate { .. } => "the queue is too long for the time that is left".to_owned(),
            Self::InFlight => "too many calls in flight".to_owned(),
            Self::ReceiveMemory => "too many bytes of half-received messages".to_owned(),
            Self::SendMemory => "too many bytes of replies that peers have not taken".to_owned(),
            Self::TooLarge { limit } => format!("the request message is over the limit of {limit} bytes"),
            Self::Deadline { stage, .. } => match stage {
                Stage::Receive => "the request was not complete in time".to_owned(),
                Stage::Admission => "too little time is left to start".to_owned(),
                Stage::Queue => "expired while waiting".to_owned(),
                Stage::Think => "the policy did not answer in time".to_owned(),
            },
            Self::Cancelled => "the client is gone".to_owned(),
            Self::Starting => "not serving yet".to_owned(),
            Self::Draining => "going away; the call was not started".to_owned(),
            Self::Bug => "a bug of ours; the request id finds it in the log".to_owned(),
            Self::Unauthenticated => "missing or wrong token".to_owned(),
            Self::Compression => "this compression is not accepted".to_owned(),
            Self::UnknownMethod => "no such method".to_owned(),
        }
    }

    fn metadata(&self, request_id: &str) -> HashMap<String, String> {
        let mut metadata = HashMap::new();
        let mut put = |key: &str, value: String| metadata.insert(key.to_owned(), value);
        match self {
            Self::PolicyUnknown(unknown) => {
                put("known", cut(&unknown.known, 1024));
            }
            Self::TimeoutMalformed(text) => {
                put("received", text.clone());
            }
            Self::BandNotFound { tries, nearest } => {
                put("tries", tries.to_string());
                put("nearest", nearest.map_or_else(String::new, |nearest| nearest.to_string()));
            }
            Self::TooLarge { limit } => {
                put("limit_bytes", limit.to_string());
            }
            Self::Deadline { stage, waited, budget, tries } => {
                put("stage", stage.name().to_owned());
                put("waited_us", micros(*waited).to_string());
                put("budget_us", budget.map_or_else(String::new, |time| micros(time).to_string()));
                if let Some(tries) = tries {
                    put("tries", tries.to_string());
                }
            }
            Self::Bug => {
                put("request_id", request_id.to_owned());
            }
            _ => {}
        }
        metadata
    }
}

/// Violations that a status carries.
const SHOWN: usize = 16;
/// Encoded details stay under this, so that with base64 and the message the status stays under 4 KiB.
const DETAILS: usize = 2400;
/// A message stays under this; percent-encoding may triple a part of it.
const MESSAGE: usize = 360;

fn problems(what: &str, list: &Violations) -> String {
    let plural = if list.len() == 1 { "problem" } else { "problems" };
    let mut text = format!("{} {plural} in {what}", list.len());
    // As many as fit: whoever reads only the message, in a log or a terminal, should see more than the first.
    for (i, violation) in list.kept().iter().take(SHOWN).enumerate() {
        let one = format!("{}: {}", cut(&violation.field, 100), cut(&violation.description(), 160));
        if i > 0 && text.len() + one.len() > MESSAGE - 20 {
            break;
        }
        text.push_str(if i == 0 { ": " } else { "; " });
        text.push_str(&one);
    }
    if list.len() > SHOWN {
        text.push_str(&format!("; and {} more", list.len() - SHOWN));
    }
    text
}

/// At most `max` bytes of a text, cut at a character.
fn cut(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let end = (0..=max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text[..end].to_owned()
}

/// The status of an error: code, message, `google.rpc` details, and the retry trailer where a retry can help.
pub fn status(error: &Error, request_id: &str) -> Status {
    let mut details = ErrorDetails::new();
    if matches!(error, Error::UnknownMethod | Error::Cancelled) {
        return Status::new(error.code(), error.message());
    }
    // One reason for every token error: nothing that helps guessing.
    details.set_error_info(error.reason().name(), "understudy", error.metadata(request_id));
    if let Some(retry) = error.retry() {
        details.set_retry_info(Some(retry));
    }
    if let Error::ViewInvalid(list) | Error::RequestInvalid(list) = error {
        details.set_bad_request(violations(list.kept()));
    }
    let mut status = Status::with_error_details(error.code(), cut(&error.message(), MESSAGE), details);
    let pushback = match error.retry() {
        Some(retry) => Some(MetadataValue::from(retry.as_millis().max(1) as u64)),
        // A client's policy goes by the code, and this code is worth a retry elsewhere: "-1" tells it not to.
        None if error.code() == Code::ResourceExhausted => Some(MetadataValue::from_static("-1")),
        None => None,
    };
    if let Some(pushback) = pushback {
        status.metadata_mut().insert("grpc-retry-pushback-ms", pushback);
    }
    status
}

/// The first violations, their texts cut as far as the size of a status asks.
fn violations(list: &[Violation]) -> Vec<FieldViolation> {
    let shown = &list[..list.len().min(SHOWN)];
    let size = |v: &Violation, text: usize| v.field.len().min(128) + v.description().len().min(text) + 8;
    let text =
        [240, 120, 60].into_iter().find(|text| shown.iter().map(|v| size(v, *text)).sum::<usize>() < DETAILS - 500);
    let (text, field) = text.map_or((40, 64), |text| (text, 128));
    shown.iter().map(|v| FieldViolation::new(cut(&v.field, field), cut(&v.description(), text))).collect()
}

/// The same as the message that stands in a batch.
pub fn message(error: &Error, request_id: &str) -> tonic_types::pb::Status {
    let status = status(error, request_id);
    tonic_types::pb::Status::decode(status.details()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire_size(status: &Status) -> usize {
        let response: http::Response<()> = status.clone().into_http();
        let headers = ["grpc-message", "grpc-status-details-bin"];
        headers.iter().filter_map(|name| response.headers().get(*name)).map(|value| value.len()).sum()
    }

    #[test]
    fn a_status_stays_under_four_kilobytes() {
        for (count, length) in [(1, 20), (16, 90), (17, 400), (256, 5000)] {
            let mut wrong = Violations::under("view.game");
            for _ in 0..count {
                wrong.add("x".repeat(length), "code", "글".repeat(length));
            }
            let error = Error::ViewInvalid(wrong);
            let status = status(&error, "id");
            assert!(wire_size(&status) < 4096, "{count} violations of {length}: {}", wire_size(&status));
            let bad = status.get_details_bad_request().expect("bad request details");
            assert_eq!(bad.field_violations.len(), count.min(16));
            assert_eq!(status.message().contains("and 240 more"), count == 256);
        }
        let unknown = Unknown { text: "x".repeat(9000), known: "y".repeat(9000) };
        assert!(wire_size(&status(&Error::PolicyUnknown(unknown), "id")) < 4096);
    }

    #[test]
    fn only_what_a_retry_helps_says_when() {
        let retry = Duration::from_millis(7);
        for (error, expected) in [
            (Error::QueueFull { retry }, Some("7")),
            (Error::TooLarge { limit: 5 }, Some("-1")),
            (Error::Bug, None),
            (Error::NothingToDecide(String::new()), None),
        ] {
            let status = status(&error, "id");
            let pushback = status.metadata().get("grpc-retry-pushback-ms").and_then(|value| value.to_str().ok());
            assert_eq!(pushback, expected, "{error:?}");
            let retry = status.get_details_retry_info().and_then(|info| info.retry_delay);
            assert_eq!(retry, error.retry(), "{error:?}");
        }
    }

    #[test]
    fn the_reasons_are_those_of_the_protocol() {
        for reason in Reason::ALL {
            let known = crate::pb::ErrorReason::from_str_name(&format!("ERROR_REASON_{}", reason.name())).is_some();
            let ours = matches!(reason, Reason::Cancelled | Reason::Unimplemented | Reason::ContentType);
            assert_ne!(known, ours, "{}", reason.name());
        }
    }
}
