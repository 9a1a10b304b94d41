"""The clusters of these tests themselves: several at once, parts that fail, nothing left behind."""

import os
import signal
import subprocess
import sys
import tempfile

import cgroups
import dns
import held
from cluster import SHELL_IMAGE, Cluster, check_room
from kubectl import CommandFailed
from sandbox_guard import GUARDED
from scenario import CONTAINER_SECURITY, POD_SECURITY, Scenario
from waiting import until


def sysctls():
    found = {}
    for name in GUARDED:
        path = "/proc/sys/" + name
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                found[name] = file.read()
    return found


# Test modules are read before the cluster starts.
SYSCTLS_BEFORE = sysctls()


class PodSecurityTest(Scenario):

    def test_namespace_of_a_test_takes_restricted_pods_only(self):
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "shell", "namespace": self.namespace},
            "spec": {"containers": [{"name": "shell", "image": SHELL_IMAGE}]},
        }
        with self.assertRaises(CommandFailed) as refused:
            self.kubectl.create(pod)
        self.assertIn('violates PodSecurity "restricted:latest"', refused.exception.stderr)


class ComponentsTest(Scenario):

    needs = ("components", "node")
    alone = True

    def run_pod(self, name):
        self.kubectl.create({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {
                "restartPolicy": "Never",
                "securityContext": POD_SECURITY,
                "containers": [{
                    "name": "shell",
                    "image": SHELL_IMAGE,
                    "command": ["nslookup", "kubernetes.default.svc.cluster.local"],
                    "securityContext": CONTAINER_SECURITY,
                }],
            },
        })
        self.wait_for(f"the end of pod {name}", lambda: self.k(
            "get", "pod", name, "-o", "jsonpath={.status.phase}") == "Succeeded")

    def test_cluster_works_after_each_component_was_killed(self):
        plane = self.cluster.plane
        for name, component in plane.components.items():
            before = component.pid()
            component.kill()
            component.start()
            self.assertNotEqual(component.pid(), before, name)
            plane.await_ready()
        dns.await_ready(plane)
        self.cluster.node.await_ready()
        self.run_pod("after-kills")

    def test_the_machine_keeps_its_sysctls(self):
        self.assertEqual(sysctls(), SYSCTLS_BEFORE)


class SideBySideTest(Scenario):

    needs = ("components",)
    lane = "clusters"

    def test_second_cluster_has_nodes_of_its_own_and_leaves_nothing(self):
        with Cluster(real_node=False, fake_nodes=2) as other:
            self.assertNotEqual(other.plane.server, self.cluster.plane.server)
            nodes = other.kubectl("get", "nodes", "-o", "name").split()
            self.assertEqual(nodes, ["node/fake-0", "node/fake-1"])
            work, interface = other.instance.work, other.instance.interface
        self.assertFalse(os.path.exists(work))
        self.assertNotIn(interface, os.listdir("/sys/class/net"))


class DiskTest(Scenario):

    needs = ("components",)

    def test_a_disk_that_is_nearly_full_is_named_before_anything_fails_on_it(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=500m", "none", folder], check=True)
            self.addCleanup(lambda: os.path.ismount(folder) and subprocess.run(["umount", folder]))
            with self.assertRaises(RuntimeError) as refused:
                check_room(folder)
            subprocess.run(["umount", folder], check=True)
        self.assertRegex(str(refused.exception),
                         f"^the disk of {folder} has 0.5 GB left and a node needs 1 GB: remove")
        check_room(self.cluster.instance.work)


class HeldTest(Scenario):

    needs = ("components",)
    lane = "clusters"

    def test_killed_holder_takes_its_cluster_along_and_the_next_one_its_remains(self):
        with tempfile.TemporaryDirectory() as caches:
            name = os.path.join(caches, "held")  # An absolute path is its own folder.
            run = [sys.executable, held.RUN]
            subprocess.run([*run, "up", "--name", name], check=True, stdout=subprocess.DEVNULL)
            pid = held.holder(name)
            pods = os.path.realpath(os.path.join(name, "kubeconfig"))
            work = os.path.dirname(pods)
            number = os.path.basename(work).split("-")[2]
            os.kill(pid, signal.SIGKILL)
            until("the end of its network",
                  lambda: f"taase2e{number}" not in os.listdir("/sys/class/net"))
            # What is left of it goes with the next one, here or in another test.
            subprocess.run([*run, "up", "--name", name], check=True, stdout=subprocess.DEVNULL)
            self.assertFalse(os.path.isdir(work))
            self.assertEqual(subprocess.run([*run, "down", "--name", name]).returncode, 0)
            for top in cgroups.hierarchies():
                self.assertNotIn(f"taas-e2e-{number}", os.listdir(top))
