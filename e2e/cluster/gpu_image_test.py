#!/usr/bin/python3
"""Which replicas get the trainer's image for GPUs, and are told to compute on them: those that hold
one, on a node whose GPUs a device plugin hands out.

Part of `make e2e`. The image is the trainer's under another name, without NVIDIA's libraries, and
the node has no driver: what is told to compute on a GPU says so and goes.
"""

import json
import os

import programs
import taas
from cluster import SHELL_IMAGE
from device_plugin import SMALL, STEPS, DevicePlugin
from scenario import CONTAINER_SECURITY, POD_SECURITY, Scenario

GPUS = [f"GPU-3d1e0f52-0000-4000-8000-00000000000{digit}" for digit in "cde"]
with open(os.path.join(programs.TREE, "VERSION"), encoding="ascii") as version:
    VERSION = version.read().strip()
TRAINER = f"taas/trainer:{VERSION}"
CUDA = f"taas/trainer-cuda:{VERSION}"


class GpuImageTest(Scenario):

    # While the node has GPUs, jobs of other tests that wait for some would get them; and it is the
    # one operator of all tests.
    alone = True
    needs = ("node", "components")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cluster = cls.its_cluster()
        cluster.node.name_image(TRAINER, CUDA)
        cls.addClassCleanup(taas.upgrade, cluster.kubectl)
        taas.upgrade(cluster.kubectl, "trainer.cudaImage.repository=taas/trainer-cuda")

    def setUp(self):
        super().setUp()
        self.wait_for("a leader that knows of the image", lambda: taas.leads(self.kubectl))
        self.enterContext(DevicePlugin(self.cluster, GPUS))

    def apply(self, name, roles, trainer=None):
        spec = {"roles": roles, **({"trainer": trainer} if trainer else {})}
        self.k("apply", "-f", "-", stdin=json.dumps({
            "apiVersion": "taas.dev/v1", "kind": "TrainingJob", "metadata": {"name": name},
            "spec": spec}))

    def train(self, name, **trainer):
        self.apply(name, {"chief": {"replicas": 1, "resources": SMALL},
                          "ps": {"replicas": 1, "resources": SMALL},
                          "worker": {"replicas": 1, "gpus": 1, "resources": SMALL}},
                   {"model": {"name": "softmax"}, "data": {"format": "generated"},
                    "maxSteps": STEPS, **trainer})

    def told(self, pod):
        """Its image, and what it is told of GPUs."""
        found = self.wait_for(f"pod {pod}", lambda: self.look_at_pod(pod))
        (container,) = found["spec"]["containers"]
        variables = {it["name"]: it.get("value") for it in container["env"]}
        return container["image"], variables.get("TAAS_GPUS")

    def test_who_holds_a_gpu_gets_the_image_for_it_and_nobody_else(self):
        self.train("busy")
        self.assertEqual({role: self.told(f"busy-{role}-0") for role in ("chief", "ps", "worker")},
                         {"chief": (TRAINER, None), "ps": (TRAINER, None), "worker": (CUDA, "1")})
        # The trainer of that image runs, and looks for the GPU.
        self.wait_for("the worker to find no driver", lambda:
                      self.status("busy").get("restarts", {}).get("badNode", 0) > 0)
        self.await_training("busy")
        self.k("delete", "tj", "busy")

    def test_an_image_that_the_user_names_stays(self):
        self.train("named", image=TRAINER)
        self.assertEqual(self.told("named-worker-0"), (TRAINER, None))
        self.apply("own", {"worker": {"replicas": 1, "gpus": 1, "template": {"spec": {
            "securityContext": POD_SECURITY,
            "containers": [{"name": "trainer", "image": SHELL_IMAGE,
                            "command": ["sh", "-c", "echo gpus=$TAAS_GPUS"],
                            "resources": SMALL, "securityContext": CONTAINER_SECURITY}]}}}})
        self.await_success("own")
        self.assertEqual(self.told("own-worker-0"), (SHELL_IMAGE, None))
        # On the processor, beside its GPU.
        self.wait_for("the worker to train", lambda: self.steps_logged("named-worker-0"))
        self.k("delete", "tj", "named", "own")
