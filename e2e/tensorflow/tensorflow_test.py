#!/usr/bin/python3
"""Programs of real TensorFlow, unchanged, as TFJob and as TrainingJob on the local cluster.

The programs stand in examples/tensorflow. A killed worker is survived as far as TensorFlow
itself allows: between-graph workers come back one by one; with MultiWorkerMirroredStrategy the
others fail too, and all start from the last checkpoint.
"""

import json
import os
import signal
import sys
import unittest

for _folder in ("e2e/local", "tools/ci"):
    sys.path.insert(0, os.path.join(os.environ["TEST_SRCDIR"], "taas", _folder))

# The folders of these must be known first.
import shards
import yaml
from cluster import RUNFILES, Cluster

load_tests = shards.load_tests

PYTHON = os.path.join(
    os.environ.get("TAAS_TENSORFLOW_BIN", "/TAAS_TENSORFLOW_BIN-is-not-set"), "python"
)
# What Kubernetes puts in for them: the flags that TensorFlow's own examples have.
CLASSIC_FLAGS = [
    "--ps_hosts=$(TAAS_PS_HOSTS)",
    "--worker_hosts=$(TAAS_WORKER_HOSTS)",
    "--job_name=$(TAAS_JOB_NAME)",
    "--task_index=$(TAAS_TASK_INDEX)",
]


def program(name, *args):
    """A pod template that runs one of the examples."""
    path = os.path.realpath(os.path.join(RUNFILES, "examples", "tensorflow", name))
    return {"command": [PYTHON, path], "args": list(args)}


def tf_job(name, container, policy, **replicas):
    template = {
        "spec": {"containers": [{"name": "tensorflow", "image": "local/tensorflow", **container}]}
    }
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": name},
        "spec": {
            "runPolicy": {"cleanPodPolicy": "Running"},
            "tfReplicaSpecs": {
                role: {"replicas": count, "restartPolicy": policy, "template": template}
                for role, count in replicas.items()
            },
        },
    }


def example(file, name, more=()):
    """A manifest of examples/tensorflow, under another name and with more arguments."""
    folder = os.path.dirname(os.path.realpath(
        os.path.join(RUNFILES, "examples", "tensorflow", "multi_worker.py")))
    with open(os.path.join(RUNFILES, "examples", "tensorflow", file), encoding="utf-8") as text:
        manifest = yaml.safe_load(text.read().replace("PYTHON", PYTHON).replace("FOLDER", folder))
    manifest["metadata"]["name"] = name
    # The roles share one template.
    roles = iter(manifest["spec"]["tfReplicaSpecs"].values())
    next(roles)["template"]["spec"]["containers"][0]["args"] += more
    return manifest


def training_job(name, container, policy, **replicas):
    template = {
        "spec": {"containers": [{"name": "trainer", "image": "local/tensorflow", **container}]}
    }
    return {
        "apiVersion": "taas.dev/v1",
        "kind": "TrainingJob",
        "metadata": {"name": name},
        "spec": {
            "roles": {
                role.lower(): {"replicas": count, "restartPolicy": policy, "template": template}
                for role, count in replicas.items()
            }
        },
    }


class TensorFlowTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        if not os.path.exists(PYTHON):
            raise RuntimeError(
                f"{PYTHON}: `make test` installs TensorFlow and sets TAAS_TENSORFLOW_BIN"
            )
        cls.cluster = Cluster()
        cls.cluster.up()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.__exit__()

    def kind_and_name(self, manifest):
        plural = {"TFJob": "tfjobs.kubeflow.org", "TrainingJob": "trainingjobs.taas.dev"}[
            manifest["kind"]
        ]
        return f"{plural}/{manifest['metadata']['name']}"

    def conditions(self, manifest):
        text = self.cluster.kubectl("get", self.kind_and_name(manifest), "-o", "json").stdout
        return [
            c["type"]
            for c in json.loads(text).get("status", {}).get("conditions", [])
            if c["status"] == "True"
        ]

    def log(self, pod, *more):
        return self.cluster.kubectl("logs", pod, *more, check=False).stdout

    def start(self, manifest):
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(manifest))
        self.addCleanup(self.delete, manifest)

    def delete(self, manifest):
        """It computes no more when the next test does."""
        self.cluster.kubectl("delete", "--ignore-not-found", self.kind_and_name(manifest))
        self.cluster.wait_for(
            "the end of its pods",
            lambda: "No resources" in self.cluster.kubectl("get", "pods").stderr,
        )

    def finish(self, manifest):
        """Waits for the end, which must be a good one; returns the log of worker 0."""
        name = manifest["metadata"]["name"]
        self.cluster.wait_for(
            f"the end of {name}", lambda: {"Succeeded", "Failed"} & set(self.conditions(manifest))
        )
        log = self.log(f"{name}-worker-0")
        description = self.cluster.kubectl(
            "get", self.kind_and_name(manifest), "-o", "yaml"
        ).stdout
        self.assertIn("Succeeded", self.conditions(manifest), f"{description}\n{log[-4000:]}")
        return log

    def kill_worker_1(self, manifest, after):
        """Ends worker 1, not its shim, with SIGKILL once its log has `after`."""
        name = f"{manifest['metadata']['name']}-worker-1"
        self.cluster.wait_for(f"'{after}' of {name}", lambda: after in self.log(name))
        pids = self.cluster.pids_of(PYTHON, TAAS_ROLE="worker", TAAS_INDEX="1")
        self.assertEqual(len(pids), 1)
        os.kill(pids[0], signal.SIGKILL)

    def result(self, log):
        return json.loads(
            next(line for line in reversed(log.splitlines()) if line.startswith("{"))
        )

    def test_async_tfjob_by_tf_config_survives_a_killed_worker(self):
        manifest = example("between-graph.yaml", "async-config")
        self.start(manifest)
        self.kill_worker_1(manifest, "step ")
        result = self.result(self.finish(manifest))
        self.assertGreaterEqual(result["step"], 3990)
        self.assertGreaterEqual(result["accuracy"], 0.95)

    def test_async_training_job_by_classic_flags_survives_a_killed_worker(self):
        manifest = training_job(
            "async-flags",
            program("between_graph.py", "--max_steps=4000", *CLASSIC_FLAGS),
            "ExitCode",
            PS=1,
            Worker=2,
        )
        self.start(manifest)
        self.kill_worker_1(manifest, "step ")
        self.assertGreaterEqual(self.result(self.finish(manifest))["accuracy"], 0.95)

    def test_sync_tfjob_by_classic_flags(self):
        manifest = tf_job(
            "sync-flags",
            program("between_graph.py", "--sync", "--max_steps=300", *CLASSIC_FLAGS),
            "OnFailure",
            PS=1,
            Worker=2,
        )
        self.start(manifest)
        self.assertGreaterEqual(self.result(self.finish(manifest))["accuracy"], 0.95)

    def test_sync_training_job_by_tf_config_with_a_chief(self):
        manifest = training_job(
            "sync-config",
            program("between_graph.py", "--sync", "--max_steps=300"),
            "OnFailure",
            Chief=1,
            PS=1,
            Worker=1,
        )
        self.start(manifest)
        self.cluster.wait_for(
            "the chief's result", lambda: '{"step"' in self.log("sync-config-chief-0")
        )
        log = self.log("sync-config-chief-0")
        self.finish(manifest)
        self.assertGreaterEqual(self.result(log)["accuracy"], 0.95)

    def check_multi_worker(self, manifest):
        self.start(manifest)
        self.kill_worker_1(manifest, "epoch 2 ")
        result = self.result(self.finish(manifest))
        self.assertEqual(result["epochs"], 30)
        self.assertGreaterEqual(result["accuracy"], 0.9)

    def test_multi_worker_mirrored_tfjob_survives_a_killed_worker(self):
        folder = os.path.join(self.cluster.out, "mirrored-tfjob")
        self.check_multi_worker(
            example("multi-worker.yaml", "mirrored-tfjob", [f"--checkpoint_dir={folder}"]))

    def test_multi_worker_mirrored_training_job_survives_a_killed_worker(self):
        folder = os.path.join(self.cluster.out, "mirrored")
        self.check_multi_worker(training_job(
            "mirrored",
            program("multi_worker.py", f"--checkpoint_dir={folder}", "--epochs=30"),
            "OnFailure",
            Worker=2,
        ))


if __name__ == "__main__":
    unittest.main()
