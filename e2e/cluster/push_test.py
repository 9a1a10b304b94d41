"""Images are pushed as docs/images.md says, and pulled by a node that never had them.

The cluster is one of its own, with a registry: a layer of ours that is on the node already would
not be pulled. No command is changed: the registry has the name of the page, and is trusted.
"""

import json
import os
import re
import subprocess

import programs
from cluster import Cluster
from registry import Registry
from scenario import CONTAINER_SECURITY, POD_SECURITY, Scenario

REGISTRY = "registry.example.org"
TEAM = "team"
IMAGES = ("operator", "trainer")
BUILD = os.path.join(programs.TREE, "images", "build.py")
PUSHED_WITH = {"skopeo", "ctr"}
KEEPS_DIGEST = "--preserve-digests"
# On the page about Helm it is another one.
REGISTRY_OF_HELM_PAGE = "registry.example.com/ml"
PULLED = "Successfully pulled image"


def read(*path):
    with open(os.path.join(programs.TREE, *path), encoding="utf-8") as file:
        return file.read()


def commands(page, heading):
    """Each command of a section, on one line."""
    section = re.search(rf"^{heading}\n(.*?)(?=^##? |\Z)", read("docs", page), re.M | re.S)
    blocks = re.findall(r"^```sh\n(.*?)^```$", section.group(1), re.M | re.S)
    return [line for line in "".join(blocks).replace("\\\n", "").splitlines() if line]


def push_commands(program):
    return [line for line in commands("images.md", "## Push") if line.split()[0] == program]


