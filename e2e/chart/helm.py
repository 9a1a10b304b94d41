"""Helm on the chart of this tree, with no cluster, no user's settings and no network.

    text = render("namespaced")      what `helm template` prints with values/namespaced.yaml
    for obj in objects(text): …
    run("lint", CHART)               raises HelmError with what Helm said
"""

import functools
import os
import subprocess
import tempfile

import yaml

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CHART = os.path.join(ROOT, "charts", "taas")
RELEASE = "taas"
NAMESPACE = "taas-system"
# What is rendered must not change with the Helm that renders it.
KUBE_VERSION = "1.30.0"
# The cases of golden files: values/NAME.yaml gives golden/NAME.yaml.
CASES = sorted(name[: -len(".yaml")] for name in os.listdir(os.path.join(HERE, "values")))
# Helm itself takes a second; a loaded machine many times as long.
LIMIT_S = 120
# It is over before Go's collector is of use: a fifth less work. The same for kubectl.
UNCOLLECTED = {"GOGC": "off"}


class HelmError(Exception):
    """Helm ended with another exit code than 0; the text is its error output."""


class StrictLoader(yaml.CSafeLoader):
    """Refuses what YAML forbids and PyYAML takes: a key that an object has twice."""


def _mapping(loader, node):
    # What an anchor brings may be said again: that is what merging is for.
    keys = [loader.construct_object(key) for key, _ in node.value
            if key.tag != "tag:yaml.org,2002:merge"]
    twice = {str(key) for key in keys if keys.count(key) > 1}
    if twice:
        raise yaml.YAMLError(f"line {node.start_mark.line + 1}: twice: {', '.join(sorted(twice))}")
    return loader.construct_mapping(node, deep=True)


StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def program(name, variable, folder=""):
    """Its path, in the folder that `variable` names, else in `folder`."""
    path = os.path.join(os.environ.get(variable) or folder or f"/{variable}-is-not-set", name)
    if not os.access(path, os.X_OK):
        raise RuntimeError(f"{path} is no program; `make e2e` builds it, or set {variable}")
    return path


def definition(name):
    """The path of a definition of another project, which set-up puts beside the API server."""
    programs = os.path.dirname(program("kube-apiserver", "TAAS_KUBERNETES_BIN"))
    return os.path.join(os.path.dirname(programs), "definitions", name)


def run(*arguments, kubeconfig="/dev/null"):
    """What Helm printed. Its own folders are new ones, so no plugin or repository is found."""
    with tempfile.TemporaryDirectory(prefix="taas-helm-") as home:
        environment = {"PATH": "/usr/bin:/bin", "HOME": home, "KUBECONFIG": kubeconfig,
                       **UNCOLLECTED}
        done = subprocess.run(
            [program("helm", "TAAS_CLUSTER_BIN"), *arguments],
            env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False,
        )
    if done.returncode != 0:
        raise HelmError(done.stderr.strip() or done.stdout.strip())
    return done.stdout


@functools.lru_cache(maxsize=None)
def rendered(case, *settings):
    """The objects of a set of values, rendered once."""
    return objects(render(case, *settings))


def values_file(case):
    return os.path.join(HERE, "values", case + ".yaml")


def render(case="defaults", *arguments, chart=CHART):
    return run("template", RELEASE, chart, "--namespace", NAMESPACE, "--kube-version",
               KUBE_VERSION, "--values", values_file(case), *arguments)


def objects(text):
    found = [obj for obj in yaml.load_all(text, StrictLoader) if obj is not None]
    if not found:
        raise RuntimeError("Helm rendered no object at all")
    return found


def of_kind(found, kind):
    return [obj for obj in found if obj["kind"] == kind]


def of_part(found, kind, part):
    """Objects of `kind` that are the operator's ("taas-operator") or the dashboard's."""
    return [obj for obj in of_kind(found, kind)
            if obj["metadata"]["labels"]["app.kubernetes.io/name"] == part]


def of_operator(found, kind):
    return of_part(found, kind, "taas-operator")


def of_dashboard(found, kind):
    return of_part(found, kind, "taas-dashboard")


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()
