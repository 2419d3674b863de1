#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples against clients that check every byte.

    check_examples.py FOLDER    the folder of the programs
"""

import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

TIME = 30  # Seconds for one answer, on a busy machine.


class Server:
    """A running example; ends it with SIGTERM and checks its end."""

    def __init__(self, program, *arguments):
        command = [program, *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("listening on port "), line
        self.port = int(line.split()[-1])

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        self.process.send_signal(signal.SIGKILL if kind else signal.SIGTERM)
        output, _ = self.process.communicate(timeout=TIME)
        if not kind:
            assert output == "ended\n", output
            assert self.process.returncode == 0, self.process.returncode


class Client:
    def __init__(self, server):
        self.socket = socket.create_connection(("localhost", server.port), timeout=TIME)

    def send(self, data):
        self.socket.sendall(data)

    def expect(self, wanted):
        """Reads as many bytes as are wanted, and compares them."""
        got = b""
        while len(got) < len(wanted):
            some = self.socket.recv(len(wanted) - len(got))
            assert some, f"the stream has ended after {got!r}, not {wanted!r}"
            got += some
        assert got == wanted, f"got {got!r}, not {wanted!r}"

    def ask(self, data, wanted):
        self.send(data)
        self.expect(wanted)

    def expect_end(self):
        assert self.socket.recv(1) == b"", "the stream has not ended"


def request(*words):
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        word = word if isinstance(word, bytes) else str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
    return b"".join(parts)


def check_resp_cache(folder):
    with Server(folder / "resp_cache") as server:
        one = Client(server)
        one.ask(b"PING\r\n", b"+PONG\r\n")
        one.ask(b"  ping   hello \r\n", b"$5\r\nhello\r\n")
        one.ask(request("GET", "a"), b"$-1\r\n")
        value = bytes(range(256)) * 3  # Also \r and \n.
        one.ask(request("SET", "a", value), b"+OK\r\n")
        one.ask(request("get", "a"), b"$768\r\n" + value + b"\r\n")
        one.ask(request("SET", "empty", ""), b"+OK\r\n")
        one.ask(request("GET", "empty"), b"$0\r\n\r\n")
        one.ask(request("EXISTS", "a", "empty", "none", "a"), b":3\r\n")
        one.ask(request("DEL", "a", "none"), b":1\r\n")
        one.ask(request("EXISTS", "a"), b":0\r\n")
        one.ask(request("INCR", "n") * 3, b":1\r\n:2\r\n:3\r\n")
        one.ask(request("SET", "n", "x") + request("INCR", "n"), b"+OK\r\n-ERR value is not an "
                b"integer or out of range\r\n")
        one.ask(request("TTL", "n") + request("TTL", "none"), b":-1\r\n:-2\r\n")
        one.ask(request("EXPIRE", "n", 1000), b":1\r\n")
        one.ask(request("EXPIRE", "none", 1000), b":0\r\n")
        one.ask(request("TTL", "n"), b":1000\r\n")
        one.ask(request("EXPIRE", "n", 0) + request("GET", "n"), b":1\r\n$-1\r\n")
        one.ask(request("SET", "e", "v", "EX", 1000) + request("TTL", "e"), b"+OK\r\n:1000\r\n")
        one.ask(request("SET", "e", "v", "EX", 0), b"-ERR value is not an integer or out of "
                b"range\r\n")
        one.ask(request("NOPE"), b"-ERR unknown command 'NOPE', or a wrong number of arguments\r\n")
        # Requests in one packet, and one request in pieces.
        one.ask(b"".join(request("SET", f"k{i}", i) for i in range(1000)), b"+OK\r\n" * 1000)
        one.ask(
            b"".join(request("GET", f"k{i}") for i in range(1000)),
            b"".join(b"$%d\r\n%d\r\n" % (len(str(i)), i) for i in range(1000)),
        )
        for byte in request("GET", "k7"):
            one.send(bytes([byte]))
        one.expect(b"$1\r\n7\r\n")
        large = b"x" * (1 << 20)
        one.ask(request("SET", "large", large), b"+OK\r\n")
        one.ask(request("GET", "large"), b"$1048576\r\n" + large + b"\r\n")
        # Several clients add to one number.
        clients = [Client(server) for _ in range(20)]
        for each in clients:
            each.send(request("INCR", "sum") * 50)
        lines = set()
        for each in clients:
            got = b""
            while got.count(b"\n") < 50:
                got += each.socket.recv(4096)
            lines.update(got.split())
        assert lines == {b":%d" % i for i in range(1, 1001)}, "an INCR was lost"
        # Requests that are refused end their connection.
        for wrong, text in (
            (b"*1\r\n$2000000\r\n", b"invalid bulk length"),
            (b"*5000\r\n", b"invalid multibulk length"),
            (b"*1\r\n!\r\n", b"expected '$'"),
            (b"*1\r\n$1\r\nabc\r\n", b"a bulk has no end"),
            (b"x" * (3 << 20), b"the request is too large"),
        ):
            bad = Client(server)
            try:
                bad.send(wrong)
            except ConnectionError:
                continue  # The server has closed already.
            try:
                bad.expect(b"-ERR Protocol error: " + text + b"\r\n")
            except ConnectionResetError:  # Bytes that were not read reset the connection.
                assert len(wrong) > 1000
        one.ask(b"QUIT\r\n", b"+OK\r\n")
        one.expect_end()


def check_chat_server(folder):
    with Server(folder / "chat_server") as server:
        ann = Client(server)
        ann.ask(b"ann\n", b"* welcome, ann\n")
        bob = Client(server)
        bob.ask(b"bob\r\n", b"* welcome, bob\n")
        ann.expect(b"* bob has joined\n")
        other = Client(server)
        other.ask(b"bob\n", b"* the name is taken\n")
        other.expect_end()
        ann.send(b"hello\n")
        bob.expect(b"ann: hello\n")
        bob.send(b"hi ann\r\nhow are you?\n")
        ann.expect(b"bob: hi ann\nbob: how are you?\n")
        bob.ask(b"/who\n", b"* ann bob\n")
        many = b"".join(b"line %d\n" % i for i in range(500))
        ann.send(many)
        bob.expect(b"".join(b"ann: line %d\n" % i for i in range(500)))
        members = []
        for i in range(20):
            one = Client(server)
            one.ask(b"m%d\n" % i, b"* welcome, m%d\n" % i)
            ann.expect(b"* m%d has joined\n" % i)
            bob.expect(b"* m%d has joined\n" % i)
            for earlier in members:
                earlier.expect(b"* m%d has joined\n" % i)
            members.append(one)
        bob.send(b"to all\n")
        for one in [ann, *members]:
            one.expect(b"bob: to all\n")
        bob.send(b"/quit\n")
        bob.expect_end()
        for one in [ann, *members]:
            one.expect(b"* bob has left\n")
        members[0].send(b"x" * 5000 + b"\n")  # Too long: the connection ends.
        for one in [ann, *members[1:]]:
            one.expect(b"* m0 has left\n")


def page(status, body, *headers, kind="text/plain", head=False):
    """The bytes of a response."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, *headers, "", ""]).encode() + (b"" if head else body)


