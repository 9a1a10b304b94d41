"""One real node in the cluster's sandbox: containerd, kubelet, kube-proxy and a CNI bridge.

    node = Node(plane)
    node.start()
    node.import_image("dist/taas-trainer.tar")
    node.await_ready()
"""

import json
import os
import resource
import subprocess

import cgroups
import dns
import programs
from control_plane import FEATURE_GATES, SERVICE_RANGE
from waiting import until

POD_RANGE = "10.244.0.0/16"
SOCKET = "/run/containerd/containerd.sock"
CNI_PROGRAMS = "/usr/lib/cni"
NAME = "node-0"
PAUSE_IMAGE = "localhost/pause:1"
# The kubelet wants as many; a container of CI may not raise its own limit.
OPEN_FILES_MAX = 1000000
PODS_MAX = 250


class Node:

    def __init__(self, plane):
        self.plane = plane
        self.sandbox = plane.sandbox
        self.kubectl = plane.kubectl
        self.address = plane.address
        self.cgroup = plane.sandbox.instance.name
        self.folder = os.path.join(plane.work, "node")
        for name in ("cni", "containerd", "opt", "registries"):
            os.makedirs(os.path.join(self.folder, name))
        plane.add("containerd", ["--config", self._containerd_config()])
        plane.add("kubelet", self._kubelet_flags())
        plane.add("kube-proxy", ["--config=" + self._proxy_config(), "--v=1"])

    def _write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text if isinstance(text, str) else json.dumps(text, indent=1))
        return path

    def _snapshotter(self):
        done = subprocess.run(["stat", "--file-system", "--format=%T", self.folder], check=True,
                              text=True, stdout=subprocess.PIPE)
        # One overlay does not go on another, which is what the disk of a container is.
        return "native" if done.stdout.strip() == "overlayfs" else "overlayfs"

    def _containerd_config(self):
        cri = "io.containerd.grpc.v1.cri"
        unused = [f'"io.containerd.snapshotter.v1.{name}"'
                  for name in ("aufs", "btrfs", "devmapper", "zfs")]
        apparmor = os.path.exists("/sys/kernel/security/apparmor")
        return self._write("containerd.toml", f"""\
version = 2
root = "{self.folder}/containerd"
state = "/run/containerd"
disabled_plugins = [{", ".join(unused)}]
[grpc]
  address = "{SOCKET}"
[plugins."io.containerd.internal.v1.opt"]
  path = "{self.folder}/opt"
[plugins."{cri}"]
  sandbox_image = "{PAUSE_IMAGE}"
  disable_apparmor = {"false" if apparmor else "true"}
  # Without CAP_SYS_RESOURCE nobody may become less likely to be killed than the parent.
  restrict_oom_score_adj = true
  [plugins."{cri}".cni]
    bin_dir = "{CNI_PROGRAMS}"
    conf_dir = "{self._cni_config()}"
  [plugins."{cri}".registry]
    config_path = "{self.folder}/registries"
  [plugins."{cri}".containerd]
    snapshotter = "{self._snapshotter()}"
  [plugins."{cri}".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."{cri}".containerd.runtimes.runc.options]
      SystemdCgroup = false
""")

    def _cni_config(self):
        self._write("cni/10-taas-e2e.conflist", {
            "cniVersion": "0.4.0",
            "name": "taas-e2e",
            "plugins": [
                {
                    "type": "bridge",
                    "bridge": "cni0",
                    "isDefaultGateway": True,
                    "hairpinMode": True,
                    "ipam": {"type": "host-local", "ranges": [[{"subnet": POD_RANGE}]]},
                },
                {"type": "portmap", "capabilities": {"portMappings": True}},
            ],
        })
        return os.path.join(self.folder, "cni")

    def _kubelet_flags(self):
        identity = self.plane.identity("kubelet", f"system:node:{NAME}", "system:nodes")
        return [
            "--config=" + self._kubelet_config(),
            "--kubeconfig=" + identity,
            "--hostname-override=" + NAME,
            "--node-ip=" + self.address,
            "--v=2",
        ]

    def _kubelet_config(self):
        crt, key = self.plane.authority.issue(
            "kubelet-server", f"system:node:{NAME}", "system:nodes", addresses=(self.address,))
        names = self._write("resolv.conf", f"nameserver {dns.SERVICE}\n")
        hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        return self._write("kubelet.json", {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "featureGates": {name: True for name in FEATURE_GATES},
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": self.plane.authority.crt},
            },
            "authorization": {"mode": "Webhook"},
            "tlsCertFile": crt,
            "tlsPrivateKeyFile": key,
            "containerRuntimeEndpoint": "unix://" + SOCKET,
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": "/" + self.cgroup,
            "failCgroupV1": False,
            "failSwapOn": False,
            "clusterDNS": [dns.SERVICE],
            "clusterDomain": dns.DOMAIN,
            "resolvConf": names,
            "maxPods": PODS_MAX,
            "maxOpenFiles": min(OPEN_FILES_MAX, hard_limit),
            "oomScoreAdj": 0,
            # A nearly full disk of a developer evicts nobody, however large it is, and no imported
            # image is removed: there is no registry to fetch it from again.
            "evictionHard": {"memory.available": "100Mi", "nodefs.available": "100Mi",
                             "nodefs.inodesFree": "1%", "imagefs.available": "100Mi"},
            "imageGCHighThresholdPercent": 100,
            "imageGCLowThresholdPercent": 99,
            "volumePluginDir": os.path.join(self.folder, "volume-plugins"),
        })

    def _proxy_config(self):
        identity = self.plane.identity("kube-proxy", "system:kube-proxy")
        return self._write("kube-proxy.json", {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "clientConnection": {"kubeconfig": identity},
            "hostnameOverride": NAME,
            "mode": "nftables",
            "clusterCIDR": POD_RANGE,
            "oomScoreAdj": 0,
            # These would be set for the whole machine.
            "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s",
                          "tcpCloseWaitTimeout": "0s"},
        })

    def _network(self):
        bridge = "net/bridge/bridge-nf-call-iptables"
        if not os.path.exists("/proc/sys/" + bridge):
            # What goes over a bridge passes kube-proxy's rules only with this module.
            subprocess.run(["modprobe", "br_netfilter"], check=False, stderr=subprocess.DEVNULL)
        for name in ("net/ipv4/ip_forward", bridge):
            self.sandbox.run("sh", "-c", f"echo 1 >/proc/sys/{name}")
        # A connect looks for a route before kube-proxy's rules say where it goes.
        self.sandbox.run("ip", "route", "add", SERVICE_RANGE, "dev", "eth0")

    def start(self):
        """Needs a ready API server. Returns when images may be imported; see await_ready()."""
        cgroups.make(self.cgroup)
        self._network()
        self.plane.components["containerd"].start()
        until("containerd to answer", lambda: self.plane.healthy() and self._answers())
        self.plane.components["kubelet"].start()
        self.plane.components["kube-proxy"].start()

    def enforce_network_policies(self):
        """From now on, and for all pods; the bridge alone knows of no policy."""
        self.plane.add("netpol", [
            "--kubeconfig=" + self.plane.identity("netpol", "netpol", "system:masters"),
            "--node=" + NAME,
            "--service-range=" + SERVICE_RANGE,
        ]).start()

    def _ctr(self, *arguments, check=True):
        return self.sandbox.run(programs.path("ctr"), "--address", SOCKET, "--namespace", "k8s.io",
                                *arguments, check=check)

    def _answers(self):
        return "Server:" in self._ctr("version", check=False)

    def await_ready(self):
        until(f"node {NAME} to be Ready", lambda: self.plane.healthy() and self.is_ready())

    def is_ready(self):
        conditions = ('{.status.conditions[?(@.type=="Ready")].status} '
                      '{.spec.taints[*].key}')
        return self.kubectl("get", "node", NAME, "-o", f"jsonpath={conditions}",
                            check=False).strip() == "True"

    def import_image(self, archive):
        """Makes the image of an OCI archive known under the full name that the archive gives."""
        self._ctr("images", "import", os.path.abspath(archive))
        # A name without a registry means Docker Hub's to the kubelet, in full.
        for line in self._ctr("images", "list", "--quiet").split():
            first = line.partition("/")[0]
            if "." not in first and ":" not in first and first not in ("localhost", "sha256"):
                full = "docker.io/" + line if "/" in line else "docker.io/library/" + line
                self._ctr("images", "tag", "--force", line, full)
                self._ctr("images", "remove", line)

    def name_image(self, image, name):
        """Another name, both without the registry, for an image that is there."""
        self._ctr("images", "tag", "--force", "docker.io/" + image, "docker.io/" + name)

    def trust(self, registry, authority):
        """Lets it pull from a registry whose certificate the authority in that file has signed."""
        os.mkdir(os.path.join(self.folder, "registries", registry))
        self._write(f"registries/{registry}/hosts.toml",
                    f'[host."https://{registry}"]\n  ca = "{authority}"\n')

    def description(self):
        """What the log says of the node: the kubelet and its version, as the API has them."""
        info = self.kubectl.json("get", "node", NAME)["status"]["nodeInfo"]
        return (f"node {NAME}: kubelet {info['kubeletVersion']}, "
                f"{info['containerRuntimeVersion']}, {info['osImage']}, "
                f"kernel {info['kernelVersion']}, cgroup "
                f"{'v2' if cgroups.is_unified() else 'v1'}")
