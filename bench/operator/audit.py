"""What one client asked of the API server, from the server's audit log.

    policy(["system:serviceaccount:bench:operator"])     the log has these clients' requests only
    requests = read(path, user)
    by_resource(requests)                {("create", "pods"): 10, ("patch", "tfjobs/status"): 3, …}
"""

import collections
import datetime
import json

Request = collections.namedtuple("Request", "verb resource namespace name code received ended")


def policy(users):
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        # Each request once; a watch, which does not end, when its answer starts.
        "omitStages": ["RequestReceived"],
        "rules": [{"level": "Metadata", "users": list(users)}, {"level": "None"}],
    }


def seconds(stamp):
    """Since the epoch. Python 3.11 reads the stamp's six digits of a second and its Z."""
    return datetime.datetime.fromisoformat(stamp).timestamp()


def parse(line):
    """The request that a line tells of; None for one that stands in the log already."""
    event = json.loads(line)
    watch = event["verb"] == "watch"
    if event["stage"] != ("ResponseStarted" if watch else "ResponseComplete"):
        return None
    ref = event.get("objectRef", {})
    sub = ref.get("subresource")
    return Request(
        verb=event["verb"],
        resource=ref.get("resource", event["requestURI"]) + (f"/{sub}" if sub else ""),
        namespace=ref.get("namespace", ""),
        # A create does not name what it creates until the server has answered.
        name=ref.get("name", ""),
        code=event.get("responseStatus", {}).get("code", 0),
        received=seconds(event["requestReceivedTimestamp"]),
        ended=seconds(event["stageTimestamp"]),
    )


def read(path, user, since=0.0):
    """Requests of one user that came after `since`, in the order of their arrival."""
    found = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            # The last line may not be whole yet.
            if not line.endswith("\n") or f'"username":"{user}"' not in line:
                continue
            request = parse(line)
            if request is not None and request.received >= since:
                found.append(request)
    return sorted(found, key=lambda request: request.received)


def by_resource(requests):
    return dict(collections.Counter((request.verb, request.resource) for request in requests))


def is_deletion(request):
    return request.verb in ("delete", "deletecollection")


def is_watching(request):
    return request.verb in ("list", "watch")
