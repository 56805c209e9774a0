//! Protobuf JSON of our messages, from the descriptor set that reflection serves.

use std::sync::OnceLock;

use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, SerializeOptions};
use serde_json::Value;

use crate::pb;

fn pool() -> Option<&'static DescriptorPool> {
    static POOL: OnceLock<Option<DescriptorPool>> = OnceLock::new();
    POOL.get_or_init(|| DescriptorPool::decode(pb::DESCRIPTORS).ok()).as_ref()
}

/// A message as JSON; null for a name that is not ours.
pub fn of(name: &str, message: &impl Message) -> Value {
    let dynamic = || {
        let descriptor = pool()?.get_message_by_name(name)?;
        let dynamic = DynamicMessage::decode(descriptor, message.encode_to_vec().as_slice()).ok()?;
        dynamic.serialize_with_options(serde_json::value::Serializer, &SerializeOptions::new()).ok()
    };
    dynamic().unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_become_protobuf_json() {
        let request = pb::DecideRequest { policy: "hard".to_owned(), seed: Some(7), detail: 3, ..Default::default() };
        let value = of("understudy.v1.DecideRequest", &request);
        assert_eq!(value, serde_json::json!({"policy": "hard", "seed": "7", "detail": "DETAIL_ALL"}));
        assert_eq!(of("understudy.v1.Nothing", &request), Value::Null);
    }
}
