"""What an operator costs when there is nothing to do: jobs that have all ended, or none.

    of_operator(contestant, jobs=2000)      {"requests": […], "cpu_s": […], "rss_mb": …}

Their lives are real: each job has one pod, which runs and ends with 0.
"""

import time

import audit
import launch
import life
import names
import rows
import stage
import usage
from observer import PodObserver
from progress import Progress
from waiting import until

# A node of kwok takes 110 pods.
PODS_PER_NODE = 100
MINUTES = 3
# After the last job's end what follows it must have gone by: TaaS looks again after 10 s.
QUIET_S = 20
END_LIMIT_S = 900


def succeeded(client, contestant):
    return sum(
        any(condition["type"] == "Succeeded" and condition["status"] == "True"
            for condition in job.get("status", {}).get("conditions", []))
        for job in client.list(contestant.jobs_path)
    )


def live(contestant, client, running, size):
    with PodObserver(client, names.NAMESPACE) as pods:
        launch.submit(client, contestant, size)
        launch.await_pods(pods, size.jobs, time.monotonic(), Progress(
            client, contestant, pods, running.component.check))
        life.finish(client, contestant, list(pods.running))


def of_operator(contestant, jobs, minute_s=60):
    size = rows.Size(jobs=jobs, replicas=1, nodes=jobs // PODS_PER_NODE + 1)
    with stage.Stage(size.nodes, audited=("operator",)) as plane:
        contestant.install(plane)
        client = plane.client("clients")
        running = contestant.start(plane).await_ready()
        if jobs:
            live(contestant, client, running, size)
        until(f"{jobs} jobs to succeed", lambda: succeeded(client, contestant) == jobs,
              END_LIMIT_S, poll_s=2)
        time.sleep(QUIET_S)
        sample = {"requests": [], "watches": [], "cpu_s": []}
        for _ in range(MINUTES):
            since, cpu_s = time.time(), usage.cpu_s(running.pid)
            time.sleep(minute_s)
            sample["cpu_s"].append(usage.cpu_s(running.pid) - cpu_s)
            requests = audit.requests(plane.audit_log, names.user("operator"), since)
            watches = sum(map(audit.is_watching, requests))
            sample["watches"].append(watches)
            sample["requests"].append(len(requests) - watches)
        sample["rss_mb"] = usage.rss_mb(running.pid)
        sample["peak_mb"] = usage.peak_mb(running.pid)
        return sample
