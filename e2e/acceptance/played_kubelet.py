"""The kubelet of a namespace's pods, played: none of them runs a program that could end.

    kubelet = PlayedKubelet(api)
    kubelet.start()
    kubelet.end("mnist-worker-0", 137, reason="OOMKilled")
    kubelet.evict("mnist-ps-0")
    kubelet.stop()

By itself it runs pods that have a node and confirms deletions, those of the very pod that was told
to go. What a test tells it comes on top.

Ownership: a thread with a connection of its own, which ends WATCH_S after stop at the latest.
Threads: all methods are for one. Errors: stop raises what ended the thread before its time.
"""

import datetime
import threading

from namespace_api import Refused

KILLED = 137
# Between two looks at all pods: short, as a thread that waits for changes hears of nothing else.
WATCH_S = 3
# Nobody is there: see fake_nodes.
ADDRESSES = "10.245"
# Gone already, or another pod's name by now.
TOO_LATE = (404, 409)


def rfc3339(ago_s=0):
    moment = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=ago_s)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def ended(code, reason="", message="", ago_s=0):
    """The state of a container that has ended."""
    known = reason or ("Completed" if code == 0 else "Error")
    return {"terminated": {"exitCode": code, "reason": known, "message": message,
                           "startedAt": rfc3339(ago_s + 1), "finishedAt": rfc3339(ago_s)}}


class PlayedKubelet:

    def __init__(self, api):
        self.api = api
        self.own = api.another()
        self.stopped = threading.Event()
        self.error = None

    def start(self):
        threading.Thread(target=self._play, daemon=True).start()

    def stop(self):
        self.stopped.set()
        if self.error is not None:
            raise self.error

    def _play(self):
        try:
            while not self.stopped.is_set():
                since = self.own.version("pods")
                for pod in self.own.list("pods").values():
                    self._follow(pod)
                for change in self.own.watch("pods", since, WATCH_S):
                    if change.kind != "DELETED":
                        self._follow(change.object)
        except Exception as error:
            self.error = error
        finally:
            self.own.close()

    def _follow(self, pod):
        try:
            if "deletionTimestamp" in pod["metadata"]:
                self.own.delete("pods", pod["metadata"]["name"], gracePeriodSeconds=0,
                                preconditions={"uid": pod["metadata"]["uid"]})
            elif pod["spec"].get("nodeName") and "startTime" not in pod["status"]:
                self._run(pod)
        except Refused as refused:
            if refused.code not in TOO_LATE:
                raise

    def _run(self, pod):
        known = ("Initialized", "Ready", "ContainersReady")
        high, low = bytes.fromhex(pod["metadata"]["uid"][:4])
        self.own.patch("pods", pod["metadata"]["name"], {
            "metadata": {"uid": pod["metadata"]["uid"]},
            "status": {
                "phase": "Running",
                "startTime": rfc3339(),
                "podIP": f"{ADDRESSES}.{high}.{low}",
                "podIPs": [{"ip": f"{ADDRESSES}.{high}.{low}"}],
                "conditions": [*pod["status"].get("conditions", []), *(
                    {"type": kind, "status": "True", "lastTransitionTime": rfc3339()}
                    for kind in known)],
                "containerStatuses": [{
                    "name": container["name"], "image": container["image"], "imageID": "",
                    "ready": True, "started": True, "restartCount": 0,
                    "state": {"running": {"startedAt": rfc3339()}},
                } for container in pod["spec"]["containers"]],
            },
        }, "status")

    # What a test tells it.

    def _write(self, pod, status):
        # Not of a successor that has come meanwhile.
        self.api.patch("pods", pod["metadata"]["name"],
                       {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}, "status")

    def _containers(self, pod, **changes):
        """The first container's status changed: it is the job's, the others are beside it."""
        first, *others = pod["status"]["containerStatuses"]
        return [{**first, **changes}, *others]

    def end(self, name, code, reason="", message="", ago_s=0):
        """The container ends, and its pod with it where its policy starts it no more."""
        pod = self.api.get("pods", name)
        policy = pod["spec"]["restartPolicy"]
        if policy == "Always" or (policy == "OnFailure" and code != 0):
            return self._start_again(pod, code, reason)
        state = ended(code, reason, message, ago_s)
        return self._write(pod, {
            "phase": "Failed" if code else "Succeeded",
            "conditions": self._not_ready(pod, "PodCompleted"),
            "containerStatuses": self._containers(pod, ready=False, started=False, state=state),
        })

    def _start_again(self, pod, code, reason):
        """As a node does by itself, in the same pod."""
        before = pod["status"]["containerStatuses"][0]
        self._write(pod, {"containerStatuses": self._containers(
            pod, restartCount=before["restartCount"] + 1, lastState=ended(code, reason),
            state={"running": {"startedAt": rfc3339()}})})

    def _not_ready(self, pod, reason):
        return [{**condition, "status": "False", "reason": reason}
                if condition["type"] in ("Ready", "ContainersReady") else condition
                for condition in pod["status"].get("conditions", [])]

    def unready(self, name):
        """It runs, and its readiness probe fails."""
        pod = self.api.get("pods", name)
        self._write(pod, {"conditions": self._not_ready(pod, "ContainersNotReady"),
                          "containerStatuses": self._containers(pod, ready=False)})

    def evict(self, name, reason="Evicted", message="The node was low on resource: memory."):
        """The node itself takes the pod away, whose object stays."""
        pod = self.api.get("pods", name)
        self._write(pod, {"phase": "Failed", "reason": reason, "message": message,
                          "conditions": self._not_ready(pod, "PodFailed"),
                          "containerStatuses": self._containers(
                              pod, ready=False, started=False, state=ended(KILLED))})

    def turn_away(self, name, reason="OutOfcpu"):
        """The node does not admit the pod: no container ever was."""
        pod = self.api.get("pods", name)
        self._write(pod, {"phase": "Failed", "reason": reason, "containerStatuses": None,
                          "message": "Pod was rejected: Node didn't have enough resource: cpu"})

    def hold_up(self, name, reason, message):
        """The container waits for something that does not come, such as its image."""
        pod = self.api.get("pods", name)
        waits = {"waiting": {"reason": reason, "message": message}}
        self._write(pod, {"phase": "Pending", "conditions": self._not_ready(pod, reason),
                          "containerStatuses": self._containers(pod, ready=False, started=False,
                                                                state=waits)})
