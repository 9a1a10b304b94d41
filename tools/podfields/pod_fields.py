"""The names and types of what a pod template may hold, from Kubernetes' own OpenAPI.

    tools/podfields/pod_fields.py MODULES >operator/api/core/core_v1.fields

MODULES is a Go module cache with the k8s.io modules of the Kubernetes in tools/setup/versions.env,
which `tools/setup/setup.sh kubernetes` fills. OpenAPI has names, types and what is required; which
words a field takes stands in the Go types only. No text of either is taken over.

The table: a type begins in the first column, each of its fields is a line below it,

    NAME[!] [[]|map]TYPE [= WORD|WORD…]

with `!` for what may not be left out.
"""

import json
import pathlib
import re
import sys

ROOT = "io.k8s.api.core.v1.PodTemplateSpec"

# Closed sets of words that the Go types do not mark as such; the API server refuses all others.
ALSO_ENUMS = (
    "ContainerRestartPolicy", "ContainerRestartRuleAction",
    "ContainerRestartRuleOnExitCodesOperator", "LabelSelectorOperator", "OSName",
    "PodSELinuxChangePolicy", "RecursiveReadOnlyMode", "ResourceResizeRestartPolicy",
)

# Required by the letter of OpenAPI; the API server takes their absence for an empty text or 0.
NOT_REQUIRED = (
    ("HTTPHeader", "value"),
    ("ISCSIVolumeSource", "lun"),
    ("Sysctl", "value"),
)

# Types that are one value on the wire.
PLAIN = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "Quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "IntOrString",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "Time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "object",
}

# NAME TYPE `json:"field,option"`; of a type that is part of another, TYPE alone.
FIELD = re.compile(r'^\t(?:\w+[ \t]+)?([*\[\]\w.]+)[ \t]+`json:"(\w*)(?:,\w+)*"', re.M)


class GoTypes:
    """What Go's sources say and OpenAPI does not: the words that a field takes."""

    def __init__(self, sources):
        self._words, self._fields, self._inline = {}, {}, {}
        for source in sources:
            self._read(source)

    def words(self, struct, field):
        """Sorted; none: any text."""
        kind = self._fields.get(struct, {}).get(field)
        if kind is None:
            for inner in self._inline.get(struct, []):
                if words := self.words(inner, field):
                    return words
        return sorted(filter(None, self._words.get(kind, [])))

    def _read(self, source):
        enums = set(re.findall(r"// \+enum\n(?://.*\n)*type (\w+) string", source))
        enums.update(ALSO_ENUMS)
        for kind, word in re.findall(r'^\s*\w+\s+(\w+)\s*=\s*"([^"]*)"', source, re.M):
            if kind in enums:
                self._words.setdefault(kind, []).append(word)
        for struct, body in re.findall(r"^type (\w+) struct \{\n(.*?)^\}", source, re.M | re.S):
            for kind, field in FIELD.findall(body):
                if not field:
                    self._inline.setdefault(struct, []).append(kind.rpartition(".")[2])
                else:
                    self._fields.setdefault(struct, {})[field] = kind.strip("*[]")


def referred(schema):
    """The name of the type that a schema is, or None."""
    for part in [schema] + schema.get("allOf", []):
        if "$ref" in part:
            return part["$ref"].rpartition("/")[2]
    return None


def kind_of(schema, found):
    """The word for a type; types that are met are added to `found`."""
    name = referred(schema)
    if name in PLAIN:
        return PLAIN[name]
    if name:
        found.append(name)
        return name.rpartition(".")[2]
    if schema["type"] == "array":
        return "[]" + kind_of(schema["items"], found)
    if isinstance(schema.get("additionalProperties"), dict):
        return "map" + kind_of(schema["additionalProperties"], found)
    if schema["type"] == "integer":
        return schema["format"]
    return schema["type"]


def table(schemas, go_types):
    """The lines of all types that a template reaches, types and fields by name."""
    blocks, todo = {}, [ROOT]
    while todo:
        name = todo.pop()
        struct = name.rpartition(".")[2]
        if struct in blocks:
            continue
        schema = schemas[name]
        lines = blocks[struct] = [struct]
        for field, of in sorted(schema["properties"].items()):
            needed = field in schema.get("required", []) and (struct, field) not in NOT_REQUIRED
            kind = kind_of(of, todo)
            words = go_types.words(struct, field) if kind.endswith("string") else []
            lines.append(f" {field}{'!' if needed else ''} {kind}"
                         + (f" = {'|'.join(words)}" if words else ""))
    return [line for struct in sorted(blocks) for line in blocks[struct]]


def version():
    """Of the Kubernetes that tests run against: v1.34.4."""
    pins = pathlib.Path(__file__).parent.parent / "setup" / "versions.env"
    return re.search(r"^KUBERNETES_VERSION=(\S+)$", pins.read_text(encoding="utf-8"), re.M)[1]


def fields_of(modules):
    """The whole text, from a Go module cache."""
    kubernetes = version()
    libraries = "v0" + kubernetes.removeprefix("v1")
    k8s = pathlib.Path(modules) / "k8s.io"
    spec = k8s / f"kubernetes@{kubernetes}" / "api/openapi-spec/v3/api__v1_openapi.json"
    schemas = json.loads(spec.read_text(encoding="utf-8"))["components"]["schemas"]
    sources = [k8s / f"api@{libraries}" / "core/v1/types.go",
               k8s / f"apimachinery@{libraries}" / "pkg/apis/meta/v1/types.go"]
    lines = table(schemas, GoTypes([path.read_text(encoding="utf-8") for path in sources]))
    head = [f"# core/v1 of Kubernetes {kubernetes}, as far as a pod template reaches.",
            "# Made by tools/podfields/pod_fields.py; do not edit."]
    return "\n".join(head + lines) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: pod_fields.py MODULES, a Go module cache")
    sys.stdout.write(fields_of(sys.argv[1]))
