# SPDX-License-Identifier: Apache-2.0
"""A server of the family `io` that behaves, or misbehaves. Usage: `fake_server.py BEHAVIOUR
WORKLOAD SIZE THREADS`. It echoes messages, or answers requests of HTTP where HTTP names the
behaviour. It has one connection at a time, or many where CROWDS
names the behaviour.
"""

import os
import select
import selectors
import signal
import socket
import sys
import threading

MESSAGE = 64
HEAD = b"HTTP/1.1 200 OK\r\nDate: today\r\ncontent-length:6\r\n\r\n"
HTTP = {  # behaviour -> reply
    "http": HEAD + b"hello\n",
    "http_in_pieces": HEAD + b"hello\n",
    "http_wrong_body": HEAD + b"hallo\n",
    "http_too_long": HEAD + b"hello\n\n",
    "http_not_found": HEAD.replace(b"200 OK", b"404 No") + b"hello\n",
    "http_no_length": b"HTTP/1.1 200 OK\r\nX-content-length: 6\r\n\r\nhello\n",
}
CROWDS = {"many", "restless", "hoarder", "forgetful", *HTTP}


def reply(behaviour, number, request):
    """The bytes that answer the request of that number, from 1 on."""
    if behaviour == "wrong_byte" and number == 5:
        return request[:-1] + bytes([request[-1] ^ 1])
    if behaviour == "reply_of_another" and number == 5:
        return bytes(MESSAGE)
    return request


def send(behaviour, peer, data):
    if behaviour not in ("in_pieces", "http_in_pieces"):
        peer.sendall(data)
        return
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for piece in (data[:1], data[1:40], data[40:]):
        peer.sendall(piece)


def serve(behaviour, peer):
    number = 0
    while data := peer.recv(MESSAGE, socket.MSG_WAITALL):
        number += 1
        if behaviour == "one_each" and number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        if behaviour == "close" and number == 5:
            peer.close()
            return
        if behaviour == "crash" and number == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        if behaviour == "silent" and number == 5:
            threading.Event().wait()
        send(behaviour, peer, reply(behaviour, number, data))


def serve_many(behaviour, door):
    """Serves all connections until the standard input ends."""
    replies, hoard, open_ones = 0, [], []
    with selectors.DefaultSelector() as ready:
        for source in (door, sys.stdin):
            ready.register(source, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select(0.02 if behaviour == "restless" else None):
                peer = key.fileobj
                if peer is sys.stdin:
                    return
                if peer is door:
                    open_ones.append(door.accept()[0])
                    ready.register(open_ones[-1], selectors.EVENT_READ)
                elif behaviour in HTTP and (data := peer.recv(65536)):
                    send(behaviour, peer, HTTP[behaviour] * max(1, data.count(b"\r\n\r\n")))
                elif behaviour not in HTTP and (data := peer.recv(MESSAGE, socket.MSG_WAITALL)):
                    peer.sendall(data)
                    replies += 1
                    if behaviour == "hoarder":
                        hoard.append(os.urandom(200_000))
                    if behaviour == "forgetful" and replies == 110:
                        ready.unregister(open_ones[105])
                        open_ones[105].close()
                else:
                    ready.unregister(peer)
                    peer.close()


def main(behaviour):
    if behaviour == "no_port":
        sys.exit(3)
    if behaviour == "chatty":
        print("hello", flush=True)
        threading.Event().wait()
    door = socket.create_server(("127.0.0.1", 0))
    print("port", door.getsockname()[1], flush=True)
    while behaviour not in CROWDS:
        ready, _, _ = select.select([door, sys.stdin], [], [])
        if sys.stdin in ready:
            break
        with door.accept()[0] as peer:
            serve(behaviour, peer)
    if behaviour in CROWDS:
        serve_many(behaviour, door)
    if behaviour == "bad_end":
        sys.exit(7)


main(sys.argv[1])
