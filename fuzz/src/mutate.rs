//! Changes a message in a few places, as its descriptor allows: still the message, seldom still a true view. It works on
//! reflection, so every game is covered the day it enrols.

use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MapKey, ReflectMessage, Value};
use understudy::pb;

use super::source::Source;

/// Knows every message of the protocol.
pub struct Mutator {
    pool: DescriptorPool,
}

impl Default for Mutator {
    fn default() -> Self {
        Self { pool: DescriptorPool::decode(pb::DESCRIPTORS).expect("our own descriptors") }
    }
}

impl Mutator {
    /// The view with a change somewhere in it, sometimes more: each further one makes a true view less likely.
    pub fn view(&self, view: &pb::View, source: &mut Source<'_>) -> pb::View {
        let descriptor = self.pool.get_message_by_name("understudy.v1.View").expect("the protocol has views");
        let mut message = DynamicMessage::decode(descriptor, &view.encode_to_vec()[..]).expect("our own view");
        for _ in 0..[1, 1, 1, 2, 4][source.below(5)] {
            change_message(&mut message, source);
        }
        pb::View::decode(&message.encode_to_vec()[..]).unwrap_or_default()
    }
}

/// Changes one field: mostly one that is set, sometimes any.
fn change_message(message: &mut DynamicMessage, source: &mut Source<'_>) {
    let descriptor = message.descriptor();
    let set: Vec<FieldDescriptor> = descriptor.fields().filter(|field| message.has_field(field)).collect();
    let all: Vec<FieldDescriptor> = descriptor.fields().collect();
    if all.is_empty() {
        return;
    }
    let field = if set.is_empty() || source.below(6) == 0 {
        &all[source.below(all.len())]
    } else {
        &set[source.below(set.len())]
    };
    // The game itself stays: another game's empty view says little.
    if field.containing_oneof().is_some_and(|oneof| oneof.name() == "game") && !message.has_field(field) {
        return;
    }
    if source.below(12) == 0 {
        message.clear_field(field);
        return;
    }
    let kind = field.kind();
    match message.get_field_mut(field) {
        Value::List(list) => change_list(list, &kind, source),
        Value::Map(map) => {
            map.insert(MapKey::U32(source.byte().into()), Value::U32(source.byte().into()));
        }
        value => change_value(value, &kind, source),
    }
}

fn change_list(list: &mut Vec<Value>, kind: &Kind, source: &mut Source<'_>) {
    let place = source.below(list.len());
    match source.below(6) {
        0 if !list.is_empty() => {
            list.remove(place);
        }
        1 if !list.is_empty() => list.push(list[place].clone()),
        2 if list.len() > 1 => list.swap(0, place),
        3 if source.below(40) == 0 && !list.is_empty() => {
            // A flood: the sort of length that finds quadratic checks.
            let item = list[place].clone();
            list.resize(list.len() + 3000, item);
        }
        4 | 5 if !list.is_empty() => change_value(&mut list[place], kind, source),
        _ => {
            let mut value = Value::default_value(kind);
            change_value(&mut value, kind, source);
            list.push(value);
        }
    }
}

fn change_value(value: &mut Value, kind: &Kind, source: &mut Source<'_>) {
    match value {
        Value::Message(message) => change_message(message, source),
        Value::Bool(flag) => *flag = !*flag,
        Value::I32(number) => *number = interesting(i64::from(*number), source) as i32,
        Value::I64(number) => *number = interesting(*number, source),
        Value::U32(number) => *number = interesting(i64::from(*number), source) as u32,
        Value::U64(number) => *number = interesting(*number as i64, source) as u64,
        Value::EnumNumber(number) => *number = interesting(i64::from(*number), source) as i32,
        Value::F32(number) => *number = [0.0, -1.0, f32::NAN, f32::INFINITY, 1e30][source.below(5)],
        Value::F64(number) => *number = [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300][source.below(5)],
        Value::String(text) => change_text(text, source),
        Value::Bytes(bytes) => *bytes = vec![source.byte(); source.below(300)].into(),
        Value::List(list) => change_list(list, kind, source),
        Value::Map(_) => {}
    }
}

/// A neighbour, a small number, or an edge of some integer type.
fn interesting(number: i64, source: &mut Source<'_>) -> i64 {
    const EDGES: [i64; 10] =
        [0, -1, 1 << 7, 1 << 8, 1 << 15, 1 << 16, i32::MAX as i64, i32::MIN as i64, u32::MAX as i64, i64::MAX];
    match source.below(5) {
        0 => number.wrapping_add(1),
        1 => number.wrapping_sub(1),
        2 | 3 => i64::from(source.byte() % 64),
        _ => EDGES[source.below(EDGES.len())],
    }
}

fn change_text(text: &mut String, source: &mut Source<'_>) {
    match source.below(4) {
        0 => text.clear(),
        1 => text.push(char::from(source.byte() % 128)),
        2 => *text = "\u{c11d}\u{0}".repeat(source.below(200)),
        _ => text.push_str("@99"),
    }
}
