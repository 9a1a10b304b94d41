#!/usr/bin/python3
"""Jobs that train by all-reduce over bad links: each rank is in a network namespace of its own, and
what is between them is cut, loses packets, is slow or far (trainer/testing/links/bad_net.py).

What a job learns is compared bit for bit with one over good links: a sum that a link has changed
would show there.
"""

import os
import sys
import time
import unittest

from processes import ENDLESS, RUNFILES, Job, wait_until
from ring_jobs import RING, Elastic, await_epoch, epochs, evaluation, expect_every_batch_once

LINKS = "trainer/testing/links"
sys.path[:0] = [os.path.join(RUNFILES, LINKS),
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..", LINKS)]
from bad_net import BadNet, missing  # noqa: E402  pylint: disable=wrong-import-position

RELAY = os.path.join(RUNFILES, LINKS, "delay_relay")
STEPS = 150
HEARTBEAT_S = 2
# A step of three ranks with this model: 4 messages one after the other around the ring for the
# gradients of 19,240 bytes, of which a rank sends 4/3, and one for the losses.
MESSAGES, SENT_BYTES = 5, 25_653
DELAY_S = 0.005
BITS = 10_000_000
# Of a rank that has left by itself, and not since TCP has given up after 10 s.
LEFT = 'a step was not made: the epoch is over step=[0-9]+ why="all-reduce: aborted"'
# Steps that the one side makes while the other makes none.
AHEAD = 200


class Apart:
    """A job whose ranks are in namespaces: the chief in the first."""

    def __init__(self, net, **more):
        self.net = net
        super().__init__(chief=True, ps=0, **more)
        for role, addresses in self.cluster.items():
            self.cluster[role] = [
                f"{self.end(role, index).host}:{address.rpartition(':')[2]}"
                for index, address in enumerate(addresses)]

    def end(self, role, index):
        return self.net.ends[0 if role == "chief" else 1 + index]

    def start_replica(self, role, index=0, **more):
        with self.end(role, index).inside():
            return super().start_replica(role, index, **more)

    def status(self, name):
        role, index = name.split("-")
        with self.end(role, int(index)).inside():
            return self.processes[name].get("/status") or {"message": "", "step": 0}


class ApartJob(Apart, Job):

    def __init__(self, net, **config):
        super().__init__(net, workers=2, maxSteps=STEPS,
                         strategy={**RING, "heartbeatSeconds": HEARTBEAT_S}, **config)


class ApartElastic(Apart, Elastic):

    def __init__(self, net):
        super().__init__(net, workers=3, maxSteps=ENDLESS,
                         strategy={**RING, "heartbeatSeconds": HEARTBEAT_S})


class RingLinksTest(unittest.TestCase):

    learned = None

    def setUp(self):
        if lacks := missing():
            self.skipTest(lacks)
        if RingLinksTest.learned is None:
            with BadNet(3) as net:
                RingLinksTest.learned = self.trained(net)

    # Of a rank that answers: one that a busy machine keeps from it is asked again.
    @staticmethod
    def step_of(job, name):
        return wait_until(f"{name} to answer", lambda: job.status(name)["step"])

    def trained(self, net):
        with ApartJob(net) as job:
            job.start_all()
            job.expect_all_done(self)
            return evaluation(job)

    def expect_the_same_learned(self, net):
        began = time.monotonic()
        self.assertEqual(self.trained(net), self.learned)
        return time.monotonic() - began

    # An elastic job of four ranks is cut in two, and each half still sees its other rank.
    def test_of_two_sides_of_a_silent_cut_only_that_of_the_chief_goes_on(self):
        with BadNet(4) as net, ApartElastic(net) as job:
            job.start_all()
            chief = job.processes["chief-0"]
            chief.says("\nstep 100,")
            before = len(epochs(job))
            net.cut([0, 1], [2, 3])
            cut = time.monotonic()
            without = await_epoch(job, 2, after=before)
            print(f"two of four ranks go on {time.monotonic() - cut:.2f} s after the cut")
            self.assertIn(f"rank silent for more than {HEARTBEAT_S} s", chief.log())
            far = ("worker-1", "worker-2")
            for name in far:
                # Of the silence, or since the other has left for that.
                job.processes[name].says("a step was not made")
                wait_until(f"{name} to say for whom it waits", lambda name=name:
                           "waiting for chief-0 at" in job.status(name)["message"])
            self.assertRegex("".join(job.processes[name].log() for name in far), LEFT)
            stand = {name: self.step_of(job, name) for name in far}
            goal = max(stand.values()) + AHEAD
            wait_until("steps of the chief's side", lambda: job.status("chief-0")["step"] > goal)
            self.assertEqual({name: self.step_of(job, name) for name in far}, stand)
            net.heal()
            healed = time.monotonic()
            await_epoch(job, 4, after=without)
            print(f"all four go on {time.monotonic() - healed:.2f} s after it has healed")
            wait_until("steps of all", lambda: job.status("worker-2")["step"] > goal)
            expect_every_batch_once(self, job)

    def test_where_all_are_needed_a_cut_costs_time_and_changes_nothing(self):
        with BadNet(3) as net, ApartJob(net) as job:
            # So slow that the job does not end before the cut.
            for end in net.ends:
                end.limit(str(BITS))
            job.start_all()
            chief, worker = job.processes["chief-0"], job.processes["worker-1"]
            chief.says("\nstep 10,")
            net.cut([0, 1], [2])
            chief.says(f"rank silent for more than {HEARTBEAT_S} s")
            worker.says("the chief is silent: leaving the epoch")
            worker.says("a step was not made")
            self.assertRegex(worker.log(), LEFT)
            wait_until("the chief to say for whom it waits",
                       lambda: "waiting for worker-1 at" in job.status("chief-0")["message"])
            net.heal()
            job.expect_all_done(self)
            self.assertEqual(evaluation(job), self.learned)

    def test_packets_that_are_lost_change_no_bit(self):
        with BadNet(3) as net:
            for end in net.ends:
                end.lose(percent=2)
            self.expect_the_same_learned(net)
            lost = [end.lost() for end in net.ends]
            print(f"lost: {lost} packets")
            self.assertGreater(min(lost), 0)

    def test_slow_links_make_steps_slow_and_change_no_bit(self):
        with BadNet(3) as net:
            for end in net.ends:
                end.limit(str(BITS))
            # It cannot be quicker than the link is.
            self.assertGreater(self.expect_the_same_learned(net), STEPS * SENT_BYTES * 8 / BITS)
            self.assertGreater(min(end.held_back() for end in net.ends), 0)

    def test_far_ranks_wait_for_each_message_and_change_no_bit(self):
        with BadNet(3, relay=RELAY, delay_us=round(DELAY_S * 1e6)) as net:
            self.assertGreater(self.expect_the_same_learned(net), STEPS * MESSAGES * DELAY_S)
        print(f"the relay: {net.report}")
        self.assertEqual(net.report["dropped"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
