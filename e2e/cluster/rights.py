"""What an account may do by its roles, held against what it did.

    rights = granted(objects, "taas-operator", "taas-system")     rendered by the chart, say
    rights = of_operator(manifest)                  the same, of what Helm prints
    unused(rights, audit.requests(log, user))       rights that nothing needed
    uncovered(rights, audit.requests(log, user))    what was asked for without a right
"""

import json
from typing import NamedTuple

import audit
import programs
import taas
import yaml

# A job of so long a name and so many workers that the list of them is too long for each pod: it
# has a ConfigMap, which takes a right to make.
LARGE_JOB, LARGE_JOB_WORKERS = "large-" + "x" * 40, 80


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


def of_operator(manifest):
    """The operator's, by the roles in a text of the chart's objects."""
    objects = [obj for obj in yaml.safe_load_all(manifest) if obj]
    return granted(objects, taas.ACCOUNT, taas.NAMESPACE)


def of_chart(kubectl, *settings):
    """The operator's, as the chart would give them: `settings` are flags of `helm template`."""
    return of_operator(kubectl.run(
        programs.path("helm"), "template", taas.RELEASE, taas.CHART, "--namespace",
        taas.NAMESPACE, "--show-only=templates/rbac.yaml", *settings).stdout)


def of_release(kubectl):
    """The operator's, by each revision of the release that Helm remembers."""
    helm = [programs.path("helm"), "-n", taas.NAMESPACE]
    history = json.loads(kubectl.run(*helm, "history", taas.RELEASE, "-o", "json").stdout)
    return set().union(*(
        of_operator(kubectl.run(*helm, "get", "manifest", taas.RELEASE, "--revision",
                                str(revision["revision"])).stdout)
        for revision in history))


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
