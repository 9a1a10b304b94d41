#!/usr/bin/python3
"""How processes of a job start: the classic command lines, TF_CONFIG, and whom they wait for."""

import json
import os
import re
import socket
import subprocess
import time
import unittest

from processes import CONFIG, ENDLESS, TOGETHER, TRAINER, Job, free_ports

# The barrier names who is missing within this.
NAMED_WITHIN_S = 10


def classic(job, role, index):
    return [f"--ps_hosts={','.join(job.cluster['ps'])}",
            f"--worker_hosts={','.join(job.cluster['worker'])}",
            f"--job_name={role}", f"--task_index={index}"]


class ClassicStartTest(unittest.TestCase):

    def run_job(self, args_of, environment_of):
        with Job(ps=1, workers=2, strategy=TOGETHER) as job:
            for role, addresses in job.cluster.items():
                for index in range(len(addresses)):
                    job.start(f"{role}-{index}", args_of(job, role, index),
                              environment_of(job, role, index))
            job.expect_all_done(self)
            self.assertEqual(job.processes["worker-0"].end()["step"], CONFIG["maxSteps"])
            self.assertGreater(job.processes["worker-0"].end()["evaluation"]["accuracy"], 0.5)

    def test_flags_alone_start_a_ps_and_two_workers(self):
        self.run_job(lambda job, role, index:
                     ["--config", json.dumps(job.config), *classic(job, role, index)],
                     lambda *_: {})

    def test_environment_alone_starts_them_too(self):
        self.run_job(lambda job, *_: ["--config", json.dumps(job.config)],
                     lambda job, role, index: {
                         "PS_HOSTS": ",".join(job.cluster["ps"]),
                         "WORKER_HOSTS": ",".join(job.cluster["worker"]),
                         "JOB_NAME": role, "TASK_INDEX": str(index)})

    def test_flags_go_over_tf_config(self):
        self.run_job(lambda job, role, index:
                     ["--config", json.dumps(job.config), *classic(job, role, index)],
                     lambda *_: {"TF_CONFIG": "{not json"})

    def test_one_node_cluster_trains_alone_and_starts_no_server(self):
        with Job(ps=0, workers=1) as job:
            # Nobody else may have the port of a server; here somebody has, and it does not matter.
            port = free_ports(1)[0]
            job.cluster["worker"] = [f"127.0.0.1:{port}"]
            with socket.create_server(("127.0.0.1", port)):
                job.start_replica("worker")
                job.expect_all_done(self)

    # The flags of SyncReplicasOptimizer were taken, and nothing came of them.
    def test_one_process_says_that_sync_counts_for_nothing(self):
        with Job() as job:
            alone = job.start("alone", ["--config", json.dumps(CONFIG), "--sync_replicas",
                                        "--replicas_to_aggregate=2"], {})
            self.assertEqual(alone.wait(), 0, alone.log())
            self.assertIn("one process trains alone: sync_replicas", alone.log())

    def test_one_token_lets_all_train_who_have_it_and_keeps_others_outside(self):
        with Job(ps=1, workers=3, strategy=TOGETHER) as job:
            path = f"{job.directory}/token"
            with open(path, "w", encoding="ascii") as file:
                file.write("0123456789abcdef\n")
            token = {"TAAS_JOB_TOKEN": "0123456789abcdef"}
            job.start_replica("worker", 0, environment=token)
            stranger = job.start_replica("worker", 2, environment={"TAAS_JOB_TOKEN": "guessed"})
            stranger.says("does not have the token")
            job.start_replica("ps", environment=token)
            job.start_replica("worker", 1, args=[f"--job-token-file={path}"])
            for name in ("worker-1", "ps-0", "worker-0"):
                self.assertEqual(job.processes[name].wait(), 0, job.logs())
            self.assertIsNone(stranger.code())
            for secret in ("0123456789abcdef", "guessed"):
                self.assertNotIn(secret, job.logs())

    def test_mistakes_end_with_a_sentence(self):
        cases = {
            "TASK": (["--worker_hosts=127.0.0.1:1", "--job_name=worker", "--task_index=3"], {},
                     2, "task index 3 is out of range"),
            "NAME": (["--worker_hosts=127.0.0.1:1", "--job_name=boss"], {},
                     2, '--job_name: "boss" is none of ps, worker, chief'),
            "LOCAL": ([], {"TF_CONFIG": json.dumps({"cluster": {"worker": ["127.0.0.1:1"]},
                                                    "task": {"type": "local", "index": 0}})},
                      1, 'task.type must not be "local"'),
        }
        for name, (args, environment, code, sentence) in cases.items():
            with self.subTest(name), Job() as job:
                process = job.start("bad", ["--config", json.dumps(CONFIG), *args], environment)
                self.assertEqual(process.wait(), code, process.log())
                self.assertIn(sentence, process.log())

    # The parser's own numbers, 104 and 109, which no page named.
    def test_a_wrong_command_line_ends_with_2(self):
        for args in (["--no-such-flag"], ["--batch_size=many"], ["graph", "--format=png"],
                     ["inspect"], ["data", "draw"]):
            with self.subTest(args=args):
                done = subprocess.run([TRAINER, *args], check=False, env={}, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(done.returncode, 2, done.stdout)
        self.assertEqual(subprocess.run([TRAINER, "--help"], check=False, env={},
                                        stdout=subprocess.DEVNULL).returncode, 0)

    # 600 characters of the library's stood before the sentence.
    def test_a_chief_whose_port_is_taken_says_so_once_and_ends_with_138(self):
        with Job(chief=True) as job:
            host, port = job.cluster["chief"][0].split(":")
            with socket.create_server((host, int(port))):
                chief = job.start_replica("chief")
                self.assertEqual(chief.wait(), 138, chief.log())
            self.assertIn(f"listen on {host}:{port}: Address already in use",
                          chief.end()["message"])
            self.assertNotIn("chttp2", chief.log())
            self.assertLess(len(chief.log()), 400, chief.log())

    # It was noticed when the training was over, and then tried without end.
    def test_an_export_below_a_file_ends_the_start_with_1(self):
        with Job(strategy={"type": "Local"}) as job:
            blocked = os.path.join(job.directory, "file")
            with open(blocked, "w", encoding="utf-8"):
                pass
            job.config["export"] = {"format": "savedModel", "dir": f"{blocked}/model"}
            alone = job.start("alone", environment={"TAAS_TRAINER": json.dumps(job.config)})
            self.assertEqual(alone.wait(), 1, alone.log())
            self.assertIn("spec.trainer.export.dir: make directory", alone.end()["message"])
            self.assertNotIn("step ", alone.log())


class BarrierTest(unittest.TestCase):

    def expect_named(self, process, peer, address):
        process.says(f"waiting for {peer} at {address}")
        self.assertLess(time.monotonic() - process.started, NAMED_WITHIN_S)
        # Since when, and why.
        line = re.search(rf"waiting for {peer} at {address}.*", process.log()).group()
        self.assertRegex(line, r"\d+ s")
        self.assertRegex(line.lower(), r"refused|no answer|timed out")

    def test_chief_names_the_ps_that_is_missing(self):
        with Job(ps=2, workers=1) as job:
            job.start_replica("ps", 0)
            chief = job.start_replica("worker", 0)
            self.expect_named(chief, "ps-1", job.cluster["ps"][1])
            self.assertNotIn("ps-0 at", chief.log().split("waiting for", 1)[1].split("\n")[0])

    def test_worker_names_the_chief_that_is_missing(self):
        with Job(chief=True) as job:
            self.expect_named(job.start_replica("worker", 0), "chief-0", job.cluster["chief"][0])

    def test_ps_names_the_chief_that_is_missing(self):
        with Job(chief=True) as job:
            self.expect_named(job.start_replica("ps", 0), "chief-0", job.cluster["chief"][0])

    def test_worker_that_has_joined_names_the_ps_that_is_missing(self):
        with Job(ps=1, workers=2) as job:
            job.start_replica("worker", 0)
            worker = job.start_replica("worker", 1)
            self.expect_named(worker, "ps-0", job.cluster["ps"][0])
            self.assertEqual(worker.get("/status")["state"], "WaitingForPeers")

    def test_workers_do_not_wait_for_each_other(self):
        with Job(ps=1, workers=3, maxSteps=ENDLESS) as job:
            job.start_replica("ps", 0)
            job.start_replica("worker", 0)
            second = job.start_replica("worker", 1)
            # Both train; the third never comes.
            second.says("\nstep ")
            job.processes["worker-0"].says("\nstep ")

    # It read past the end of its own split of the model.
    def test_worker_that_lists_fewer_parameter_servers_trains_with_those_of_the_chief(self):
        with Job(ps=3, workers=2, strategy=TOGETHER) as job:
            for index in range(3):
                job.start_replica("ps", index)
            fewer = {**job.cluster, "ps": job.cluster["ps"][:1]}
            worker = job.start_replica("worker", 1, cluster=fewer)
            worker.says("waiting for")
            job.start_replica("worker", 0)
            job.expect_all_done(self)
            self.assertIn("\nstep ", worker.log())

    def test_deadline_of_the_start_ends_with_138(self):
        args = ["--start_deadline_secs=3"]
        with Job(chief=True, ps=1, workers=1) as job:
            worker = job.start_replica("worker", 0, args=args)
            self.assertEqual(worker.wait(), 138, worker.log())
            self.assertRegex(worker.end()["message"], "waiting for chief-0 at .*given up after 3 s")
            chief = job.start_replica("chief", 0, args=args)
            self.assertEqual(chief.wait(), 138, chief.log())
            self.assertRegex(chief.end()["message"], "waiting for ps-0 at .*given up after 3 s")


if __name__ == "__main__":
    unittest.main(verbosity=2)
