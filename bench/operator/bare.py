"""A bare client (creator.cc): it creates the objects which an operator made for the same jobs, with
as many requests under way, and decides nothing. A telling client also writes what the operator
wrote of the jobs themselves, its note of what it is about to make and their status once all run,
and hears what an operator has to hear: what becomes of the jobs, the pods and the services.

    kept = objects_of(client, jobs_path)            after an operator has made them
    kept = without_words(kept)                      what is not told
    line = renewed(kept[0], uids_of_new_jobs)       for creator.cc
    line = heard("/api/v1/pods")                    likewise
"""

import collections
import json
import urllib.parse

import names

Kept = collections.namedtuple("Kept", "method path job uid body")
CREATE, WRITE, HEAR = "POST", "PATCH", "GET"
LEDGER = "taas.dev/ledger"

# What the server has added, and takes from nobody or makes anew.
SERVER_METADATA = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")


def creatable(found):
    """The object as a client would send it."""
    metadata = {key: value for key, value in found["metadata"].items()
                if key not in SERVER_METADATA}
    rest = {key: value for key, value in found.items() if key not in ("metadata", "status")}
    if "spec" in rest:
        rest["spec"] = {key: value for key, value in rest["spec"].items() if key != "nodeName"}
    return {**rest, "apiVersion": "v1", "metadata": metadata}


def kept(kind, found):
    """What create needs; the owner is the job."""
    item = creatable({**found, "kind": kind})
    (owner,) = found["metadata"]["ownerReferences"]
    path = f"/api/v1/namespaces/{found['metadata']['namespace']}/{kind.lower()}s"
    return Kept(CREATE, path, owner["name"], owner["uid"], json.dumps(item).encode())


def words(jobs_path, job):
    """Of a job whose replicas run: what was written before them, and after."""
    name, uid = job["metadata"]["name"], job["metadata"]["uid"]
    note = {"metadata": {"annotations": {LEDGER: job["metadata"]["annotations"][LEDGER]}}}
    return [Kept(WRITE, f"{jobs_path}/{name}{part}", name, uid, json.dumps(body).encode())
            for part, body in (("", note), ("/status", {"status": job["status"]}))]


def objects_of(client, jobs_path, namespace=names.NAMESPACE):
    """Services and ConfigMaps come before the pods of their job, as operators make them, and its
    status comes last."""
    told = [words(jobs_path, job) for job in client.list(jobs_path)]
    found = [note for note, _ in told]
    for kind in ("Service", "ConfigMap", "Pod"):
        items = client.list(f"/api/v1/namespaces/{namespace}/{kind.lower()}s")
        found += [kept(kind, item) for item in items if item["metadata"].get("ownerReferences")]
    found += [status for _, status in told]
    return sorted(found, key=lambda item: item.job)


def without_words(items):
    return [item for item in items if item.method == CREATE]


def renewed(item, uids):
    """The request that makes it for the new job of the same name, as a line."""
    body = item.body.replace(item.uid.encode(), uids[item.job].encode())
    return b"\t".join((item.method.encode(), item.path.encode(), body)) + b"\n"


def heard(path, **parameters):
    """The watch of what is there and what becomes of it, as a line."""
    query = urllib.parse.urlencode({"watch": "true", **parameters})
    return f"{HEAR}\t{path}?{query}\t\n".encode()
