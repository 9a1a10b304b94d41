"""Programs of real TensorFlow as TFJobs, unchanged, on a real node: DNS names lead to each other.

TensorFlow comes from PyPI on a volume, as many users have it, the programs with Python in an image.
"""

import json
import os

import node_images
import programs
from scenario import Scenario

IMAGE = "e2e/tensorflow:1"
SITE_PACKAGES = "site-packages"
OUT = "out"
# Nine processes that all begin with reading TensorFlow, on two cores that others use, too.
LIMIT_S = 900


def tf_job(name, command, **replicas):
    container = {
        "name": "tensorflow",
        "image": IMAGE,
        "command": ["python3", *command],
        "volumeMounts": [
            {"name": SITE_PACKAGES, "mountPath": "/site-packages", "readOnly": True},
            {"name": OUT, "mountPath": "/out"},
        ],
    }
    volumes = [{"name": claim, "persistentVolumeClaim": {"claimName": claim}}
               for claim in (SITE_PACKAGES, OUT)]
    template = {
        # It belongs into every TFJob of a cluster with Istio.
        "metadata": {"annotations": {"sidecar.istio.io/inject": "false"}},
        "spec": {"containers": [container], "volumes": volumes},
    }
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": name},
        "spec": {
            "runPolicy": {"cleanPodPolicy": "Running"},
            "tfReplicaSpecs": {
                role: {"replicas": count, "restartPolicy": "OnFailure", "template": template}
                for role, count in replicas.items()
            },
        },
    }


class TensorFlowTest(Scenario):

    needs = ("node",)
    lane = "training"
    pod_security = "baseline"

    @classmethod
    def setUpClass(cls):
        node_images.load(cls.cluster, "tensorflow_image.toml", programs.TREE)

    def make_site_packages(self):
        """A claim for the volume with TensorFlow, which an administrator made."""
        folder = os.path.join(os.path.dirname(programs.folder("tensorflow")), "lib", "python3.11",
                              "site-packages")
        if not os.path.isdir(os.path.join(folder, "tensorflow")):
            raise programs.ProgramMissing(f"there is no TensorFlow in {folder}: "
                                          "`tools/setup/setup.sh python tensorflow` installs it")
        spec = {"accessModes": ["ReadOnlyMany"], "storageClassName": ""}
        name = f"{self.namespace}-{SITE_PACKAGES}"
        self.kubectl.create({
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name},
            "spec": {**spec, "capacity": {"storage": "2Gi"}, "hostPath": {"path": folder},
                     "persistentVolumeReclaimPolicy": "Retain"},
        }, {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": SITE_PACKAGES, "namespace": self.namespace},
            "spec": {**spec, "volumeName": name,
                     "resources": {"requests": {"storage": "2Gi"}}},
        })
        self.addCleanup(self.kubectl, "delete", "pv", name, "--wait=false")

    def submit(self, job):
        self.kubectl.create({**job, "metadata": {**job["metadata"],
                                                 "namespace": self.namespace}})

    def result(self, name, pod):
        """What the program printed at its end, once the job has succeeded."""
        status = self.await_end(name, "tfjob", LIMIT_S)
        log = self.k("logs", pod)
        self.assertEqual(status["state"], "Succeeded", f"{status.get('message')}\n{log}")
        # TensorFlow may have words of its own after it.
        return json.loads(next(line for line in reversed(log.splitlines())
                               if line.startswith("{")))

    def test_programs_of_three_kinds_train_over_dns_names(self):
        self.make_site_packages()
        self.make_claim(OUT)
        # All at once: most of the time is TensorFlow's own start.
        self.submit(tf_job("between-graph", ["/app/between_graph.py", "--max_steps=300"],
                           PS=1, Worker=2))
        self.submit(tf_job("mirrored", ["/app/multi_worker.py", "--checkpoint_dir=/out/mirrored",
                                        "--epochs=8"], Worker=2))
        self.submit(tf_job("coordinated", ["/app/parameter_server.py"], Chief=1, PS=1, Worker=2))
        self.assertGreaterEqual(
            self.result("between-graph", "between-graph-worker-0")["accuracy"], 0.95)
        self.assertGreaterEqual(self.result("mirrored", "mirrored-worker-0")["accuracy"], 0.9)
        self.assertGreaterEqual(self.result("coordinated", "coordinated-chief-0")["accuracy"], 0.9)
        config = self.k("get", "pod", "between-graph-worker-0", "-o",
                        "jsonpath={.spec.containers[0].env[?(@.name=='TF_CONFIG')].value}")
        self.assertEqual(json.loads(config)["cluster"], {
            "ps": [f"between-graph-ps-0.{self.namespace}.svc:2222"],
            "worker": [f"between-graph-worker-{index}.{self.namespace}.svc:2222"
                       for index in range(2)],
        })
