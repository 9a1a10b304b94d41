"""What a kubelet reports of containers, played: pods of kwok run no program that could end.

    kubelet = PlayedKubelet(api)
    kubelet.end("mnist-worker-0", 137, reason="OOMKilled")
    kubelet.evict("mnist-ps-0")

kwok makes pods Running and Ready and takes deleted ones away; nothing undoes what is written here.
"""

import datetime

KILLED = 137


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
