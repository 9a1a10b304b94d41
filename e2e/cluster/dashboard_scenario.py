"""A test of the chart's dashboard, as somebody who may edit the test's namespace and no other.

    class DashboardTest(DashboardScenario):
        def test_…(self):
            browse(self.url, self.token())
"""

import contextlib
import re
import subprocess

import programs
import taas
from scenario import Scenario

SERVICE = "service/taas-dashboard"
PERSON = "person"


class DashboardScenario(Scenario):

    needs = ("node",)

    def setUp(self):
        super().setUp()
        self.k("create", "serviceaccount", PERSON)
        self.k("create", "rolebinding", PERSON, "--clusterrole=edit",
               f"--serviceaccount={self.namespace}:{PERSON}")
        self.url = self.enterContext(forwarded(self.kubectl))

    def token(self):
        """A new one of that person's."""
        return self.k("create", "token", PERSON).strip()


@contextlib.contextmanager
def forwarded(kubectl):
    """The URL under which `kubectl port-forward` serves it, on a free port of this machine."""
    command = [programs.path("kubectl"), "port-forward", "-n", taas.NAMESPACE, SERVICE, ":80"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                          env=kubectl.environ) as process:
        try:
            line = process.stdout.readline()
            (port,) = re.findall(r"127\.0\.0\.1:(\d+)", line)
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()
