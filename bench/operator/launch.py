"""From the creation of jobs until their pods exist and run, and what that costs the operator.

    sample, objects = of_operator(contestant, rows.Size(jobs=200, replicas=10, nodes=100))
    sample = of_bare_clients(contestant, size, bare.without_words(objects))
    sample = of_telling_clients(contestant, size, objects)
"""

import json
import os
import time

import api_client
import bare
import manifests
import names
import programs
import stage
import usage
from observer import PodObserver
from progress import Progress
from waiting import TookTooLong, until

# Users send their jobs by more than one connection, too.
SUBMITTERS = 8
# Requests of a bare client under way; as the operator's by default.
AT_ONCE = 16
# What the operator watches of pods and services.
OURS = "taas.dev/job-name"


def job_names(size, prefix="job"):
    return [f"{prefix}-{index:05d}" for index in range(size.jobs)]


def submit(client, contestant, size, prefix="job"):
    counts = manifests.roles(size.replicas)
    with api_client.Fleet(client, SUBMITTERS) as fleet:
        fleet.post([
            (contestant.jobs_path,
             json.dumps(contestant.manifest(name, names.NAMESPACE, counts)).encode())
            for name in job_names(size, prefix)
        ])


def threads(pid):
    """Seconds of CPU of the operator's threads."""
    return {f"the operator's “{name}”": cpu_s for name, cpu_s in usage.thread_cpu_s(pid).items()}


def took(now, before):
    """Seconds of CPU since."""
    return {name: round(cpu_s - before.get(name, 0), 2) for name, cpu_s in now.items()}


def await_pods(pods, total, began, check):
    """Seconds until all exist, and until all run."""
    pods.until(f"{total} pods", lambda: len(pods.created) >= total, unless=check)
    pods.until(f"{total} running pods", lambda: len(pods.running) >= total, unless=check)
    return max(pods.created.values()) - began, max(pods.running.values()) - began


def of_operator(contestant, size, keep=False):
    """A sample, and with `keep` the objects that it made."""
    total = size.jobs * size.replicas
    with stage.Stage(size.nodes) as plane:
        contestant.install(plane)
        client = plane.client("clients")
        running = contestant.start(plane).await_ready()
        pid = running.pid
        sample = {"idle_mb": usage.rss_mb(pid)}
        with PodObserver(client, names.NAMESPACE) as pods:
            before = {**plane.cpu_s(), **threads(pid)}
            began = time.monotonic()
            submit(client, contestant, size)
            sample["submitted_s"] = time.monotonic() - began
            sample["exist_s"], sample["run_s"] = await_pods(
                pods, total, began,
                Progress(client, contestant, pods, running.component.check))
            sample["programs"] = took({**plane.cpu_s(), **threads(pid)}, before)
            sample["watch_breaks"] = pods.breaks
        sample["cpu_s"] = usage.cpu_s(pid)
        sample["rss_mb"] = usage.rss_mb(pid)
        sample["peak_mb"] = usage.peak_mb(pid)
        return sample, objects(client, contestant) if keep else []


def objects(client, contestant):
    """When all jobs have been told of; none, and no trials with them, where that takes too long."""
    try:
        until("all jobs to be Running", lambda: all(
            job.get("status", {}).get("state") == "Running"
            for job in client.list(contestant.jobs_path)))
    except TookTooLong as error:
        print(f"{contestant.name}: no trials with its objects: {error}", flush=True)
        return []
    return bare.objects_of(client, contestant.jobs_path)


def start_bare_client(stage, lines):
    """It does what they say, and stays."""
    wanted = os.path.join(stage.instance.work, "wanted")
    with open(wanted, "wb") as file:
        file.writelines(lines)
    stage.kubeconfig("bare")
    authority = stage.plane.authority
    return stage.start("bare client", [
        programs.ours("creator", by="make bench-tools"), stage.plane.server,
        authority.file("bare.crt"), authority.file("bare.key"), wanted, str(AT_ONCE)])


def of_bare_clients(contestant, size, items, watches=(), meanwhile=lambda client: None):
    """The same objects for the same jobs, which are there already and which nobody works on."""
    with stage.Stage(size.nodes) as plane:
        contestant.install(plane)
        client = plane.client("clients")
        submit(client, contestant, size)
        uids = {job["metadata"]["name"]: job["metadata"]["uid"]
                for job in client.list(contestant.jobs_path)}
        total = size.jobs * size.replicas
        with PodObserver(client, names.NAMESPACE) as pods:
            before = plane.cpu_s()
            began = time.monotonic()
            creator = start_bare_client(
                plane, [*watches, *(bare.renewed(item, uids) for item in items)])
            meanwhile(client)
            exist_s, run_s = await_pods(
                pods, total, began, Progress(client, contestant, pods, creator.check))
            programs = took(plane.cpu_s(), before)
        return {"exist_s": exist_s, "run_s": run_s, "objects": len(items), "programs": programs}


def of_telling_clients(contestant, size, items):
    """Meanwhile users make as many jobs as with an operator: others, since a pod names its job's
    uid, which nobody can choose."""
    ours = {"labelSelector": OURS}
    watches = [bare.heard(contestant.jobs_path), bare.heard("/api/v1/pods", **ours),
               bare.heard("/api/v1/services", **ours)]
    return of_bare_clients(contestant, size, items, watches,
                           lambda client: submit(client, contestant, size, "other"))
