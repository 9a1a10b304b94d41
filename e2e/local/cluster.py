"""A local cluster for tests: the shipped programs in a folder of their own, kubectl beside them.

Everything lies below the test's temporary folder and every process is ended with the block:

    with Cluster() as cluster:
        cluster.kubectl("apply", "-f", cluster.example("mnist"))
        cluster.wait_for("the end", lambda: cluster.state("mnist") in ("Succeeded", "Failed"))
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

# What takes longer than this hangs: the slowest step here takes a tenth of it on two busy cores.
LIMIT_S = 240
# Between two looks at something that another process changes: a look is a program, and what is
# looked at wants the processor too.
POLL_S = 0.1
LOG_LINES = 30

RUNFILES = os.path.join(os.environ["TEST_SRCDIR"], "taas")


def kubectl_path():
    folder = os.environ.get("TAAS_KUBERNETES_BIN")
    if not folder:
        raise RuntimeError("TAAS_KUBERNETES_BIN is not set: `make test` builds kubectl and sets it")
    return os.path.join(folder, "kubectl")


class Cluster:
    """Programs, data and (between `up` and `down`) one `taas local up`."""

    # A folder: to draw its images takes longer than a cluster takes to start, so all clusters of a
    # test have copies of what the first has made.
    drawn = None

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="e2e-", dir=os.environ["TEST_TMPDIR"])
        self.bin = os.path.join(self.dir, "bin")
        os.mkdir(self.bin)
        for program in ("cli/taas", "operator/cmd/taas-operator", "trainer/cmd/taas-trainer"):
            shutil.copy(os.path.join(RUNFILES, program), self.bin)
        self.taas = os.path.join(self.bin, "taas")
        self.data = os.path.join(self.dir, "data")
        self.out = os.path.join(self.dir, "out")
        os.mkdir(self.out)
        self.cluster_dir = os.path.join(self.dir, "cluster")
        self.kubeconfig = os.path.join(self.cluster_dir, "kubeconfig")
        self.environ = {"HOME": self.dir, "PATH": "/usr/bin:/bin", "KUBECONFIG": self.kubeconfig}
        self.make_data()
        self.process = None

    def make_data(self):
        if Cluster.drawn is None:
            folder = tempfile.mkdtemp(prefix="drawn-", dir=os.environ["TEST_TMPDIR"])
            drawn = os.path.join(folder, "data")
            self.run(self.taas, "data", "fetch", "mnist", drawn, "--generate")
            Cluster.drawn = drawn
        shutil.copytree(Cluster.drawn, self.data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.down()
        # What was told to end, and let its locks go, may still be on its way out.
        over = time.monotonic() + LIMIT_S
        while (left := self.processes()) and time.monotonic() < over:
            time.sleep(0.05)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.dir, ignore_errors=True)
        if left:
            raise AssertionError(f"processes were left behind: {left}")

    def run(self, *args, check=True, stdin=None, environ=None, folder=None):
        done = subprocess.run(args, input=stdin, env=environ or self.environ, text=True,
                              check=False, timeout=LIMIT_S, cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        if check and done.returncode != 0:
            raise AssertionError(f"{args} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done

    def kubectl(self, *args, **options):
        # It is over before Go's collector is of use: a fifth less work.
        return self.run(kubectl_path(), *args, environ={**self.environ, "GOGC": "off"}, **options)

    def example(self, name):
        return os.path.join(RUNFILES, "examples", name + ".yaml")

    def up(self, *flags):
        with open(os.path.join(self.dir, "up.log"), "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [self.taas, "local", "up", "--dir", self.cluster_dir,
                 "--volume", f"mnist-data={self.data}", "--volume", f"mnist-out={self.out}",
                 *flags],
                env=self.environ, stdout=log, stderr=log)
        self.wait_for("an answer of the API server", lambda: os.path.exists(self.kubeconfig) and
                      self.kubectl("get", "--raw", "/version", check=False).returncode == 0)

    def down(self):
        if self.process is None:
            return
        self.run(self.taas, "local", "down", "--dir", self.cluster_dir)
        self.process.wait(LIMIT_S)
        self.process = None

    def job(self, name):
        return json.loads(self.kubectl("get", "tj", name, "-o", "json").stdout)

    def status(self, name):
        return self.job(name).get("status", {})

    def state(self, name):
        return self.status(name).get("state")

    def wait_for(self, what, check):
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            if check():
                return
            time.sleep(POLL_S)
        raise AssertionError(f"{what} did not come within {LIMIT_S} s\n{self.traces()}")

    def traces(self):
        """What the cluster, its jobs and their pods say at last."""
        with open(os.path.join(self.dir, "up.log"), encoding="utf-8") as log:
            texts = [log.read()[-4000:]]
        looks = [("get", "tj,tfjob,pods", "-o", "wide")]
        looks += [("logs", pod, f"--tail={LOG_LINES}") for pod in
                  self.kubectl("get", "pods", "-o", "name", check=False).stdout.split()]
        for look in looks:
            done = self.kubectl(*look, check=False)
            texts.append(f"$ kubectl {' '.join(look)}\n{done.stdout}{done.stderr}")
        return "\n".join(texts)

    def processes(self, **environ):
        """Pids of programs below self.bin whose environment has all of `environ`."""
        return self.pids_of(self.bin, **environ)

    def pids_of(self, program, **environ):
        """Pids of this cluster's processes of a program, or of those below a folder."""
        # Where a program's path is a chain of links, /proc shows its end.
        program = os.path.realpath(program)
        wanted = {f"{name}={value}".encode() for name, value in environ.items()}
        found = []
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                runs = os.readlink(f"/proc/{entry}/exe")
                with open(f"/proc/{entry}/environ", "rb") as file:
                    has = set(file.read().split(b"\0"))
            except OSError:
                continue
            if (runs + "/").startswith(program + "/") and wanted <= has:
                found.append(int(entry))
        return found

    def trainer(self, role, index):
        """The pid of the trainer process of one replica, or None."""
        found = self.processes(TAAS_ROLE=role, TAAS_INDEX=index)
        return found[0] if found else None
