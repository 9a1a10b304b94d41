"""What an operator asks of the API server for one job, from its creation to its end and after.

    of_operator(contestant, 3)   {"requests": {"create pods": 10, …}, "first_pod_ms": […]}

One job at a time, so that what is counted and timed is that job's.
"""

import json
import time

import api_client
import audit
import manifests
import names
import stage
from observer import PodObserver
from waiting import until

REPLICAS = 10
NODES = 3
# The first pays for connections. Of those after it the one counts that took fewest requests: where
# something else computes, pods begin to run one after the other, each with something to note.
WARM_UP = 1
# Whatever follows a job's end comes within this time: what TaaS looks at again, after 10 s.
QUIET_S = 12
CONDITION_LIMIT_S = 60
JOBS = ("tfjobs", "trainingjobs")


def create(client, contestant, name, replicas):
    client.call("POST", contestant.jobs_path,
                contestant.manifest(name, names.NAMESPACE, manifests.roles(replicas)))


def finish(client, contestant, ended):
    """Says of pods what a kubelet would when their programs have ended with 0."""
    body = json.dumps(manifests.succeeded(contestant.container)).encode()
    with api_client.Fleet(client, 8) as fleet:
        fleet.run([("PATCH", f"/api/v1/namespaces/{names.NAMESPACE}/pods/{name}/status", body,
                    api_client.MERGE_PATCH) for name in ended])


def has_condition(client, contestant, name, kind):
    status = client.call("GET", f"{contestant.jobs_path}/{name}").get("status", {})
    return any(condition["type"] == kind and condition["status"] == "True"
               for condition in status.get("conditions", []))


def await_condition(client, contestant, name, kind):
    until(f"{name} to be {kind}", lambda: has_condition(client, contestant, name, kind),
          CONDITION_LIMIT_S, poll_s=0.05)


def pods_of(pods, job):
    return {name for name in pods.running if name.startswith(job + "-")}


def live(client, contestant, pods, name):
    """One quiet life: all pods run, then the workers and last the chief end well."""
    create(client, contestant, name, REPLICAS)
    pods.until(f"the pods of {name}", lambda: len(pods_of(pods, name)) == REPLICAS)
    await_condition(client, contestant, name, "Running")
    running = pods_of(pods, name)
    finish(client, contestant, [pod for pod in running if "-worker-" in pod])
    finish(client, contestant, [f"{name}-chief-0"])
    # Parameter servers are the operator's to end.
    await_condition(client, contestant, name, "Succeeded")


def of_operator(contestant, lives):
    """Requests of one life by resource and verb; deletions and watches are told apart."""
    with stage.Stage(NODES, audited=("operator",)) as plane:
        contestant.install(plane)
        client = plane.client("clients")
        contestant.start(plane).await_ready()
        began = []
        with PodObserver(client, names.NAMESPACE) as pods:
            for index in range(WARM_UP + lives):
                began.append(time.time())
                live(client, contestant, pods, f"life-{index}")
                time.sleep(QUIET_S)
        requests = audit.requests(plane.audit_log, names.user("operator"))
        return quietest(requests, began[WARM_UP:])


def quietest(requests, began):
    """What the life took that took least, of those that began at these times."""
    ends = [*began[1:], float("inf")]
    lives = [[request for request in requests if since <= request.received < end]
             for since, end in zip(began, ends)]
    return min(map(summary, lives), key=lambda life: life["total"])


def summary(requests):
    counted = [request for request in requests
               if not audit.is_deletion(request) and not audit.is_watching(request)]
    return {
        "total": len(counted),
        "events": sum(request.resource == "events" for request in counted),
        "requests": {f"{verb} {resource}": count for (verb, resource), count
                     in sorted(audit.by_resource(requests).items())},
    }


def of_first_pods(contestant, jobs):
    """From the answer to a job's creation to the arrival of its first pod's, and to that's end."""
    with stage.Stage(NODES, audited=("operator", "clients")) as plane:
        contestant.install(plane)
        client = plane.client("clients")
        contestant.start(plane).await_ready()
        with PodObserver(client, names.NAMESPACE) as pods:
            for index in range(jobs):
                create(client, contestant, f"j{index}", 1)
                pods.until("its pod", lambda done=index + 1: len(pods.running) == done)
        return delays(plane.audit_log)


def delays(path):
    """In ms, of each job's first pod; jobs follow each other, so the next pod is a job's own.

    `server_ms`: of the time until the pod exists, what the API server needs for the requests that
    must come before: no operator that notes what it does before it does it can be faster.
    """
    made = [request for request in audit.requests(path, names.user("clients"))
            if request.verb == "create" and request.resource in JOBS]
    asked = audit.requests(path, names.user("operator"))
    pods = [request for request in asked
            if request.verb == "create" and request.resource == "pods"]
    found = {"asked_ms": [], "exists_ms": [], "server_ms": []}
    for job in made:
        first = next(pod for pod in pods if pod.received > job.received)
        before = [request for request in asked if request.verb == "patch"
                  and request.resource in JOBS and job.received < request.received
                  and request.ended <= first.received]
        found["asked_ms"].append((first.received - job.ended) * 1000)
        found["exists_ms"].append((first.ended - job.ended) * 1000)
        found["server_ms"].append(1000 * sum(request.ended - request.received
                                             for request in (*before, first)))
    return found
