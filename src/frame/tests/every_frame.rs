//! One sample and one generator of every frame; rules that hold for all of them.

use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_assert_eq, proptest};
use proptest::strategy::Union;

use super::{decoded, encoded};
use crate::frame::{
    Continuation, Data, Frame, GoAway, Headers, Kind, Malformed, Ping, Priority, PriorityUpdate,
    PushPromise, Reason, Reset, Setting, Settings, StreamDependency, StreamId, WindowUpdate,
};

fn id(value: u32) -> StreamId {
    StreamId::new(value)
}

/// One of each, with every field different from its default.
pub(super) fn samples() -> Vec<Frame> {
    let mut all = samples_of_streams();
    all.extend(samples_of_the_connection());
    all
}

fn samples_of_streams() -> Vec<Frame> {
    let octets = Bytes::from_static(b"some octets");
    let (stream_id, fragment) = (id(3), octets.clone());
    let (end_headers, end_stream) = (true, true);
    let dependency = StreamDependency {
        stream_id: id(11),
        weight: 15,
        exclusive: true,
    };
    let (priority, promised_id) = (Some(dependency), id(2));
    vec![
        Frame::Data(Data {
            stream_id,
            data: octets,
            end_stream,
            flow_len: 20,
        }),
        Frame::Data(Data {
            stream_id,
            data: Bytes::new(),
            end_stream,
            flow_len: 0,
        }),
        Frame::Headers(Headers {
            stream_id,
            fragment: fragment.clone(),
            end_headers,
            end_stream,
            priority,
        }),
        Frame::Priority(Priority {
            stream_id,
            dependency,
        }),
        Frame::Reset(Reset {
            stream_id,
            reason: Reason::CANCEL,
        }),
        Frame::PushPromise(PushPromise {
            stream_id,
            promised_id,
            fragment: fragment.clone(),
            end_headers,
        }),
        Frame::WindowUpdate(WindowUpdate {
            stream_id,
            increment: 4096,
        }),
        Frame::Continuation(Continuation {
            stream_id,
            fragment,
            end_headers,
        }),
    ]
}

fn samples_of_the_connection() -> Vec<Frame> {
    vec![
        Frame::Settings(Settings::ack()),
        Frame::Settings(Settings::new([
            Setting::EnablePush(false),
            Setting::Unknown(77, 8),
        ])),
        Frame::Ping(Ping {
            ack: true,
            payload: *b"01234567",
        }),
        Frame::GoAway(GoAway {
            last_stream_id: id(13),
            reason: Reason::ENHANCE_YOUR_CALM,
            debug_data: Bytes::from_static(b"some octets"),
        }),
        Frame::WindowUpdate(WindowUpdate {
            stream_id: id(0),
            increment: 4096,
        }),
        Frame::PriorityUpdate(PriorityUpdate {
            prioritized_id: id(3),
            value: Bytes::from_static(b"u=1, i"),
        }),
    ]
}

fn any_id() -> impl Strategy<Value = StreamId> {
    (1..=u32::MAX >> 1).prop_map(StreamId::new)
}

fn any_bytes() -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), 0..200).prop_map(Bytes::from)
}

fn any_reason() -> impl Strategy<Value = Reason> {
    any::<u32>().prop_map(Reason::from)
}

fn any_dependency() -> impl Strategy<Value = StreamDependency> {
    (any::<u32>(), any::<u8>(), any::<bool>()).prop_map(|(value, weight, exclusive)| {
        StreamDependency {
            stream_id: StreamId::new(value),
            weight,
            exclusive,
        }
    })
}

fn any_setting() -> impl Strategy<Value = Setting> {
    Union::new([
        any::<u32>().prop_map(Setting::HeaderTableSize).boxed(),
        any::<bool>().prop_map(Setting::EnablePush).boxed(),
        any::<u32>().prop_map(Setting::MaxConcurrentStreams).boxed(),
        (0..=u32::MAX >> 1)
            .prop_map(Setting::InitialWindowSize)
            .boxed(),
        (1_u32 << 14..1 << 24)
            .prop_map(Setting::MaxFrameSize)
            .boxed(),
        any::<u32>().prop_map(Setting::MaxHeaderListSize).boxed(),
        any::<bool>()
            .prop_map(Setting::EnableConnectProtocol)
            .boxed(),
        any::<bool>().prop_map(Setting::NoRfc7540Priorities).boxed(),
        (10..=u16::MAX, any::<u32>())
            .prop_map(|(id, value)| Setting::Unknown(id, value))
            .boxed(),
    ])
}

fn any_data() -> impl Strategy<Value = Frame> {
    (any_id(), any_bytes(), any::<bool>(), 0..=256_u32).prop_map(
        |(stream_id, data, end_stream, padding)| {
            let flow_len = data.len() as u32 + padding;
            Frame::Data(Data {
                stream_id,
                data,
                end_stream,
                flow_len,
            })
        },
    )
}

fn any_headers() -> impl Strategy<Value = Frame> {
    let priority = proptest::option::of(any_dependency());
    (
        any_id(),
        any_bytes(),
        any::<bool>(),
        any::<bool>(),
        priority,
    )
        .prop_map(|(stream_id, fragment, end_headers, end_stream, priority)| {
            Frame::Headers(Headers {
                stream_id,
                fragment,
                end_headers,
                end_stream,
                priority,
            })
        })
}

fn any_promise() -> impl Strategy<Value = Frame> {
    (any_id(), any_id(), any_bytes(), any::<bool>()).prop_map(
        |(stream_id, promised_id, fragment, end_headers)| {
            Frame::PushPromise(PushPromise {
                stream_id,
                promised_id,
                fragment,
                end_headers,
            })
        },
    )
}

