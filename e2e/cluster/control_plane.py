"""etcd, kube-apiserver, kube-controller-manager and kube-scheduler in a sandbox.

Ports are the usual ones: the network namespace is the cluster's own.

    plane = ControlPlane(sandbox, work, authority)
    plane.start()
    plane.components["kube-apiserver"].restart()
"""

import os

import audit
import kubeconfig
import programs
import taas
from component import Component
from kubectl import Kubectl
from waiting import until

API_PORT = 6443
SERVICE_RANGE = "10.96.0.0/16"
# The first address of the range is the API server's own Service.
API_SERVICE = "10.96.0.1"
ISSUER = "https://kubernetes.default.svc.cluster.local"
# Of the API server and the kubelet: pods tell which devices they hold.
FEATURE_GATES = ("ResourceHealthStatus",)
# Whose requests are noted down: the accounts of the namespace that TaaS is installed into.
AUDITED_GROUPS = ["system:serviceaccounts:" + taas.NAMESPACE]
NAMES_OF_API = ("kubernetes", "kubernetes.default", "kubernetes.default.svc",
                "kubernetes.default.svc.cluster.local", "localhost", "127.0.0.1", API_SERVICE)


class ControlPlane:

    def __init__(self, sandbox, work, authority, audited=None, scheduler_flags=()):
        """`audited`: an audit policy; default: the accounts of TaaS."""
        self.sandbox = sandbox
        self.work = work
        self.authority = authority
        self.address = sandbox.instance.address
        self.server = f"https://{self.address}:{API_PORT}"
        self.kubeconfig = self.identity("admin", "taas-e2e-admin", "system:masters")
        self.kubectl = Kubectl(self.kubeconfig, home=work)
        self.signing_key = authority.signing_key()
        # Beside the logs, with which it is kept after a failure.
        self.audit_log = os.path.join(work, "logs", "audit.log")
        self.audited = audited or audit.policy(groups=AUDITED_GROUPS)
        self.components = {}
        for name, flags in (
            ("etcd", self._etcd_flags()),
            ("kube-apiserver", self._api_server_flags()),
            ("kube-controller-manager", self._controller_manager_flags()),
            ("kube-scheduler", [*self._scheduler_flags(), *scheduler_flags]),
        ):
            self.add(name, flags)

    def add(self, name, flags):
        """Makes another program of the cluster known; it is not started."""
        self.components[name] = Component(
            self.sandbox, name, [programs.path(name), *flags], os.path.join(self.work, "logs"),
            programs.OF_KUBERNETES
        )
        return self.components[name]

    def identity(self, name, common_name, organisation=None):
        """The kubeconfig of a client with a certificate of its own."""
        crt, key = self.authority.issue(name, common_name, organisation)
        path = os.path.join(self.work, name + ".kubeconfig")
        return kubeconfig.write(path, self.server, self.authority.crt, crt, key)

    def _etcd_flags(self):
        client, peer = "http://127.0.0.1:2379", "http://127.0.0.1:2380"
        return [
            "--data-dir=" + os.path.join(self.work, "etcd"),
            "--unsafe-no-fsync",  # Nobody needs it after a power cut.
            "--listen-client-urls=" + client,
            "--advertise-client-urls=" + client,
            "--listen-peer-urls=" + peer,
            "--initial-advertise-peer-urls=" + peer,
            "--initial-cluster=default=" + peer,
        ]

    def _api_server_flags(self):
        serving_crt, serving_key = self.authority.issue(
            "kube-apiserver", "kube-apiserver", addresses=(*NAMES_OF_API, self.address))
        kubelet_crt, kubelet_key = self.authority.issue(
            "kube-apiserver-kubelet", "kube-apiserver-kubelet", "system:masters")
        proxy_crt, proxy_key = self.authority.issue("front-proxy", "front-proxy")
        ca = self.authority.crt
        return [
            "--etcd-servers=http://127.0.0.1:2379",
            f"--secure-port={API_PORT}",
            "--advertise-address=" + self.address,
            "--service-cluster-ip-range=" + SERVICE_RANGE,
            "--authorization-mode=Node,RBAC",
            # Beside the stock ones, of which PodSecurity is one.
            "--enable-admission-plugins=NodeRestriction",
            "--feature-gates=" + ",".join(f"{name}=true" for name in FEATURE_GATES),
            "--client-ca-file=" + ca,
            "--tls-cert-file=" + serving_crt,
            "--tls-private-key-file=" + serving_key,
            "--kubelet-certificate-authority=" + ca,
            "--kubelet-client-certificate=" + kubelet_crt,
            "--kubelet-client-key=" + kubelet_key,
            "--kubelet-preferred-address-types=InternalIP",
            "--service-account-issuer=" + ISSUER,
            "--service-account-key-file=" + self.signing_key,
            "--service-account-signing-key-file=" + self.signing_key,
            "--requestheader-client-ca-file=" + ca,
            "--requestheader-allowed-names=front-proxy",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-username-headers=X-Remote-User",
            "--proxy-client-cert-file=" + proxy_crt,
            "--proxy-client-key-file=" + proxy_key,
            *audit.flags(audit.write_policy(os.path.join(self.work, "audit-policy.json"),
                                            self.audited), self.audit_log),
        ]

    def _controller_manager_flags(self):
        config = self.identity("kube-controller-manager", "system:kube-controller-manager")
        return [
            *self._client_flags(config),
            "--use-service-account-credentials",
            "--root-ca-file=" + self.authority.crt,
            "--service-account-private-key-file=" + self.signing_key,
            "--cluster-signing-cert-file=" + self.authority.crt,
            "--cluster-signing-key-file=" + self.authority.key,
        ]

    def _scheduler_flags(self):
        return self._client_flags(self.identity("kube-scheduler", "system:kube-scheduler"))

    def _client_flags(self, config):
        return [
            "--kubeconfig=" + config,
            "--authentication-kubeconfig=" + config,
            "--authorization-kubeconfig=" + config,
            "--bind-address=127.0.0.1",
            # There is one of each.
            "--leader-elect=false",
        ]

    def start(self):
        self.components["etcd"].start()
        self.components["kube-apiserver"].start()
        self.await_ready()
        # They give up when the API server does not answer for 10 s.
        self.components["kube-controller-manager"].start()
        self.components["kube-scheduler"].start()
        until("service account default/default", lambda: self.healthy() and
              self.kubectl.succeeds("get", "serviceaccount", "default", "-n", "default"))

    def await_ready(self):
        """The API server answers, and knows the rights of the cluster's parts: they end at a no."""
        until("the API server to be ready", lambda: self.healthy() and
              self.kubectl.succeeds("get", "--raw", "/readyz") and self.kubectl.succeeds(
                  "get", "configmap", "extension-apiserver-authentication", "-n", "kube-system",
                  "--as=system:kube-controller-manager"))

    def healthy(self):
        """True, or a RuntimeError with the log of a program that was started and has ended."""
        return all(part.check() for part in self.components.values() if part.process is not None)
