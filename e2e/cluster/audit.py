"""What an API server notes down of requests: the policy that makes it, and what it wrote.

    policy = audit.policy(groups=["system:serviceaccounts:taas-system"])
    flags = audit.flags(audit.write_policy(folder + "/policy.json", policy), folder + "/audit.log")
    for request in audit.requests(folder + "/audit.log", user): …
    audit.by_resource(requests)         {("create", "pods"): 10, ("patch", "tfjobs/status"): 3, …}

A request is noted once: when it has been answered, a watch, which does not end, when it begins.
"""

import collections
import datetime
import json
import os
from typing import NamedTuple

# Far more than a run writes: a file that is begun anew would hide what the first one says.
MEGABYTES_MAX = 2000


class Request(NamedTuple):
    verb: str
    group: str
    resource: str  # With its subresource: "trainingjobs/status"; "/version" of what is no resource.
    namespace: str  # Empty: in all of them, or of something that has none.
    name: str  # Of a create: what the server has answered.
    code: int
    allowed: bool  # By roles; a quota or an admission rule may still have said no.
    credential: str  # Which token or certificate: "JTI=…", "X509SHA256=…".
    received: float  # Seconds since the epoch.
    ended: float
    body: dict  # Of events only.


def policy(groups=(), users=()):
    """Who asked for what: `users`, and accounts in `groups`, of whose events also what they say."""
    # The server takes an empty list for everybody.
    groups, users = list(groups), list(users)
    of_groups = {"userGroups": groups}
    rules = [
        {"level": "Request", **of_groups, "resources": [{"group": "", "resources": ["events"]}]},
        {"level": "Metadata", **of_groups},
    ] if groups else []
    if users:
        rules.append({"level": "Metadata", "users": users})
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [*rules, {"level": "None"}],
    }


def write_policy(path, content):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)
    return path


def flags(policy_file, log):
    return ["--audit-policy-file=" + policy_file, "--audit-log-path=" + log,
            f"--audit-log-maxsize={MEGABYTES_MAX}"]


def seconds(stamp):
    """Since the epoch, of RFC 3339."""
    return datetime.datetime.fromisoformat(stamp).timestamp()


def requests(path, user, since=0.0):
    """Those of `user` so far that came after `since`, in the order of their arrival."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        # The last line may be half written.
        lines = [line for line in file if line.endswith("\n")]
    events = [json.loads(line) for line in lines if user in line]
    found = [request_of(event) for event in events if is_wanted(event, user)]
    return sorted((request for request in found if request.received > since),
                  key=lambda request: request.received)


def is_wanted(event, user):
    once = "ResponseStarted" if event["verb"] == "watch" else "ResponseComplete"
    return event["user"]["username"] == user and event["stage"] == once


def request_of(event):
    place = event.get("objectRef", {})
    extra = event["user"].get("extra", {})
    return Request(
        verb=event["verb"],
        group=place.get("apiGroup", ""),
        resource="/".join(filter(None, (place.get("resource", event["requestURI"]),
                                        place.get("subresource")))),
        namespace=place.get("namespace", ""),
        name=place.get("name", ""),
        code=event.get("responseStatus", {}).get("code", 0),
        allowed=event.get("annotations", {}).get("authorization.k8s.io/decision") == "allow",
        credential=(extra.get("authentication.kubernetes.io/credential-id") or [""])[0],
        received=seconds(event["requestReceivedTimestamp"]),
        ended=seconds(event["stageTimestamp"]),
        body=event.get("requestObject", {}),
    )


def by_resource(found):
    return dict(collections.Counter((request.verb, request.resource) for request in found))


def is_of_resource(request):
    """No page of the server itself, such as /version, which nobody needs a role for."""
    return not request.resource.startswith("/")


def is_deletion(request):
    return request.verb in ("delete", "deletecollection")


def is_watching(request):
    return request.verb in ("list", "watch")
