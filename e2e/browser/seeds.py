"""Jobs in all states for the pages to show, on a local cluster of two nodes with four GPUs each.

    jobs = seeds.plant(cluster)          # {"running": "digits", "failed": "tokenize", …}
"""

import json

from waiting import until

LIMIT_S = 120
FOREVER = 2_000_000_000
# Enough for curves; what trains forever goes on in the background.
SEEN_STEPS = 2000
NAMESPACE = "default"
# Nothing is ever in it.
QUIET = "quiet"
TALK = "i=0; while :; do i=$((i+1)); echo \"batch $i of {}\"; sleep 2; done"
HUNGRY = "echo loading all pages at once; sleep 2; tail /dev/zero"
# What tests ask for: the name of the job that is so, and its kind.
JOBS = {"running": "digits", "done": "first-try", "failed": "tokenize", "suspended": "ablation",
        "unschedulable": "pretrain", "crashing": "embed-pages", "gpus": "finetune",
        "tfjob": "ranking", "gone": "old-run"}


def job(name, owner, **spec):
    return {"apiVersion": "taas.dev/v1", "kind": "TrainingJob",
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"team": owner},
                         "annotations": {"taas.dev/owner": owner}}, "spec": spec}


def template(script, container="trainer", **more):
    return {"spec": {"containers": [{"name": container, "image": "busybox:1.37",
                                     "command": ["sh", "-c", script], **more}]}}


def own(name, owner, script, workers=1, role=None, **spec):
    worker = {"replicas": workers, "template": template(script), **(role or {})}
    return job(name, owner, roles={"worker": worker}, **spec)


def generated(name, owner, steps, **spec):
    trainer = {"model": {"name": "mlp", "hidden": [100]},
               "data": {"format": "generated", "generated": {
                   "examples": 10000, "testExamples": 1000, "features": 20, "classes": 10}},
               "optimizer": {"name": "sgd", "learningRate": 0.1},
               "batchSize": 100, "maxSteps": steps}
    roles = {"chief": {"replicas": 1}, "ps": {"replicas": 1}, "worker": {"replicas": 2}}
    return job(name, owner, trainer=trainer, roles=roles, **spec)


def digits():
    files = {part: {"images": f"/data/{part}-images.gz", "labels": f"/data/{part}-labels.gz"}
             for part in ("train", "test")}
    trainer = {"model": {"name": "mlp", "hidden": [300]}, "data": {"format": "idx", **files},
               "optimizer": {"name": "adam", "learningRate": 0.0002},
               "batchSize": 64, "maxSteps": FOREVER,
               "summaries": {"dir": "/out/summaries", "everySteps": 200},
               "checkpoint": {"dir": "/out/checkpoints", "everySteps": 1000}}
    volumes = [{"name": name, "mountPath": "/" + name,
                "source": {"persistentVolumeClaim": {"claimName": "mnist-" + name}}}
               for name in ("data", "out")]
    roles = {"chief": {"replicas": 1}, "ps": {"replicas": 1}, "worker": {"replicas": 1}}
    return job(JOBS["running"], "ada", trainer=trainer, roles=roles, volumes=volumes)


def diverging(name, owner):
    """The first step leads far away; it trains on with a loss of some hundreds."""
    spec = digits()["spec"]
    for kept in ("summaries", "checkpoint"):
        del spec["trainer"][kept]
    spec["trainer"].update(strategy={"type": "Local"}, model={"name": "mlp", "hidden": [100]},
                           optimizer={"name": "sgd", "learningRate": 1000})
    spec.update(roles={"worker": {"replicas": 1}}, volumes=spec["volumes"][:1])
    return job(name, owner, **spec)


def ranking():
    replicas = {role: {"replicas": count, "template": template(TALK.format(role), "tensorflow")}
                for role, count in (("Chief", 1), ("PS", 1), ("Worker", 3))}
    return {"apiVersion": "kubeflow.org/v1", "kind": "TFJob",
            "metadata": {"name": JOBS["tfjob"], "namespace": NAMESPACE,
                         "annotations": {"taas.dev/owner": "grace"}},
            "spec": {"tfReplicaSpecs": replicas}}


def all_jobs():
    too_much = {"resources": {"limits": {"memory": "64Mi"}}}
    return [
        digits(),
        generated(JOBS["done"], "ada", 2000),
        own(JOBS["failed"], "linus", "echo reading /corpus; sleep 1; "
            "echo 'vocab.txt: no such file' >&2; exit 1"),
        generated(JOBS["suspended"], "grace", FOREVER, suspend=True),
        own(JOBS["unschedulable"], "linus", TALK.format("pretrain"), 2, {"gpus": 64}),
        own(JOBS["crashing"], "grace", HUNGRY, 1, too_much, backoffLimit=1000),
        own(JOBS["gpus"], "ada", TALK.format("finetune"), 3, {"gpus": 1}),
        own("vision", "grace", TALK.format("vision"), 1, {"gpus": 3}),
        ranking(),
        generated(JOBS["gone"], "linus", 2000),
    ]


def plant(cluster):
    """Until each is as it shall be seen."""
    cluster.kubectl("create", "namespace", QUIET)
    cluster.apply(all_jobs())

    def states():
        found = json.loads(cluster.kubectl("get", "tj,tfjob", "-n", NAMESPACE, "-o", "json"))
        return {it["metadata"]["name"]: it.get("status", {}) for it in found["items"]}

    def are(wanted):
        now = states()
        return all(now.get(JOBS[which], {}).get("state") == state or
                   any(it["type"] == state and it["status"] == "True"
                       for it in now.get(JOBS[which], {}).get("conditions", []))
                   for which, state in wanted.items())

    until("jobs in all states", lambda: are({
        "running": "Running", "done": "Succeeded", "failed": "Failed", "suspended": "Suspended",
        "gpus": "Running", "tfjob": "Running", "gone": "Succeeded"}), LIMIT_S)
    cluster.kubectl("delete", "tj", JOBS["gone"], "-n", NAMESPACE)

    def has_curves():
        return states()[JOBS["running"]].get("progress", {}).get("step", 0) >= SEEN_STEPS

    until("curves", has_curves, LIMIT_S)
    cluster.calm()
    return JOBS
