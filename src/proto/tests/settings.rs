//! SETTINGS, both ways.

use super::pair::End;
use super::script::{Script, client, server};
use crate::error::Violation;
use crate::frame::{Frame, Reason, Setting, Settings};
use crate::proto::{Config, Event, Role};

#[test]
fn the_first_frame_says_what_was_configured() {
    let config = Config {
        initial_window_size: 1 << 20,
        initial_connection_window_size: Some(1 << 20),
        max_concurrent_streams: Some(7),
        enable_connect_protocol: true,
        ..Config::default()
    };
    let mut end = End::new(Role::Server, config);
    let sent = end.sent();
    let [Frame::Settings(settings), Frame::WindowUpdate(update)] = &sent[..] else {
        panic!("{sent:?}")
    };
    let entries: Vec<_> = settings.entries().collect();
    let expected = [
        Setting::MaxConcurrentStreams(7),
        Setting::InitialWindowSize(1 << 20),
        Setting::EnableConnectProtocol(true),
        Setting::NoRfc7540Priorities(true),
    ];
    assert_eq!(entries, expected);
    assert_eq!(update.increment, (1 << 20) - 65_535);
}

//= test RFC 9113 §6.5.3
#[test]
fn each_settings_frame_is_acknowledged_once() {
    let mut script = server();
    script.settings([Setting::InitialWindowSize(5)]);
    script.settings([Setting::InitialWindowSize(6)]);
    let sent = script.sent();
    assert_eq!(sent, vec![Frame::Settings(Settings::ack()); 2]);
    assert_eq!(script.shared.initial_window.get(), 6);
}

//= test RFC 9113 §6.5.3
#[test]
fn an_acknowledgement_of_nothing_costs_the_connection() {
    let mut script = server();
    script.recv(Frame::Settings(Settings::ack()));
    script.expect_go_away(Reason::PROTOCOL_ERROR);
}

//= test RFC 9113 §6.5.2
#[test]
fn a_server_does_not_enable_push() {
    let mut script = client();
    script.settings([Setting::EnablePush(true)]);
    script.expect_go_away(Reason::PROTOCOL_ERROR);
    let mut script = client();
    script.settings([Setting::EnablePush(false)]);
    assert!(script.conn.wants_read());
}

//= test RFC 8441 §3
//= test RFC 9218 §2.1
#[test]
fn some_settings_cannot_be_taken_back() {
    for [first, second] in [
        [
            Setting::EnableConnectProtocol(true),
            Setting::EnableConnectProtocol(false),
        ],
        [
            Setting::NoRfc7540Priorities(true),
            Setting::NoRfc7540Priorities(false),
        ],
    ] {
        let mut end = End::new(Role::Client, Config::default());
        end.recv(Frame::Settings(Settings::new([first])));
        end.recv(Frame::Settings(Settings::new([first])));
        assert!(end.conn.wants_read());
        end.recv(Frame::Settings(Settings::new([second])));
        assert!(!end.conn.wants_read(), "{second:?}");
    }
}

#[test]
fn the_stream_limit_of_the_peer_is_known_with_its_first_settings() {
    let config = Config {
        initial_max_send_streams: 100,
        ..Config::default()
    };
    let mut end = End::new(Role::Client, config);
    assert_eq!(end.conn.max_send_streams(), 100);
    end.recv(Frame::Settings(Settings::new([])));
    assert_eq!(end.conn.max_send_streams(), usize::MAX);
    assert!(matches!(
        end.events[..],
        [Event::PeerSettings {
            max_concurrent_streams: usize::MAX,
            extended_connect: false,
            ..
        }]
    ));
}

//= test RFC 9113 §6.5.3
#[test]
fn settings_that_are_never_acknowledged_end_the_connection() {
    let mut end = End::new(Role::Server, Config::hardened());
    end.recv(Frame::Settings(Settings::new([])));
    end.sent();
    let deadline = end.conn.deadline().expect("there is one");
    end.conn.handle_timeout(deadline);
    let sent = end.sent();
    assert!(
        matches!(&sent[..], [Frame::GoAway(frame)] if frame.reason == Reason::SETTINGS_TIMEOUT)
    );
}

#[test]
fn a_smaller_table_of_the_peer_is_obeyed() {
    let mut script = Script::new(Role::Client, Config::default());
    script.settings([Setting::HeaderTableSize(0)]);
    script.end.get("/");
    let sent = script.sent();
    let Some(Frame::Headers(frame)) = sent.last() else {
        panic!("{sent:?}")
    };
    assert_eq!(
        frame.fragment[0], 0x20,
        "the block begins with a size update to 0"
    );
}

#[test]
fn a_stream_error_of_one_frame_type_is_named() {
    let mut script = server();
    script.post(1);
    script.malformed(crate::frame::Malformed::WrongLength {
        kind: crate::frame::Kind::PRIORITY,
        stream_id: super::script::id(1),
        length: 4,
    });
    let error = script.accepted[0].error().unwrap();
    assert_eq!(error.as_violation(), Some(&Violation::PriorityLength));
    script.expect_reset(1, Reason::FRAME_SIZE_ERROR);
}
