"""A bare client (creator.cc): it creates the objects which an operator made for the same jobs, with
as many requests under way, and decides nothing.

    kept = objects_of(client, "bench")                   after an operator has made them
    path, body = renewed(kept[0], uids_of_new_jobs)
"""

import collections
import json

import names

Kept = collections.namedtuple("Kept", "path job uid body")

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
    return Kept(path, owner["name"], owner["uid"], json.dumps(item).encode())


def objects_of(client, namespace=names.NAMESPACE):
    """Services and ConfigMaps come before the pods of their job, as operators make them."""
    found = []
    for kind in ("Service", "ConfigMap", "Pod"):
        items = client.list(f"/api/v1/namespaces/{namespace}/{kind.lower()}s")
        found += [kept(kind, item) for item in items if item["metadata"].get("ownerReferences")]
    return sorted(found, key=lambda item: item.job)


def renewed(item, uids):
    """The request that makes it for the new job of the same name."""
    return item.path, item.body.replace(item.uid.encode(), uids[item.job].encode())
