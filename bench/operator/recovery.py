"""How soon a lost pod is made again, while the operator runs and after it was killed.

    of_lost_pods(contestant, losses=20)        {"repair_ms": […]}
    of_restarts(contestant, kills=5)           {"restart_s": […]}
    of_hand_overs(contestant, ends=3)          {"kill_s": […], "term_s": […]}

The pod goes without grace and its replacement is seen by a watch.
"""

import time

import life
import names
import stage
from observer import PodObserver
from waiting import until

JOB = "hurt"
VICTIM = f"{JOB}-worker-3"
# A lease of 15 s that nobody renews, and what the slowest takes then.
LEAD_LIMIT_S = 60
REPLACED_LIMIT_S = 120


def running_job(plane, contestant, client, pods):
    life.create(client, contestant, JOB, life.REPLICAS)
    pods.until("the job's pods", lambda: len(pods.running) == life.REPLICAS)
    life.await_condition(client, contestant, JOB, "Running")


def delete_victim(client, pods):
    """Returns when the pod has gone."""
    before = pods.created[VICTIM]
    client.call("DELETE", f"/api/v1/namespaces/{names.NAMESPACE}/pods/{VICTIM}",
                {"gracePeriodSeconds": 0})
    pods.until("the pod's end", lambda: pods.gone.get(VICTIM, 0) > before)


def await_replacement(client, contestant, pods, since):
    """When it was created; waits until it runs, so that the next loss finds a whole job."""
    def alive():
        if life.has_condition(client, contestant, JOB, "Failed"):
            raise RuntimeError("the job has failed since a pod of it was deleted")

    pods.until("the replacement", lambda: pods.created[VICTIM] > since and VICTIM in pods.running,
               REPLACED_LIMIT_S, alive)
    return pods.created[VICTIM]


def of_lost_pods(contestant, losses):
    with stage.Stage(life.NODES) as plane:
        contestant.install(plane)
        client = plane.client("clients")
        contestant.start(plane).await_ready()
        with PodObserver(client, names.NAMESPACE) as pods:
            running_job(plane, contestant, client, pods)
            found = []
            for _ in range(losses):
                before = pods.created[VICTIM]
                delete_victim(client, pods)
                made = await_replacement(client, contestant, pods, before)
                found.append((made - pods.gone[VICTIM]) * 1000)
        return {"repair_ms": found}


def of_restarts(contestant, kills):
    """The operator dies by SIGKILL, the pod is lost, and it is started again at once."""
    with stage.Stage(life.NODES) as plane:
        contestant.install(plane)
        client = plane.client("clients")
        running = contestant.start(plane).await_ready()
        with PodObserver(client, names.NAMESPACE) as pods:
            running_job(plane, contestant, client, pods)
            found = []
            for _ in range(kills):
                before = pods.created[VICTIM]
                began = time.monotonic()
                running.kill()
                delete_victim(client, pods)
                running.restart()
                found.append(await_replacement(client, contestant, pods, before) - began)
        return {"restart_s": found}


def of_hand_overs(contestant, ends):
    """Two processes with leader election; the one that leads dies, then is told to end."""
    with stage.Stage(life.NODES) as plane:
        contestant.install(plane)
        client = plane.client("clients")
        pair = [contestant.start(plane, number, elect=True) for number in range(2)]
        with PodObserver(client, names.NAMESPACE) as pods:
            await_leader(pair)
            running_job(plane, contestant, client, pods)
            return {
                "kill_s": [hand_over(client, pods, pair, kill=True) for _ in range(ends)],
                "term_s": [hand_over(client, pods, pair, kill=False) for _ in range(ends)],
            }


def await_leader(pair):
    return until("a leader", lambda: next((one for one in pair if one.leads()), None),
                 LEAD_LIMIT_S, poll_s=0.1)


def hand_over(client, pods, pair, kill):
    leader = await_leader(pair)
    before = pods.created[VICTIM]
    began = time.monotonic()
    leader.kill() if kill else leader.stop()
    delete_victim(client, pods)
    took = await_replacement(client, leader.contestant, pods, before) - began
    leader.restart()
    until("the standby to answer", lambda: "\n" in leader.page("/metrics"), poll_s=0.1)
    return took
