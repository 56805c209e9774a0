//! The clock of a call: it starts when the headers arrive, and only `Instant`s travel from there on.

use std::time::{Duration, Instant};

use http::HeaderMap;

use super::config::Config;
use super::status::Error;

/// The present. The service reads the clock here.
#[allow(clippy::disallowed_methods)]
pub fn now() -> Instant {
    Instant::now()
}

/// When a call arrived and when its answer is worth nothing any more.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The headers arrived.
    pub arrival: Instant,
    /// `arrival` plus the client's timeout, if it named one.
    pub deadline: Option<Instant>,
    /// Kept back for the reply.
    pub reserve: Duration,
}

impl Clock {
    /// From the moment of arrival and the timeout the client named.
    pub fn new(arrival: Instant, timeout: Option<Duration>, config: &Config) -> Self {
        let timeout = timeout.map(|timeout| timeout.min(config.max_deadline));
        let share = timeout.map_or(Duration::ZERO, |timeout| timeout * config.reply_reserve_percent / 100);
        Self { arrival, deadline: timeout.map(|timeout| arrival + timeout), reserve: share.min(config.reply_reserve) }
    }

    /// The last moment of thinking, for a decision that may take `limit`. Without a deadline waiting is bounded instead.
    pub fn think_end(&self, limit: Duration, max_queue_wait: Duration) -> Instant {
        match self.deadline {
            Some(deadline) => deadline - self.reserve,
            None => self.arrival + max_queue_wait + limit,
        }
    }

    /// Whether `time` is left before the deadline itself.
    pub fn has(&self, time: Duration) -> bool {
        self.deadline.is_none_or(|deadline| now() + time < deadline)
    }

    /// Time since arrival.
    pub fn elapsed(&self) -> Duration {
        now().saturating_duration_since(self.arrival)
    }

    /// The error of a call that ran out of time in `stage`.
    pub fn exceeded(&self, stage: super::status::Stage) -> Error {
        let budget = self.deadline.map(|deadline| deadline - self.arrival);
        Error::Deadline { stage, waited: self.elapsed(), budget, tries: None }
    }
}

/// `grpc-timeout` as the protocol writes it: 1 to 8 ASCII digits and one of `H M S m u n`, once, and nothing else.
///
/// # Errors
/// The text received, if it is anything else.
pub fn timeout_of(headers: &HeaderMap) -> Result<Option<Duration>, Error> {
    let mut values = headers.get_all("grpc-timeout").iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Error::TimeoutMalformed("the header came twice".to_owned()));
    }
    match parse_timeout(value.as_bytes()) {
        Some(timeout) => Ok(Some(timeout)),
        None => Err(Error::TimeoutMalformed(shown(value.as_bytes()))),
    }
}

fn parse_timeout(text: &[u8]) -> Option<Duration> {
    let (unit, digits) = text.split_last()?;
    if !(1..=8).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let count = digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    Some(match unit {
        b'H' => Duration::from_secs(count * 3600),
        b'M' => Duration::from_secs(count * 60),
        b'S' => Duration::from_secs(count),
        b'm' => Duration::from_millis(count),
        b'u' => Duration::from_micros(count),
        b'n' => Duration::from_nanos(count),
        _ => return None,
    })
}

/// The first 32 bytes of what a client sent, safe to show.
fn shown(text: &[u8]) -> String {
    text.iter().take(32).flat_map(|byte| std::ascii::escape_default(*byte)).map(char::from).collect()
}

/// Microseconds as the wire counts them.
pub fn micros(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_formed_timeouts() {
        let ms = Duration::from_millis;
        for (text, time) in [
            ("50m", ms(50)),
            ("0n", ms(0)),
            ("00000001S", ms(1000)),
            ("99999999n", Duration::from_nanos(99_999_999)),
            ("2M", ms(120_000)),
            ("1H", ms(3_600_000)),
            ("900u", Duration::from_micros(900)),
        ] {
            assert_eq!(parse_timeout(text.as_bytes()), Some(time), "{text}");
        }
    }

    #[test]
    fn malformed_timeouts() {
        for text in ["", "m", "50", "50ms", "+5m", " 5m", "5m ", "123456789m", "5M5", "5s", "-1m", "5.0m", "5µ", "0x5m"]
        {
            assert_eq!(parse_timeout(text.as_bytes()), None, "{text:?}");
        }
        let mut twice = HeaderMap::new();
        twice.append("grpc-timeout", "5m".parse().expect("a header value"));
        twice.append("grpc-timeout", "5m".parse().expect("a header value"));
        assert!(matches!(timeout_of(&twice), Err(Error::TimeoutMalformed(_))));
    }

    #[test]
    fn the_reserve_is_the_smaller_of_five_milliseconds_and_a_fifth() {
        let config = Config::default();
        let arrival = now();
        let end = |timeout| Clock::new(arrival, Some(timeout), &config).think_end(Duration::ZERO, Duration::ZERO);
        assert_eq!(end(Duration::from_millis(50)), arrival + Duration::from_millis(45));
        assert_eq!(end(Duration::from_micros(900)), arrival + Duration::from_micros(720));
        let long = Clock::new(arrival, Some(Duration::from_secs(600)), &config);
        assert_eq!(long.deadline, Some(arrival + Duration::from_secs(60)));
        let free = Clock::new(arrival, None, &config);
        let end = free.think_end(Duration::from_millis(30), config.max_queue_wait);
        assert_eq!(end, arrival + Duration::from_millis(2030));
    }
}
