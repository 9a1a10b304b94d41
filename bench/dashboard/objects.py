"""Jobs and their pods as an operator and kubelets would have left them, in a cluster without both.

The first job and the first pod are written through the API, status and all; the others are copies
of what the API server stored, straight into etcd: 55,000 objects in half a minute instead of ten.

    jobs = Objects(plane, jobs=5000, pods=50000).write()        (namespace, name) of each
"""

import base64
import json
import random
import uuid

from plane import Refused

# Teams of a cluster of this size; jobs are spread over them evenly.
NAMESPACES = 20
NODES = 500  # A hundred pods on each.
GPUS_OF_NODE = 8  # As the usual machine has.
# Objects in memory at once: of pods tens of MB.
BATCH = 5_000
GROUP = "/apis/taas.dev/v1"
STARTED = "2026-01-01T00:00:00Z"
PLACES = [("chief", 0), ("ps", 0)]  # Workers follow.
CONDITIONS = [
    {"type": kind, "status": "True", "reason": "TrainingJob" + kind, "message": "as it should be",
     "lastTransitionTime": STARTED} for kind in ("Created", "Scheduled", "Running")]


def namespace_of(number):
    return f"team-{number % NAMESPACES:02d}"


def name_of(number):
    return f"train-{number:05d}"


def uid_of(kind, number):
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{kind}-{number}"))


def job(workers):
    return {
        "apiVersion": "taas.dev/v1", "kind": "TrainingJob",
        "metadata": {"name": name_of(0), "labels": {"team": "vision", "model": "mlp"},
                     "annotations": {"taas.dev/owner": "somebody@example.com"}},
        "spec": {
            "trainer": {"model": {"name": "mlp", "hidden": [500]}, "data": {"format": "generated"},
                        "batchSize": 100, "maxSteps": 100_000},
            "roles": {"chief": {"replicas": 1}, "ps": {"replicas": 1},
                      "worker": {"replicas": workers, "gpus": 1}}}}


def job_status(workers):
    counts = {role: {"desired": count, "active": count, "ready": count}
              for role, count in (("chief", 1), ("ps", 1), ("worker", workers))}
    return {"state": "Running", "ready": f"{workers + 2}/{workers + 2}", "conditions": CONDITIONS,
            "replicaStatuses": counts, "gpus": workers, "attempt": 1, "startTime": STARTED,
            "successPolicy": "Chief", "progress": {
                "step": 1000, "maxSteps": 100_000, "percent": 1, "examplesPerSecond": 51_234.5,
                "loss": 0.6931, "etaSeconds": 4321}}


def labels(number, role, index):
    return {"taas.dev/job-name": name_of(number), "taas.dev/job-uid": uid_of("job", number),
            "taas.dev/role": role, "taas.dev/index": str(index), "taas.dev/attempt": "1",
            "taas.dev/pod-number": "1"}


def owner(number):
    return {"apiVersion": "taas.dev/v1", "kind": "TrainingJob", "name": name_of(number),
            "uid": uid_of("job", number), "controller": True, "blockOwnerDeletion": True}


def pod():
    env = [{"name": f"TAAS_{n}", "value": "of some length, as values are"} for n in range(8)]
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "template", "labels": labels(0, "worker", 0),
                     "ownerReferences": [owner(0)]},
        "spec": {"restartPolicy": "Never", "nodeName": "node-000", "containers": [{
            "name": "trainer", "image": "registry.example.com/taas-trainer:1", "env": env,
            "ports": [{"name": "training", "containerPort": 2222},
                      {"name": "status", "containerPort": 8080}],
            "resources": {"requests": {"cpu": "1", "memory": "1Gi"},
                          "limits": {"nvidia.com/gpu": 1}}}]}}


def pod_status():
    return {"phase": "Running", "podIP": "10.0.0.1", "startTime": STARTED,
            "conditions": [{"type": kind, "status": "True", "lastTransitionTime": STARTED}
                           for kind in ("PodScheduled", "Initialized", "ContainersReady",
                                        "Ready")],
            "containerStatuses": [{
                "name": "trainer", "image": "registry.example.com/taas-trainer:1",
                "imageID": "", "ready": True, "started": True, "restartCount": 0,
                "containerID": "containerd://0", "state": {"running": {"startedAt": STARTED}}}]}


def node(number):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{number:03d}"}}


