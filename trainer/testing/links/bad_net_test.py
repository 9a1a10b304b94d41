#!/usr/bin/python3
"""What bad_net.py promises: a silent cut, losses, a rate, a delay; and that nothing is left."""

import os
import socket
import threading
import time
import unittest

from bad_net import BadNet, missing, run

RELAY = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                     os.environ.get("TEST_WORKSPACE", ""), "trainer/testing/links/delay_relay")
PATIENCE_S = 30
PORT = 7000


def connection(net, caller, called):
    """Both ends of one, each in its namespace."""
    with net.ends[called].inside():
        server = socket.create_server((net.ends[called].host, PORT))
    with net.ends[caller].inside():
        near = socket.create_connection((net.ends[called].host, PORT), timeout=PATIENCE_S)
    far, _ = server.accept()
    server.close()
    far.settimeout(PATIENCE_S)
    near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    far.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return near, far


def seconds_to_move(near, far, size):
    began = time.monotonic()
    sender = threading.Thread(target=near.sendall, args=(bytes(size),))
    sender.start()
    came = 0
    while came < size:
        came += len(far.recv(1 << 20))
    sender.join()
    return time.monotonic() - began


class BadNetTest(unittest.TestCase):

    def setUp(self):
        if lacks := missing():
            self.skipTest(lacks)

    def test_who_is_cut_off_is_not_told_and_hears_all_of_it_afterwards(self):
        with BadNet(3) as net:
            near, far = connection(net, 0, 1)
            other, beside = connection(net, 0, 2)
            net.cut([1], [0, 2])
            near.sendall(b"lost")
            far.sendall(b"too")
            other.sendall(b"heard")
            self.assertEqual(beside.recv(100), b"heard")
            far.setblocking(False)
            near.setblocking(False)
            self.assertRaises(BlockingIOError, far.recv, 100)
            self.assertRaises(BlockingIOError, near.recv, 100)
            net.heal()
            far.settimeout(PATIENCE_S)
            near.settimeout(PATIENCE_S)
            self.assertEqual(far.recv(100), b"lost")
            self.assertEqual(near.recv(100), b"too")
            for it in (near, far, other, beside):
                it.close()

    def test_some_packets_are_lost_and_no_byte_of_a_connection_is(self):
        with BadNet(2) as net:
            near, far = connection(net, 0, 1)
            net.ends[1].lose(percent=5)
            # What is sent at once may be one packet: 50 of them are all spared in one run of
            # thirteen, 500 in none.
            for _ in range(500):
                seconds_to_move(near, far, 10_000)
                if net.ends[1].lost():
                    break
            else:
                self.fail("none of 500 packets was lost")
            near.close()
            far.close()

    def test_a_rate_bounds_what_is_sent(self):
        with BadNet(2) as net:
            net.ends[0].limit("40mbit")
            near, far = connection(net, 0, 1)
            size = 1_000_000
            # A machine that is busy takes longer, and none is quicker; but for the burst.
            self.assertGreater(seconds_to_move(near, far, size), (size - 20_000) * 8 / 40e6)
            self.assertGreater(net.ends[0].held_back(), 0)
            near.close()
            far.close()

    def test_the_relay_delays_every_packet_both_ways_and_says_by_how_much_it_missed(self):
        with BadNet(2, relay=RELAY, delay_us=5_000) as net:
            near, far = connection(net, 0, 1)
            rounds = 10
            began = time.monotonic()
            for _ in range(rounds):
                near.sendall(b"1")
                far.sendall(far.recv(1))
                near.recv(1)
            self.assertGreater(time.monotonic() - began, rounds * 0.010)
            near.close()
            far.close()
        self.assertGreaterEqual(net.report["packets"], 2 * rounds)
        self.assertEqual(net.report["dropped"], 0)
        self.assertGreaterEqual(net.report["late_us"]["p50"], 0)

    def test_the_relay_has_wires_of_a_rate(self):
        with BadNet(2, relay=RELAY, bytes_per_second=5_000_000) as net:
            near, far = connection(net, 0, 1)
            self.assertGreater(seconds_to_move(near, far, 1_000_000), 0.2)
            near.close()
            far.close()

    def test_nothing_is_left_in_this_namespace_nor_open(self):
        links, files = run("ip", "link"), set(os.listdir("/proc/self/fd"))
        with BadNet(2):
            pass
        with BadNet(2, relay=RELAY):
            pass
        self.assertEqual((run("ip", "link"), set(os.listdir("/proc/self/fd"))), (links, files))


if __name__ == "__main__":
    unittest.main(verbosity=2)
