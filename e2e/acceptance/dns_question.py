"""One question to a name server, as pods ask it.

    addresses("10.213.0.2", "mnist-worker-0.mnist.default.svc.cluster.local")    ["10.244.0.7"]
"""

import socket
import struct

PORT = 53
# On this machine; a busy one.
LIMIT_S = 10
ADDRESS, INTERNET = 1, 1
# The answer is to this question; recursion is wanted.
NUMBER, FLAGS = 0x7461, 0x0100
POINTER = 0xC0


def question(name):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack(">6H", NUMBER, FLAGS, 1, 0, 0, 0) + labels + b"\0" + struct.pack(
        ">2H", ADDRESS, INTERNET)


def after_name(text, at):
    while text[at] != 0:
        if text[at] & POINTER == POINTER:
            return at + 2
        at += 1 + text[at]
    return at + 1


def addresses(server, name):
    """Those of the name, in order; none if there is no such name."""
    asked = question(name)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        channel.settimeout(LIMIT_S)
        channel.connect((server, PORT))
        channel.send(asked)
        text = channel.recv(4096)
    number, _, _, answers, _, _ = struct.unpack_from(">6H", text)
    if number != NUMBER:
        raise RuntimeError(f"ask {server} for {name}: the answer is to another question")
    found = []
    at = len(asked)
    for _ in range(answers):
        at = after_name(text, at)
        kind, _, _, size = struct.unpack_from(">2HIH", text, at)
        at += 10
        if kind == ADDRESS:
            found.append(socket.inet_ntoa(text[at:at + size]))
        at += size
    return sorted(found)
