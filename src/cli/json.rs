//! Protobuf JSON of our messages, by reflection from the descriptor set in the binary.

use std::sync::OnceLock;

use prost::Message;
use prost_reflect::{DescriptorPool, DeserializeOptions, DynamicMessage, MessageDescriptor, ReflectMessage as _};

use super::Failure;
use crate::pb;

/// A message of `understudy.v1` that the command line reads or writes as JSON.
pub trait Named: Message + Default {
    /// Its full name.
    const NAME: &'static str;
}

macro_rules! named {
    ($($message:ident),+) => {
        $(impl Named for pb::$message {
            const NAME: &'static str = concat!("understudy.v1.", stringify!($message));
        })+
    };
}

named!(DecideRequest, DecideResponse, ListPoliciesResponse);

fn pool() -> &'static DescriptorPool {
    static POOL: OnceLock<DescriptorPool> = OnceLock::new();
    POOL.get_or_init(|| {
        DescriptorPool::decode(pb::DESCRIPTORS).expect("the descriptor set is ours; this is a bug of build.rs")
    })
}

fn descriptor(name: &str) -> MessageDescriptor {
    pool().get_message_by_name(name).expect("the message is ours; this is a bug of json.rs")
}

/// A message as a JSON value. Fields with their default value are left out, as protobuf JSON has it.
///
/// # Errors
/// When a number in it cannot be written.
pub fn write<M: Named>(message: &M) -> Result<serde_json::Value, Failure> {
    let bytes = message.encode_to_vec();
    let broken = |error: &dyn std::fmt::Display| Failure::failed(format!("{}: {error}", M::NAME));
    let dynamic = DynamicMessage::decode(descriptor(M::NAME), bytes.as_slice()).map_err(|error| broken(&error))?;
    serde_json::to_value(&dynamic).map_err(|error| broken(&error))
}

/// A message from a JSON value.
///
/// # Errors
/// The first field that does not fit, in words.
pub fn read_value<M: Named>(value: serde_json::Value) -> Result<M, String> {
    let options = DeserializeOptions::new();
    let dynamic = DynamicMessage::deserialize_with_options(descriptor(M::NAME), value, &options)
        .map_err(|error| error.to_string())?;
    debug_assert_eq!(dynamic.descriptor().full_name(), M::NAME);
    M::decode(dynamic.encode_to_vec().as_slice()).map_err(|error| error.to_string())
}

/// A message from JSON text.
///
/// # Errors
/// As [`read_value`], with line and column for text that is no JSON at all.
pub fn read<M: Named>(text: &str) -> Result<M, String> {
    read_value(serde_json::from_str(text).map_err(|error| error.to_string())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_are_refused() {
        assert!(read::<pb::DecideRequest>("{\"polcy\": \"hard\"}").expect_err("no such field").contains("polcy"));
        assert!(read::<pb::DecideRequest>("{").is_err());
    }
}
