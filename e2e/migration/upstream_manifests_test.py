"""The TFJobs that training-operator itself has as examples, applied as they are.

Their images are in a registry that no test reaches, and one wants GPUs: each job gets its pods and
says what keeps them.
"""

import glob
import os
import subprocess

import peer
import programs
import taas
import yaml
from direct_api import jobs
from scenario import Scenario

# Where two of them say that they belong.
NAMESPACE = "kubeflow"
WANTED = {
    "simple.yaml": (2, "kubeflow/tf-mnist-with-summaries:latest"),
    "dist-mnist/tf_job_mnist.yaml": (4, "kubeflow/tf-dist-mnist-test:latest"),
    "mnist_with_summaries/tf_job_mnist.yaml": (1, "tfevent-volume"),
    "distribution_strategy/multi_worker_tfjob.yaml": (2, "strategy-volume"),
}


class UpstreamManifestsTest(Scenario):

    # Whoever keeps a cluster may have that namespace.
    needs = ("node",)
    pod_security = "baseline"

    def setUp(self):
        super().setUp()
        self.kubectl.create(taas.namespace(NAMESPACE, "baseline"))
        self.addCleanup(self.kubectl, "delete", "namespace", NAMESPACE)
        self.await_account(NAMESPACE)

    def examples(self):
        """{file: the job in it}."""
        folder = os.path.join(peer.folder(), "examples")
        found = {}
        for path in glob.glob(os.path.join(folder, "**", "*.y*ml"), recursive=True):
            with open(path, encoding="utf-8") as file:
                for job in yaml.safe_load_all(file):
                    if job and job["kind"] == "TFJob":
                        found[path] = job
        self.assertEqual({os.path.relpath(path, folder) for path in found}, set(WANTED))
        return {path: (job, *WANTED[os.path.relpath(path, folder)])
                for path, job in found.items()}

    def test_they_are_taken_as_they_are_and_say_what_keeps_their_pods(self):
        examples = self.examples()
        for path, (job, _, _) in examples.items():
            namespace = job["metadata"].setdefault("namespace", self.namespace)
            subprocess.run([programs.ours("taas"), "validate", "-f", path], check=True,
                           stdout=subprocess.DEVNULL)
            self.kubectl("apply", "--validate=strict", "-n", namespace, "-f", path)
        for path, (job, pods, words) in examples.items():
            with self.subTest(path):
                meta = job["metadata"]
                self.wait_for(f"a message with {words}", lambda m=meta, w=words: w in self.look(
                    jobs(m["namespace"], "tfjob", m["name"])).get("status", {}).get("message", ""))
                self.assertEqual(len(self.pods_of(meta)), pods)

    def pods_of(self, meta):
        return self.kubectl("get", "pods", "-n", meta["namespace"], "-o", "name", "-l",
                            "training.kubeflow.org/job-name=" + meta["name"]).split()
