"""What an account may do by its roles, held against what it did.

    rights = granted(objects, "taas-operator", "taas-system")     rendered by the chart, say
    unused(rights, audit.requests(log, user))       rights that nothing needed
    uncovered(rights, audit.requests(log, user))    what was asked for without a right
"""

from typing import NamedTuple

import audit


class Right(NamedTuple):
    verb: str
    group: str
    resource: str
    namespace: str  # Empty: the whole cluster.
    names: tuple  # Empty: objects of all names.

    def covers(self, request):
        return (
            (self.verb, self.group, self.resource)
            == (request.verb, request.group, request.resource)
            and self.namespace in ("", request.namespace)
            and (not self.names or request.name in self.names)
        )

    def __str__(self):
        what = self.resource + (f".{self.group}" if self.group else "")
        named = f" {', '.join(self.names)}" if self.names else ""
        return f"{self.verb} {what}{named} in {self.namespace or 'all namespaces'}"


def granted(objects, account, namespace):
    """The rights of a service account by the roles and bindings among `objects`."""
    roles = {
        (obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]): obj
        for obj in objects if obj["kind"] in ("Role", "ClusterRole")
    }
    subject = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
    rights = set()
    for obj in objects:
        if obj["kind"] not in ("RoleBinding", "ClusterRoleBinding"):
            continue
        if subject not in obj["subjects"]:
            continue
        where = obj["metadata"].get("namespace", "")
        kind, name = obj["roleRef"]["kind"], obj["roleRef"]["name"]
        role = roles[(kind, where if kind == "Role" else "", name)]
        rights |= {right for rule in role["rules"] for right in rights_of(rule, where)}
    return rights


def rights_of(rule, namespace):
    for group in rule["apiGroups"]:
        for resource in rule["resources"]:
            for verb in rule["verbs"]:
                yield Right(verb, group, resource, namespace,
                            tuple(rule.get("resourceNames", ())))


def unused(rights, requests):
    """Rights without which each request would have been allowed: one counts for the narrowest."""
    needed = set()
    for request in requests:
        covering = [right for right in rights if right.covers(request)]
        if covering:
            needed.add(max(covering, key=lambda right: (bool(right.namespace), right.names)))
    return sorted(str(right) for right in rights - needed)


def uncovered(rights, requests):
    return sorted({
        f"{request.verb} {request.resource}{'.' + request.group if request.group else ''} "
        f"{request.name or '(any)'} in {request.namespace or 'all namespaces'}"
        f"{'' if request.allowed else ', forbidden'}"
        for request in requests
        if audit.is_of_resource(request) and not any(right.covers(request) for right in rights)
    })