fn any_continuation() -> impl Strategy<Value = Frame> {
    (any_id(), any_bytes(), any::<bool>()).prop_map(|(stream_id, fragment, end_headers)| {
        Frame::Continuation(Continuation {
            stream_id,
            fragment,
            end_headers,
        })
    })
}

fn any_go_away() -> impl Strategy<Value = Frame> {
    (
        any::<u32>().prop_map(StreamId::new),
        any_reason(),
        any_bytes(),
    )
        .prop_map(|(last_stream_id, reason, debug_data)| {
            Frame::GoAway(GoAway {
                last_stream_id,
                reason,
                debug_data,
            })
        })
}

fn any_window_update() -> impl Strategy<Value = Frame> {
    (any::<u32>().prop_map(StreamId::new), 1..=u32::MAX >> 1).prop_map(|(stream_id, increment)| {
        Frame::WindowUpdate(WindowUpdate {
            stream_id,
            increment,
        })
    })
}

fn any_priority() -> impl Strategy<Value = Frame> {
    (any_id(), any_dependency()).prop_map(|(stream_id, dependency)| {
        Frame::Priority(Priority {
            stream_id,
            dependency,
        })
    })
}

fn any_priority_update() -> impl Strategy<Value = Frame> {
    (any_id(), any_bytes()).prop_map(|(prioritized_id, value)| {
        Frame::PriorityUpdate(PriorityUpdate {
            prioritized_id,
            value,
        })
    })
}

fn any_reset() -> impl Strategy<Value = Frame> {
    (any_id(), any_reason())
        .prop_map(|(stream_id, reason)| Frame::Reset(Reset { stream_id, reason }))
}

fn any_ping() -> impl Strategy<Value = Frame> {
    (any::<bool>(), any::<[u8; 8]>()).prop_map(|(ack, payload)| Frame::Ping(Ping { ack, payload }))
}

fn any_settings() -> impl Strategy<Value = Frame> {
    vec(any_setting(), 0..20).prop_map(|entries| Frame::Settings(Settings::new(entries)))
}

pub(super) fn any_frame() -> impl Strategy<Value = Frame> {
    Union::new([
        any_data().boxed(),
        any_headers().boxed(),
        any_priority().boxed(),
        any_reset().boxed(),
        any_settings().boxed(),
        any_promise().boxed(),
        any_ping().boxed(),
        any_go_away().boxed(),
        any_window_update().boxed(),
        any_continuation().boxed(),
        any_priority_update().boxed(),
    ])
}

/// The parts of an encoded frame.
fn parts(frame: &Frame) -> (Kind, u8, u32, Vec<u8>) {
    let input = encoded(frame);
    let id = u32::from_be_bytes([input[5], input[6], input[7], input[8]]);
    (Kind::new(input[3]), input[4], id, input[9..].to_vec())
}

proptest! {
    #[test]
    fn encode_then_decode_is_the_same_frame(frame in any_frame()) {
        let (kind, flags, id, payload) = parts(&frame);
        prop_assert_eq!(decoded(kind, flags, id, payload), Ok(frame));
    }
}

//= test RFC 9113 §4.1 flags without a meaning are ignored
#[test]
fn undefined_flags_are_ignored() {
    for frame in samples() {
        let (kind, flags, id, payload) = parts(&frame);
        let defined = match kind {
            Kind::DATA => 0x09,
            Kind::HEADERS => 0x2d,
            Kind::SETTINGS | Kind::PING => 0x01,
            Kind::PUSH_PROMISE => 0x0c,
            Kind::CONTINUATION => 0x04,
            _ => 0,
        };
        assert_eq!(
            flags & !defined,
            0,
            "undefined flags of {kind} are sent as 0"
        );
        assert_eq!(
            decoded(kind, flags | !defined, id, payload).as_ref(),
            Ok(&frame)
        );
    }
}

//= test RFC 9113 §6.1 DATA, §6.2 HEADERS, §6.3 PRIORITY, §6.4 RST_STREAM, §6.6 PUSH_PROMISE and
//= test RFC 9113 §6.10 CONTINUATION on stream 0 are connection errors
#[test]
fn frames_of_streams_are_refused_on_stream_0() {
    for frame in samples_of_streams() {
        let (kind, flags, _, payload) = parts(&frame);
        if kind != Kind::WINDOW_UPDATE {
            let fault = Malformed::ConnectionStream { kind };
            assert_eq!(decoded(kind, flags, 0, payload), Err(fault));
        }
    }
}

//= test RFC 9113 §6.5 SETTINGS, §6.7 PING, §6.8 GOAWAY on a stream are connection errors
//= test RFC 9218 §7.1 so is PRIORITY_UPDATE
#[test]
fn frames_of_the_connection_are_refused_on_streams() {
    for frame in samples_of_the_connection() {
        let (kind, flags, _, payload) = parts(&frame);
        if kind != Kind::WINDOW_UPDATE {
            let stream_id = StreamId::new(1);
            let fault = Malformed::NotConnectionStream { kind, stream_id };
            assert_eq!(decoded(kind, flags, 1, payload), Err(fault));
        }
    }
}

/// Where both are wrong the stream is judged first, so that the code does not depend on length.
#[test]
fn stream_is_judged_before_length() {
    let empty = [0_u8; 0];
    let kind = Kind::PRIORITY;
    assert_eq!(
        decoded(kind, 0, 0, empty),
        Err(Malformed::ConnectionStream { kind })
    );
    let (kind, stream_id) = (Kind::PING, StreamId::new(1));
    assert_eq!(
        decoded(kind, 0, 1, empty),
        Err(Malformed::NotConnectionStream { kind, stream_id })
    );
}
