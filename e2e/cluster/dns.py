"""Names in the cluster: CoreDNS on the node's address, behind the usual Service kube-dns.

As in clusters of kubeadm nothing of cluster.local is cached; a name of elsewhere does not exist.

    dns.start(plane)
"""

import os
import urllib.error
import urllib.request

from waiting import until

DOMAIN = "cluster.local"
SERVICE = "10.96.0.10"
READY_PORT = 8181
# Its user, as the common name of a certificate.
USER = "system:coredns"


def corefile(address, kubeconfig):
    return f"""\
{DOMAIN}:53 in-addr.arpa:53 ip6.arpa:53 {{
    bind {address}
    errors
    ready {address}:{READY_PORT}
    kubernetes {DOMAIN} in-addr.arpa ip6.arpa {{
        kubeconfig {kubeconfig}
        pods insecure
    }}
}}
# In one block with kubernetes this would answer first.
.:53 {{
    bind {address}
    template ANY ANY {{
        rcode NXDOMAIN
    }}
}}
"""


def objects(address):
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": USER}}
    service = {"name": "kube-dns", "namespace": "kube-system"}
    ports = [{"name": "dns", "port": 53, "protocol": "UDP"},
             {"name": "dns-tcp", "port": 53, "protocol": "TCP"}]
    watched = {"verbs": ["list", "watch"]}
    return [
        {
            **role,
            "kind": "ClusterRole",
            "rules": [
                {**watched, "apiGroups": [""], "resources": ["pods", "services", "namespaces"]},
                {**watched, "apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"]},
            ],
        },
        {
            **role,
            "kind": "ClusterRoleBinding",
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": USER,
            },
            "subjects": [
                {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER},
            ],
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {**service, "labels": {"k8s-app": "kube-dns"}},
            "spec": {"clusterIP": SERVICE, "ports": ports},
        },
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {**service, "labels": {"kubernetes.io/service-name": "kube-dns"}},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
            "ports": ports,
        },
    ]


def start(plane):
    plane.kubectl.apply(*objects(plane.address))
    path = os.path.join(plane.work, "Corefile")
    with open(path, "w", encoding="utf-8") as file:
        file.write(corefile(plane.address, plane.identity("coredns", USER)))
    plane.add("coredns", ["-conf", path]).start()


def await_ready(plane):
    until("CoreDNS to know the Services", lambda: plane.healthy() and answers(plane.address))


def answers(address):
    # No proxy of the caller's stands between.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://{address}:{READY_PORT}/ready", timeout=2) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False