def node_status():
    gpus = {"cpu": "64", "memory": "512Gi", "pods": "250", "nvidia.com/gpu": str(GPUS_OF_NODE)}
    return {"capacity": gpus, "allocatable": gpus, "conditions": [
        {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "",
         "lastHeartbeatTime": STARTED, "lastTransitionTime": STARTED}]}


def put(key, value):
    text = json.dumps(value, separators=(",", ":"))
    return {"key": base64.b64encode(key.encode()).decode(),
            "value": base64.b64encode(text.encode()).decode()}


class Objects:

    def __init__(self, plane, jobs, pods):
        self.plane = plane
        self.client = plane.client()
        self.jobs = jobs
        self.places = PLACES + [("worker", n) for n in range(pods // jobs - len(PLACES))]
        self.workers = len(self.places) - len(PLACES)
        self.random = random.Random(1)

    def write(self):
        for number in range(NAMESPACES):
            self.client.call("POST", "/api/v1/namespaces",
                             {"metadata": {"name": namespace_of(number)}})
        self.store(self.sample("/api/v1/nodes", node(0), node_status()), "/registry/minions/",
                   range(1, NODES), self.node_copy)
        self.store(self.sample(f"{GROUP}/namespaces/default/trainingjobs", job(self.workers),
                               job_status(self.workers)),
                   "/registry/taas.dev/trainingjobs/", range(self.jobs), self.job_copy)
        self.store(self.sample("/api/v1/namespaces/default/pods", pod(), pod_status()),
                   "/registry/pods/", range(self.jobs * len(self.places)), self.pod_copy)
        # They belong to no job of ours.
        self.client.call("DELETE", f"{GROUP}/namespaces/default/trainingjobs/{name_of(0)}")
        self.client.call("DELETE", "/api/v1/namespaces/default/pods/template?gracePeriodSeconds=0")
        self.check()
        return [(namespace_of(n), name_of(n)) for n in range(self.jobs)]

    def sample(self, path, body, status):
        """The text of an object as the API server keeps it."""
        self.client.call("POST", path, body)
        stored = self.client.patch(f"{path}/{body['metadata']['name']}/status", {"status": status})
        stored["metadata"].pop("resourceVersion")
        return json.dumps(stored)

    def store(self, sample, prefix, numbers, change):
        batch = []
        for number in numbers:
            copy = json.loads(sample)
            change(copy, number)
            meta = copy["metadata"]
            batch.append(put(prefix + "/".join(
                part for part in (meta.get("namespace"), meta["name"]) if part), copy))
            if len(batch) == BATCH:
                self.plane.put_in_etcd(batch)
                batch = []
        self.plane.put_in_etcd(batch)

    def node_copy(self, copy, number):
        copy["metadata"].update(name=f"node-{number:03d}", uid=uid_of("node", number))

    def job_copy(self, copy, number):
        copy["metadata"].update(name=name_of(number), namespace=namespace_of(number),
                                uid=uid_of("job", number))
        # Rows that were all the same would be packed into less than real ones.
        copy["metadata"]["annotations"]["taas.dev/owner"] = f"user-{number % 97}@example.com"
        copy["status"]["progress"].update(
            step=self.random.randrange(100_000), percent=self.random.randrange(100),
            examplesPerSecond=self.random.uniform(1e3, 1e5), loss=self.random.random(),
            etaSeconds=self.random.randrange(10_000))

    def pod_copy(self, copy, number):
        of_job, place = divmod(number, len(self.places))
        role, index = self.places[place]
        copy["metadata"].update(
            name=f"{name_of(of_job)}-{role}-{index}", namespace=namespace_of(of_job),
            uid=uid_of("pod", number), labels=labels(of_job, role, index),
            ownerReferences=[owner(of_job)])
        copy["spec"]["nodeName"] = f"node-{number % NODES:03d}"

    def check(self):
        """That the API server has all of it."""
        for path, wanted in ((f"{GROUP}/trainingjobs", self.jobs),
                             ("/api/v1/pods", self.jobs * len(self.places))):
            answer = self.client.call("GET", path + "?limit=1")
            found = 1 + answer["metadata"].get("remainingItemCount", 0)
            if found != wanted:
                raise Refused(f"GET {path}: {found} objects instead of {wanted}")


def install(plane, crds):
    """The kinds, and what the users of the page may do."""
    plane.kubectl("apply", "--server-side", "-f", crds)
    plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
    plane.kubectl("create", "clusterrolebinding", "bench-users", "--clusterrole=cluster-admin",
                  "--group=bench-users")
