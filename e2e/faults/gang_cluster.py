"""A control plane with a second scheduler, which knows gangs: kube-scheduler with the coscheduling
plugin, and the controller that writes the statuses of its PodGroups. Only tests of gangs use it.

    with GangCluster() as cluster:
        cluster.group("mine", "a")["status"]["phase"]

The operator runs as the chart's values for coscheduling say, with the rights that they give.
"""

import json
import os

import fake_nodes
import programs
from component import Component
from fault_cluster import FaultCluster
from waiting import until

# What pods of gangs name; all others are placed by the cluster's own scheduler.
SCHEDULER = "gangs"
# What the plugin has refused it looks at when a pod is placed or a PodGroup changes, and after so
# long, of which the scheduler thinks each 30 s; 5 minutes is usual.
REFUSED_FOR = "5s"
GROUPS = "/apis/scheduling.x-k8s.io/v1alpha1"
DEFINITION = "scheduling.x-k8s.io_podgroups.yaml"
# Both programs are this user; a stock cluster gives it what any scheduler needs.
USER = "system:kube-scheduler"
ROLE = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": SCHEDULER},
    "rules": [{"apiGroups": ["scheduling.x-k8s.io"],
               "resources": ["podgroups", "podgroups/status"],
               "verbs": ["get", "list", "watch", "patch"]}],
}
BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": SCHEDULER},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": SCHEDULER},
    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER}],
}


def configuration(kubeconfig):
    """The plugin at all its points, with its own order of the queue; its arguments are stock."""
    plugins = {"enabled": [{"name": "Coscheduling"}], "disabled": [{"name": "PrioritySort"}]}
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": kubeconfig},
        "leaderElection": {"leaderElect": False},
        "profiles": [{"schedulerName": SCHEDULER, "plugins": {"multiPoint": plugins}}],
    }


class GangCluster(FaultCluster):

    # No node of it is to be found lost.
    lease_s = fake_nodes.LEASE_S
    flags = ("--gang-scheduler=coscheduling", "--gang-scheduler-name=" + SCHEDULER)
    values = ("operator.gangScheduler=coscheduling",)

    def _prepare(self):
        definitions = os.path.join(os.path.dirname(programs.folder("kubernetes")), "definitions")
        self.kubectl("apply", "--server-side", "-f", os.path.join(definitions, DEFINITION))
        until("PodGroups to be served", lambda: self.api("GET", GROUPS + "/podgroups").code == 200)
        self.kubectl.create(ROLE, BINDING)
        config = self.plane.identity(SCHEDULER, USER)
        path = os.path.join(self.instance.work, SCHEDULER + ".json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(configuration(config), file)
        # The port that it would have is the other scheduler's.
        self._run("coscheduling", "--config=" + path, "--secure-port=0",
                  "--pod-max-in-unschedulable-pods-duration=" + REFUSED_FOR)
        self._run("podgroups", config)

    def _run(self, name, *arguments):
        component = Component(self.sandbox, name, [programs.path(name), *arguments], self.logs)
        self.components[name] = component
        component.start()

    def group(self, namespace, name):
        """The PodGroup, or None."""
        return self.api.get(f"{GROUPS}/namespaces/{namespace}/podgroups/{name}")

    def add_nodes(self, first, count):
        """Beside the `first` that there are."""
        self.kubectl.create(*(fake_nodes.node(first + i) for i in range(count)))
        until(f"{count} more nodes to be Ready",
              lambda: fake_nodes.ready(self.kubectl) == first + count)

    def remove_nodes(self, first, count):
        self.kubectl("delete", "node", "--ignore-not-found",
                     *(fake_nodes.name(first + i) for i in range(count)))
