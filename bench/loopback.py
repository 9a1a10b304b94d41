"""What it costs to move values between two processes of this machine."""

import os
import socket
import time

# Enough for a mean that hardly moves, and a fraction of a second.
ROUNDS = 400


def transfer_cpu_us(count):
    """CPU time of both ends, in µs, to move `count` float32 values over loopback TCP once."""
    buffer = bytearray(count * 4)
    listener = socket.create_server(("127.0.0.1", 0))
    near = socket.create_connection(listener.getsockname())
    far, _ = listener.accept()
    child = os.fork()
    if child == 0:
        view = memoryview(buffer)
        for _ in range(ROUNDS):
            got = 0
            while got < len(buffer):
                got += far.recv_into(view[got:])
        os._exit(0)
    before = os.times()
    for _ in range(ROUNDS):
        near.sendall(buffer)
    os.waitpid(child, 0)
    after = os.times()
    for end in (near, far, listener):
        end.close()
    # The child's times count once it was waited for.
    return sum(after[i] - before[i] for i in range(4)) / ROUNDS * 1e6


def copy_cpu_us(count):
    """CPU time, in µs, to copy `count` float32 values into memory and out again."""
    near, between, far = (bytearray(count * 4) for _ in range(3))
    views = [memoryview(part) for part in (near, between, far)]
    began = time.process_time()
    for _ in range(ROUNDS):
        views[1][:] = views[0]
        views[2][:] = views[1]
    return (time.process_time() - began) / ROUNDS * 1e6
