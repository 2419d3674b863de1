# SPDX-License-Identifier: Apache-2.0
"""A server of the family `io` that behaves, or misbehaves. Usage: `fake_server.py BEHAVIOUR
WORKLOAD SIZE THREADS`. It has one connection at a time, and knows `io-echo-1` only.
"""

import os
import select
import signal
import socket
import sys
import threading

MESSAGE = 64


def reply(behaviour, number, request):
    """The bytes that answer the request of that number, from 1 on."""
    if behaviour == "wrong_byte" and number == 5:
        return request[:-1] + bytes([request[-1] ^ 1])
    if behaviour == "reply_of_another" and number == 5:
        return bytes(MESSAGE)
    return request


def send(behaviour, peer, data):
    if behaviour != "in_pieces":
        peer.sendall(data)
        return
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for piece in (data[:1], data[1:40], data[40:]):
        peer.sendall(piece)


def serve(behaviour, peer):
    number = 0
    while data := peer.recv(MESSAGE, socket.MSG_WAITALL):
        number += 1
        if behaviour == "close" and number == 5:
            peer.close()
            return
        if behaviour == "crash" and number == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        if behaviour == "silent" and number == 5:
            threading.Event().wait()
        send(behaviour, peer, reply(behaviour, number, data))


def main(behaviour):
    if behaviour == "no_port":
        sys.exit(3)
    if behaviour == "chatty":
        print("hello", flush=True)
        threading.Event().wait()
    door = socket.create_server(("127.0.0.1", 0))
    print("port", door.getsockname()[1], flush=True)
    while True:
        ready, _, _ = select.select([door, sys.stdin], [], [])
        if sys.stdin in ready:
            break
        with door.accept()[0] as peer:
            serve(behaviour, peer)
    if behaviour == "bad_end":
        sys.exit(7)


main(sys.argv[1])
