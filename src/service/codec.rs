//! The prost codec, except that bytes which are not the message are the client's fault: INVALID_ARGUMENT, where tonic
//! says INTERNAL.

use std::marker::PhantomData;

use bytes::Buf;
use prost::Message;
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// Encodes `T`, decodes `U`.
pub struct StrictCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for StrictCodec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> Codec for StrictCodec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = StrictEncoder<T>;
    type Decoder = StrictDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        StrictEncoder(PhantomData)
    }

    fn decoder(&mut self) -> Self::Decoder {
        StrictDecoder(PhantomData)
    }
}

/// Encodes messages.
pub struct StrictEncoder<T>(PhantomData<T>);

impl<T: Message + Send + 'static> Encoder for StrictEncoder<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, item: T, buf: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(buf).map_err(|error| Status::internal(format!("the reply does not fit its buffer: {error}")))
    }
}

/// Decodes messages.
pub struct StrictDecoder<U>(PhantomData<U>);

impl<U: Message + Default + Send + 'static> Decoder for StrictDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        let message = U::decode(&mut *buf)
            .map_err(|error| super::status::status(&super::status::Error::Undecodable(error.to_string()), ""))?;
        debug_assert!(!buf.has_remaining());
        Ok(Some(message))
    }
}
