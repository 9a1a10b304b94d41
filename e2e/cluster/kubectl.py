"""kubectl against one kubeconfig, as tests use it.

    kubectl = Kubectl("/path/to/kubeconfig", home="/path/to/folder")
    kubectl("apply", "-f", "examples/mnist.yaml", "-n", "mine")        # the output
    kubectl.json("get", "tj", "mnist", "-n", "mine")["status"]
    kubectl.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine"}})
"""

import json
import os
import subprocess

import programs

# Longer than `kubectl wait` and `helm install --wait` are told to wait.
LIMIT_S = 400


class CommandFailed(AssertionError):

    def __init__(self, command, done):
        super().__init__(f"{' '.join(command)} ended with {done.returncode}: "
                         f"{done.stderr.strip() or done.stdout.strip()}")
        self.stderr = done.stderr


class Kubectl:

    def __init__(self, kubeconfig, home):
        # Below HOME kubectl keeps what it has discovered, by server, and clusters that follow each
        # other have one address.
        self.environ = {"KUBECONFIG": kubeconfig, "HOME": home, "PATH": programs.SYSTEM_PATH,
                        **programs.OF_COMMANDS}

    def run(self, *command, stdin=None, check=True, limit_s=LIMIT_S):
        """Any program that reads a kubeconfig; the finished process with its texts."""
        done = subprocess.run(command, env=self.environ, input=stdin, text=True, check=False,
                              timeout=limit_s, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if check and done.returncode != 0:
            raise CommandFailed([os.path.basename(command[0]), *command[1:]], done)
        return done

    def __call__(self, *arguments, **options):
        return self.run(programs.path("kubectl"), *arguments, **options).stdout

    def succeeds(self, *arguments, **options):
        return self.run(programs.path("kubectl"), *arguments, check=False,
                        **options).returncode == 0

    def json(self, *arguments, **options):
        return json.loads(self(*arguments, "-o", "json", **options))

    def create(self, *objects):
        return self("create", "-f", "-", stdin=json.dumps(list_of(objects)))

    def apply(self, *objects):
        return self("apply", "--server-side", "-f", "-", stdin=json.dumps(list_of(objects)))


def list_of(objects):
    return {"apiVersion": "v1", "kind": "List", "items": list(objects)}
