#!/usr/bin/env python3
"""The gRPC peer that is not Rust: the service of src/grpc.rs on grpcio, and checks of such a service.

    grpc_peer.py serve            prints NAME=ADDRESS and "ready", ends with its input
    grpc_peer.py check ADDRESS    exits with 1 if a check fails
"""

import sys
import threading
import time
from concurrent import futures

import grpc

LARGE = 64 << 20
OPTIONS = [("grpc.max_receive_message_length", 2 * LARGE), ("grpc.max_send_message_length", 2 * LARGE)]
SERVICE = "/interop.Echo/"
CODES = {code.value[0]: code for code in grpc.StatusCode}


def pattern(start, length):
    return bytes(at % 251 for at in range(start, start + length))


# The service.


class Echo(grpc.GenericRpcHandler):
    def __init__(self):
        self.active = 0
        self.lock = threading.Lock()

    def service(self, details):
        methods = {
            "Unary": grpc.unary_unary_rpc_method_handler(self.unary),
            "ServerStream": grpc.unary_stream_rpc_method_handler(self.server_stream),
            "ClientStream": grpc.stream_unary_rpc_method_handler(self.client_stream),
            "Both": grpc.stream_stream_rpc_method_handler(self.both),
            "Active": grpc.unary_unary_rpc_method_handler(lambda _, __: str(self.active).encode()),
        }
        return methods.get(details.method.removeprefix(SERVICE))

    def begin(self, context):
        with self.lock:
            self.active += 1
        if not context.add_callback(self.end):
            self.end()

    def end(self):
        with self.lock:
            self.active -= 1

    @staticmethod
    def metadata(context):
        return [(key, value) for key, value in context.invocation_metadata()]

    def echoed(self, context):
        return [(key, value) for key, value in self.metadata(context) if key.startswith("x-")]

    def number(self, context, name):
        value = dict(self.metadata(context)).get(name)
        return None if value is None else int(value)

    def fail(self, context):
        context.set_trailing_metadata(
            self.echoed(context) + [("grpc-status-details-bin", b"\x00details\xff")]
        )
        context.abort(CODES[self.number(context, "fail")], "as asked: ü%")

    def unary(self, request, context):
        self.begin(context)
        until = time.monotonic() + (self.number(context, "sleep-ms") or 0) / 1000
        while time.monotonic() < until and context.is_active():
            time.sleep(0.005)
        if self.number(context, "fail") is not None:
            self.fail(context)
        context.send_initial_metadata(self.echoed(context))
        size = self.number(context, "size")
        return request if size is None else pattern(0, size)

    def server_stream(self, request, context):
        self.begin(context)
        fails, fail_after = self.number(context, "fail"), self.number(context, "fail-after")
        for at in range(self.number(context, "count") or (1 << 60 if fails else 0)):
            if fails is not None and at == (fail_after or 0):
                self.fail(context)
            if not context.is_active():
                return
            yield request

    def client_stream(self, requests, context):
        self.begin(context)
        count = length = 0
        for request in requests:
            count, length = count + 1, length + len(request)
        return f"{count} {length}".encode()

    def both(self, requests, context):
        self.begin(context)
        yield from requests


