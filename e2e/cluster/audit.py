"""What an API server notes down of requests: the policy that makes it, and what it wrote.

    file = audit.write_policy(folder + "/audit-policy.json", ["system:serviceaccounts:taas-system"])
    flags = audit.flags(file, folder + "/audit.log")
    for request in audit.requests(folder + "/audit.log", user): …

A request is noted when it has been answered, a watch when it begins and again when it ends.
"""

import json
import os
from typing import NamedTuple

# Far more than a run writes: a file that is begun anew would hide what the first one says.
MEGABYTES_MAX = 2000


class Request(NamedTuple):
    verb: str
    group: str
    resource: str  # With its subresource: "trainingjobs/status".
    namespace: str  # Empty: in all of them, or of something that has none.
    name: str
    code: int
    allowed: bool  # By roles; a quota or an admission rule may still have said no.
    credential: str  # Which token or certificate: "JTI=…", "X509SHA256=…".
    received: str  # RFC 3339.
    body: dict  # Of events only.


def policy(groups):
    """Who asked for what, of accounts in `groups`; of events also what they say."""
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [
            {"level": "Request", "userGroups": groups,
             "resources": [{"group": "", "resources": ["events"]}]},
            {"level": "Metadata", "userGroups": groups},
            {"level": "None"},
        ],
    }


def write_policy(path, groups):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(policy(groups), file)
    return path


def flags(policy_file, log):
    return ["--audit-policy-file=" + policy_file, "--audit-log-path=" + log,
            f"--audit-log-maxsize={MEGABYTES_MAX}"]


def requests(path, user):
    """Those of `user` so far, oldest first."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        # The last line may be half written.
        lines = [line for line in file if line.endswith("\n")]
    events = [json.loads(line) for line in lines if user in line]
    return [request_of(event) for event in events
            if event["user"]["username"] == user and "resource" in event.get("objectRef", {})]


def request_of(event):
    place = event["objectRef"]
    extra = event["user"].get("extra", {})
    return Request(
        verb=event["verb"],
        group=place.get("apiGroup", ""),
        resource="/".join(filter(None, (place["resource"], place.get("subresource")))),
        namespace=place.get("namespace", ""),
        name=place.get("name", ""),
        code=event.get("responseStatus", {}).get("code", 0),
        allowed=event["annotations"].get("authorization.k8s.io/decision") == "allow",
        credential=(extra.get("authentication.kubernetes.io/credential-id") or [""])[0],
        received=event["requestReceivedTimestamp"],
        body=event.get("requestObject", {}),
    )