def build(folder, version):
    """{image: digest that is printed}, with archives as `make images REGISTRY=…` leaves them."""
    recipes = [os.path.join(programs.TREE, "images", name + ".toml") for name in IMAGES]
    done = subprocess.run(
        [BUILD, *recipes, "--from", programs.TREE, "--out", os.path.join(folder, "dist"), "--tag",
         version, "--registry", f"{REGISTRY}/{TEAM}"], text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise RuntimeError(f"build images for a registry: {done.stdout.strip()}")
    return dict(re.findall(r"/taas/(\w+):\S+  (sha256:\w+)  ", done.stdout))


def repository(image):
    return f"{TEAM}/taas/{image}"


class PushTest(Scenario):

    needs = ("components", "node")

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster())
        try:
            cls.folder = os.path.join(cls.cluster.instance.work, "pushed")
            os.mkdir(cls.folder)
            cls.version = read("VERSION").strip()
            cls.digests = build(cls.folder, cls.version)
            cls.registry = Registry(cls.cluster.plane, REGISTRY)
            cls.cluster.node.trust(REGISTRY, cls.registry.authority)
            # skopeo unpacks archives here.
            cls.cluster.sandbox.run("mount", "-n", "--bind", cls.folder, "/var/tmp")
        except BaseException:
            cls.cluster.keep_logs()
            raise

    def setUp(self):
        super().setUp()
        self.registry.empty()

    def keep_traces(self):
        super().keep_traces()
        self.cluster.keep_logs()

    def run_inside(self, *script):
        """Runs lines of bash where the registry is known and trusted."""
        trusted = [f"{name}={value}" for name, value in self.registry.trusted.items()]
        return self.cluster.sandbox.run("env", f"--chdir={self.folder}", *trusted, "bash", "-euc",
                                        "\n".join(script))

    def push(self, program):
        """Both images; the page shows it for one."""
        for image in IMAGES:
            lines = push_commands(program)
            self.assertTrue(lines, program)
            self.run_inside(*(line.replace("operator", image) for line in lines))

    def pushed(self):
        return {image: self.registry.digest(repository(image), self.version) for image in IMAGES}

    def images_of_node(self):
        return self.run_inside("ctr -n k8s.io images list --quiet").split()

    def test_the_page_pushes_with_no_program_but_those_that_are_tried_here(self):
        found = {line.split()[0] for line in commands("images.md", "## Push")}
        self.assertEqual(found, PUSHED_WITH)

    def test_skopeo_pushes_images_under_the_digests_that_were_printed(self):
        self.push("skopeo")
        self.assertEqual(self.pushed(), self.digests)

    def test_skopeo_without_its_flag_compresses_so_that_the_digest_is_another(self):
        (line,) = push_commands("skopeo")
        self.assertIn(KEEPS_DIGEST, line)
        self.run_inside(line.replace(KEEPS_DIGEST, ""))
        self.assertNotEqual(self.registry.digest(repository("operator"), self.version),
                            self.digests["operator"])

    def test_ctr_pushes_images_under_the_digests_that_were_printed(self):
        # What it imports here is not to be on the node when that pulls.
        names = [f"{REGISTRY}/{repository(image)}:{self.version}" for image in IMAGES]
        self.addCleanup(self.run_inside, "ctr images remove --sync " + " ".join(names))
        self.push("ctr")
        self.assertEqual(self.pushed(), self.digests)

    def follow_helm_page(self):
        """Installs, waits and has a job train, as the begin of the page does."""
        lines = commands("helm.md", "# Installing with Helm")
        script = "\n".join(lines)
        self.assertIn(REGISTRY_OF_HELM_PAGE, script)
        tools = [programs.folder("kubernetes"), programs.folder("cluster"), programs.SYSTEM_PATH]
        done = self.kubectl.run(
            "env", f"--chdir={programs.TREE}", "PATH=" + ":".join(tools), "bash", "-euc",
            script.replace(REGISTRY_OF_HELM_PAGE, f"{REGISTRY}/{TEAM}"))
        return done.stdout

    def test_the_chart_runs_and_trains_with_images_that_the_node_pulls(self):
        self.push("skopeo")
        said = self.follow_helm_page()
        self.assertIn("Phase:          Succeeded", said)
        self.assertIn("Succeeded", said)
        names = self.images_of_node()
        events = self.kubectl.json("get", "events", "--all-namespaces")["items"]
        pulled = [event["message"] for event in events if event["reason"] == "Pulled"]
        for image, digest in self.digests.items():
            with self.subTest(image):
                name = f"{REGISTRY}/{repository(image)}"
                self.assertIn(f"{name}@{digest}", names)
                self.assertTrue([text for text in pulled if text.startswith(
                    f'{PULLED} "{name}:{self.version}"')], pulled)
                # Each byte came from there, in this test or in one before it.
                self.assertLessEqual({digest, *self.blobs(image)},
                                     self.registry.pulled_from(repository(image)))

    def blobs(self, image):
        """Digests of the configuration and the layer."""
        archive = f"dist/taas-{image}.tar"
        path = "blobs/" + self.digests[image].replace(":", "/")
        manifest = json.loads(self.run_inside(f"tar -xOf {archive} {path}"))
        return [part["digest"] for part in (manifest["config"], *manifest["layers"])]

    def pod(self, name, image):
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {
                "restartPolicy": "Never",
                "securityContext": POD_SECURITY,
                "containers": [{"name": "trainer", "image": image, "args": ["--version"],
                                "imagePullPolicy": "Always",
                                "securityContext": CONTAINER_SECURITY}],
            },
        }

    def test_an_image_is_pulled_by_its_digest_whatever_its_tag_is_now(self):
        self.push("skopeo")
        digest = self.digests["trainer"]
        # The tag is moved to the other image, whose program would say another name.
        (line,) = push_commands("skopeo")
        self.run_inside(line.replace(repository("operator"), repository("trainer")))
        self.assertNotEqual(self.registry.digest(repository("trainer"), self.version), digest)
        name = f"{REGISTRY}/{repository('trainer')}"
        cases = {"without-tag": f"{name}@{digest}", "with-tag": f"{name}:{self.version}@{digest}"}
        self.kubectl.create(*(self.pod(*case) for case in cases.items()))
        for pod in cases:
            with self.subTest(pod):
                self.wait_for(f"the end of {pod}", lambda: self.k(
                    "get", "pod", pod, "-o", "jsonpath={.status.phase}") == "Succeeded")
                self.assertEqual(self.k("logs", pod).strip(), f"taas-trainer {self.version}")