def serve():
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=64), options=OPTIONS + [
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", 10),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 10),
        ("grpc.http2.max_ping_strikes", 0),
    ])
    server.add_generic_rpc_handlers((Echo(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(f"plain=127.0.0.1:{port}\nready", flush=True)
    sys.stdin.read()
    server.stop(0)


# The checks.


def expect(what, got, wanted):
    if got != wanted:
        raise AssertionError(f"{what}: got {str(got)[:200]}, wanted {str(wanted)[:200]}")


class Client:
    def __init__(self, channel):
        self.unary = channel.unary_unary(SERVICE + "Unary")
        self.server_stream = channel.unary_stream(SERVICE + "ServerStream")
        self.client_stream = channel.stream_unary(SERVICE + "ClientStream")
        self.both = channel.stream_stream(SERVICE + "Both")
        self.active = channel.unary_unary(SERVICE + "Active")
        self.none = channel.unary_unary(SERVICE + "None")

    def nobody_left(self):
        for _ in range(500):
            if self.active(b"") == b"0":
                return
            time.sleep(0.01)
        raise AssertionError("calls left at the server")

    def check_unary(self):
        for size in (0, 1, 16_379, 16_384, 300_000):
            expect("message", self.unary(pattern(0, size)), pattern(0, size))

    def check_many_at_once(self):
        calls = [self.unary.future(pattern(at, at * 10)) for at in range(300)]
        for at, call in enumerate(calls):
            expect("message", call.result(), pattern(at, at * 10))

    def check_server_streaming(self):
        for count, size in ((0, 10), (1, 0), (1000, 100), (50, 100_000)):
            message = pattern(0, size)
            got = list(self.server_stream(message, metadata=[("count", str(count))]))
            expect("messages", got, [message] * count)

    def check_client_streaming(self):
        for count, size in ((0, 10), (1, 0), (1000, 100), (50, 100_000)):
            message = pattern(0, size)
            got = self.client_stream(iter([message] * count))
            expect("sum", got, f"{count} {count * size}".encode())

    def check_streaming_both_ways(self):
        messages = [pattern(0, at * 30) for at in range(500)]
        expect("messages", list(self.both(iter(messages))), messages)

    def check_64_mb(self):
        message = bytes(LARGE)
        expect("length", len(self.unary(message, timeout=50)), LARGE)

    def check_metadata(self):
        sent = [("x-a", "1"), ("x-a", "2"), ("x-long", "v" * 6000), ("x-octets-bin", b"\x00\x01\xff")]
        _, call = self.unary.with_call(b"", metadata=sent)
        got = sorted((key, value) for key, value in call.initial_metadata() if key.startswith("x-"))
        expect("metadata", got, sorted(sent))

    def check_errors(self):
        for code in range(1, 17):
            call = self.unary.future(b"", metadata=[("fail", str(code)), ("x-a", "1")])
            expect("code", call.code().value[0], code)
            expect("message", call.details(), "as asked: ü%")
            trailers = dict(call.trailing_metadata())
            expect("x-a", trailers.get("x-a"), "1")
            expect("details", trailers.get("grpc-status-details-bin"), b"\x00details\xff")
        call = self.server_stream(pattern(0, 9000), metadata=[("fail", "8"), ("fail-after", "7")])
        got = 0
        try:
            for _ in call:
                got += 1
        except grpc.RpcError as error:
            expect("code", error.code().value[0], 8)
        expect("messages", got, 7)
        expect("code", self.none.future(b"").code(), grpc.StatusCode.UNIMPLEMENTED)

    def check_deadlines(self):
        call = self.unary.future(b"", metadata=[("sleep-ms", "20000")], timeout=0.1)
        # The server has the same deadline. If its clock is the first, tonic says CANCELLED.
        codes = (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)
        expect("given up", call.code() in codes, True)
        self.nobody_left()

    def check_cancellation(self):
        for at in range(40):
            call = self.server_stream(pattern(0, 20_000), metadata=[("count", "1000000")])
            for _ in range(at):
                next(call)
            call.cancel()
            self.unary.future(b"", metadata=[("sleep-ms", "60000")]).cancel()
            held = threading.Event()
            call = self.client_stream.future(message for message in iter(lambda: held.wait(0.001) or b"m", True))
            time.sleep(0.002 * (at % 3))
            call.cancel()
            held.set()
        self.nobody_left()

    def check_keep_alive(self):
        for _ in range(4):
            time.sleep(0.2)
            expect("message", self.unary(b"x"), b"x")


def check(address):
    options = OPTIONS + [("grpc.keepalive_time_ms", 100), ("grpc.keepalive_permit_without_calls", 1)]
    failed = passed = 0
    with grpc.insecure_channel(address, options) as channel:
        client = Client(channel)
        for name in [name for name in dir(client) if name.startswith("check_")]:
            label = name.removeprefix("check_").replace("_", " ")
            try:
                getattr(client, name)()
                passed += 1
                print(f"  ok: {label}")
            except Exception as error:
                failed += 1
                print(f"  FAILED: {label}: {error}")
    print(f"  {passed} passed, {failed} failed")
    sys.exit(failed > 0)


if sys.argv[1] == "serve":
    serve()
else:
    check(sys.argv[2])