def check_http_server(folder):
    hello = page("200 OK", b"hello\n")
    missing = page("404 Not Found", b"there is no such file\n")
    large = bytes(range(256)) * 12000
    with tempfile.TemporaryDirectory() as files:
        pathlib.Path(files, "index.html").write_bytes(b"<p>index</p>\n")
        pathlib.Path(files, "large.bin").write_bytes(large)
        pathlib.Path(files, "empty.txt").write_bytes(b"")
        pathlib.Path(files, "folder").mkdir()
        index = page("200 OK", b"<p>index</p>\n", kind="text/html")
        binary = page("200 OK", large, kind="application/octet-stream")
        with Server(folder / "http_server", "0", files) as server:
            get = "GET {} HTTP/1.1\r\nHost: a\r\n\r\n"

            def got(target):
                return get.format(target).encode()

            one = Client(server)
            for _ in range(3):  # Keep-alive.
                one.ask(got("/hello"), hello)
            one.ask(b"HEAD /hello HTTP/1.1\r\n\r\n", page("200 OK", b"hello\n", head=True))
            one.ask(got("/"), index)
            one.ask(got("/index.html?a=b"), index)
            one.ask(got("/empty.txt"), page("200 OK", b""))
            one.ask(got("/large.bin"), binary)
            for wrong in ("/none", "/folder", "/../secret", "/%2e%2e/secret", "*"):
                one.ask(got(wrong), missing)
            refused = b"this server reads files and echoes\n"
            allow = "Allow: GET, HEAD, POST"
            one.ask(
                b"DELETE / HTTP/1.1\r\n\r\n", page("405 Method Not Allowed", refused, allow)
            )
            # Pipelining: many requests at once, a file among them, and one in pieces.
            many = got("/hello") * 500 + got("/large.bin") + got("/")
            one.ask(many, hello * 500 + binary + index)
            for byte in got("/hello"):
                one.send(bytes([byte]))
            one.expect(hello)
            # Bodies: of a known length, in chunks, with a question before.
            echo = b"POST /echo HTTP/1.1\r\n"
            body = b"a body\r\n\0"
            one.ask(echo + b"Content-Length: 9\r\n\r\n" + body, page("200 OK", body))
            chunks = b"Transfer-Encoding: chunked\r\n\r\n4\r\na bo\r\n5\r\ndy\r\n\0\r\n0\r\n\r\n"
            one.ask((echo + chunks) * 2, page("200 OK", body) * 2)
            one.ask(
                echo + b"Expect: 100-continue\r\nContent-Length: 9\r\n\r\n",
                b"HTTP/1.1 100 Continue\r\n\r\n",
            )
            one.ask(body, page("200 OK", body))
            most = b"x" * (1 << 20)
            one.ask(echo + b"Content-Length: 1048576\r\n\r\n" + most, page("200 OK", most))
            # The client decides about the end.
            one.ask(
                b"GET /hello HTTP/1.1\r\nConnection: close\r\n\r\n",
                page("200 OK", b"hello\n", "Connection: close"),
            )
            one.expect_end()
            old = Client(server)
            keeps = page("200 OK", b"hello\n", "Connection: keep-alive")
            old.ask(b"GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", keeps)
            closes = page("200 OK", b"hello\n", "Connection: close")
            old.ask(b"GET /hello HTTP/1.0\r\n\r\n", closes)
            old.expect_end()
            # Refused requests end their connection, after the answers to those before.
            for wrong, status, why in (
                (
                    echo + b"Content-Length: 1048577\r\n\r\n" + most + b"x",
                    "413 Content Too Large",
                    b"the body is too large\n",
                ),
                (
                    b"GET /hello HTTP/1.1\r\nA: " + b"x" * 20000 + b"\r\n\r\n",
                    "431 Request Header Fields Too Large",
                    b"the header is too large\n",
                ),
                (b"NONSENSE\r\n\r\n", "400 Bad Request", b"invalid HTTP method\n"),
            ):
                bad = Client(server)
                bad.ask(got("/hello") + wrong, hello + page(status, why, "Connection: close"))
                bad.socket.shutdown(socket.SHUT_WR)
                bad.expect_end()
            # Many connections that wait, each with a request now and then.
            clients = [Client(server) for _ in range(200)]
            for _ in range(3):
                for each in clients:
                    each.send(got("/hello"))
                for each in clients:
                    each.expect(hello)
            if shutil.which("curl"):
                check_by_curl(server.port, large)
            else:
                print("examples: curl is not installed, so its checks are left out")
            # The end: a request that has begun gets its answer, other connections are closed.
            begun = Client(server)
            begun.ask(
                echo + b"Expect: 100-continue\r\nContent-Length: 9\r\n\r\n",
                b"HTTP/1.1 100 Continue\r\n\r\n",
            )
            server.process.send_signal(signal.SIGTERM)
            for each in clients:
                each.expect_end()
            begun.ask(body, page("200 OK", body, "Connection: close"))
            begun.expect_end()


def check_by_curl(port, large):
    site = f"http://localhost:{port}"

    def curl(*words, data=None):
        command = ["curl", "--silent", "--show-error", "--fail", "--max-time", str(TIME), *words]
        return subprocess.run(command, input=data, capture_output=True, check=True).stdout

    assert curl(f"{site}/hello", f"{site}/hello") == b"hello\n" * 2
    assert curl(f"{site}/large.bin") == large
    assert curl("--limit-rate", "20M", f"{site}/large.bin") == large
    body = large[:1000000]
    assert curl("--data-binary", "@-", f"{site}/echo", data=body) == body
    chunked = ("-H", "Transfer-Encoding: chunked", "-H", "Expect: 100-continue")
    assert curl(*chunked, "--data-binary", "@-", f"{site}/echo", data=body) == body


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    check_resp_cache(folder)
    check_chat_server(folder)
    if (folder / "http_server").exists():
        check_http_server(folder)
    else:
        print("examples: http_server was not built (Debian: libhttp-parser-dev)")
    print("examples: every byte was right")


if __name__ == "__main__":
    main()
