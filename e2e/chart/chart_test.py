#!/usr/bin/python3
"""What the chart renders, against golden files, and what goes with it.

    TAAS_CLUSTER_BIN=… e2e/chart/chart_test.py               the folder with helm
    TAAS_CLUSTER_BIN=… e2e/chart/chart_test.py --update      writes golden files and docs
"""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

import helm
import values_table

DOCS = ("docs", "helm.md")
NOTES = """apiVersion: v1
kind: ConfigMap
metadata: {name: notes}
data:
  text: {{ include (print $.Template.BasePath "/NOTES.txt") . | quote }}
"""


def without_crds(text):
    """They are compared with their source below; a golden file only says that one is there."""
    documents = []
    for document in re.split(r"^---\n", text, flags=re.MULTILINE):
        name = re.search(r"^kind: CustomResourceDefinition\n(?:.*\n)*?  name: (\S+)$", document,
                         flags=re.MULTILINE)
        documents.append(f"# The definition of {name.group(1)}.\n" if name else document)
    return "---\n".join(documents)


def golden_path(case):
    return os.path.join(helm.HERE, "golden", case + ".yaml")


class RenderedTest(unittest.TestCase):
    maxDiff = None

    def test_each_set_of_values_renders_its_golden_file(self):
        for case in helm.CASES:
            with self.subTest(case), open(golden_path(case), encoding="utf-8") as file:
                self.assertMultiLineEqual(
                    without_crds(helm.render(case)), file.read(),
                    "if this is meant: chart_test.py --update",
                )

    def test_each_golden_file_has_its_values(self):
        found = os.listdir(os.path.join(helm.HERE, "golden"))
        self.assertEqual(sorted(found), [case + ".yaml" for case in helm.CASES])

    def test_rendering_twice_gives_the_same_bytes(self):
        for case in helm.CASES:
            with self.subTest(case):
                self.assertEqual(helm.render(case), helm.render(case))

    def test_lint_finds_nothing_even_if_it_is_strict(self):
        for case in helm.CASES:
            with self.subTest(case):
                helm.run("lint", "--strict", "--values", helm.values_file(case), helm.CHART)

    def test_a_package_renders_what_the_folder_does(self):
        with tempfile.TemporaryDirectory(prefix="taas-package-") as folder:
            helm.run("package", helm.CHART, "--destination", folder)
            (package,) = os.listdir(folder)
            packaged = helm.render("everything", chart=os.path.join(folder, package))
        self.assertEqual(packaged, helm.render("everything"))

    def test_each_object_that_has_a_namespace_names_it(self):
        cluster_wide = {"ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition"}
        for case in helm.CASES:
            for obj in helm.rendered(case):
                with self.subTest(case, kind=obj["kind"], name=obj["metadata"]["name"]):
                    self.assertEqual("namespace" in obj["metadata"],
                                     obj["kind"] not in cluster_wide)

    def test_selectors_stay_what_they_are_whatever_the_values_and_the_version(self):
        # They cannot be changed in a Deployment, so an upgrade that did would fail.
        for case, part in itertools.product(helm.CASES, ("taas-operator", "taas-dashboard")):
            for deployment in helm.of_part(helm.rendered(case), "Deployment", part):
                selector = deployment["spec"]["selector"]["matchLabels"]
                self.assertEqual(selector, {"app.kubernetes.io/name": part,
                                            "app.kubernetes.io/instance": "taas"})
                labels = deployment["spec"]["template"]["metadata"]["labels"]
                self.assertEqual(labels, {**labels, **selector})
                self.assertNotIn("helm.sh/chart", labels)

    def test_without_an_image_for_gpus_the_operator_is_told_of_none(self):
        self.assertNotIn("--trainer-cuda-image", helm.render("defaults"))
        named = helm.render("defaults", "--set", "trainer.cudaImage.repository=taas/trainer-cuda")
        version = yaml.safe_load(helm.read("charts", "taas", "Chart.yaml"))["appVersion"]
        self.assertIn(f"- --trainer-cuda-image=taas/trainer-cuda:{version}\n", named)

    def test_nothing_but_the_operator_is_selected_as_the_operator(self):
        for obj in helm.rendered("everything"):
            if obj["kind"] == "Pod":
                self.assertNotEqual(obj["metadata"]["labels"]["app.kubernetes.io/name"],
                                    "taas-operator")

    def test_there_is_no_test_of_a_kind_that_the_operator_does_not_work_on(self):
        found = helm.objects(helm.render("defaults", "--set", "operator.kinds={TFJob}"))
        self.assertFalse([obj for obj in found if obj["metadata"]["name"] == "taas-test"])

    def test_names_have_their_parts_cut_so_that_the_longest_fits(self):
        found = helm.objects(helm.run(
            "template", "a" * 53, helm.CHART, "--kube-version", helm.KUBE_VERSION, "--set",
            "metrics.dashboard.enabled=true"))
        longest = max((obj["metadata"]["name"] for obj in found), key=len)
        self.assertLessEqual(len(longest), 63, longest)
        self.assertTrue(any("-operator-dashboard" in obj["metadata"]["name"] for obj in found))


class NotesTest(unittest.TestCase):

    def notes(self, *arguments):
        """Only an install prints them, and needs a cluster: so one more object has them inside."""
        with tempfile.TemporaryDirectory(prefix="taas-notes-") as folder:
            chart = os.path.join(folder, "taas")
            shutil.copytree(helm.CHART, chart)
            with open(os.path.join(chart, "templates", "notes.yaml"), "w",
                      encoding="utf-8") as file:
                file.write(NOTES)
            found = helm.objects(helm.render("defaults", *arguments, chart=chart))
        (notes,) = [it for it in found if it["metadata"]["name"] == "notes"]
        return notes["data"]["text"]

    def test_the_first_job_is_not_in_the_operator_s_own_namespace(self):
        for values, wanted in (((), "ml"), (("--set", "operator.namespaces={team-a}"), "team-a")):
            with self.subTest(wanted):
                notes = self.notes(*values)
                self.assertIn(f"taas submit -n {wanted} ", notes)
                self.assertEqual("kubectl create namespace ml\n" in notes, wanted == "ml")

    def test_pods_that_a_job_may_preempt_are_told_of(self):
        both = "operator.priorityClassName=high,dashboard.priorityClassName=high"
        for value, told in (("operator.priorityClassName=", True),
                            ("operator.priorityClassName=high", True), (both, False),
                            ("operator.priorityClassName=high,dashboard.enabled=false", False)):
            with self.subTest(value):
                self.assertEqual("have no priority class" in self.notes("--set", value), told)

    def test_both_deployments_get_the_classes_that_are_named(self):
        found = helm.of_kind(helm.rendered("everything"), "Deployment")
        self.assertEqual({it["spec"]["template"]["spec"]["priorityClassName"] for it in found},
                         {"system-cluster-critical", "infrastructure"})


class DefinitionsTest(unittest.TestCase):

    def rendered(self, *arguments):
        crds = helm.of_kind(helm.objects(helm.render("defaults", *arguments)),
                            "CustomResourceDefinition")
        return {crd["metadata"]["name"]: crd for crd in crds}

    def test_they_are_those_of_the_folder_crds(self):
        rendered = self.rendered()
        for file in ("trainingjobs.yaml", "tfjobs.yaml"):
            source = yaml.load(helm.read("crds", file), helm.StrictLoader)
            crd = rendered.pop(source["metadata"]["name"])
            crd["metadata"] = {"name": crd["metadata"]["name"]}
            self.assertEqual(json.dumps(crd, sort_keys=True), json.dumps(source, sort_keys=True))
        self.assertEqual(rendered, {})

    def test_they_outlive_the_release_unless_somebody_says_no(self):
        policy = "helm.sh/resource-policy"
        for crd in self.rendered().values():
            self.assertEqual(crd["metadata"]["annotations"][policy], "keep")
        for crd in self.rendered("--set", "crds.keep=false").values():
            self.assertNotIn(policy, crd["metadata"].get("annotations", {}))

    def test_values_choose_which_there_are(self):
        both = {"trainingjobs.taas.dev", "tfjobs.kubeflow.org"}
        cases = {
            "crds.install=true": both,
            "crds.install=false": set(),
            "crds.tfjob=false": {"trainingjobs.taas.dev"},
            "crds.tfjob=true": both,
            "operator.kinds={TrainingJob}": {"trainingjobs.taas.dev"},
            "operator.kinds={TFJob}": both,
        }
        for value, wanted in cases.items():
            with self.subTest(value):
                self.assertEqual(set(self.rendered("--set", value)), wanted)


class DocsTest(unittest.TestCase):
    maxDiff = None

    def test_the_table_of_values_is_what_the_values_say_of_themselves(self):
        text = helm.read(*DOCS)
        self.assertMultiLineEqual(values_table.inside(text), values_table.table(),
                                  "chart_test.py --update writes it")

    def test_each_value_is_in_the_schema_and_each_of_the_schema_has_a_default(self):
        self.assertEqual(values_table.schema_paths(), values_table.value_paths())

    def test_each_alert_has_a_section_that_says_what_to_do(self):
        (rule,) = helm.of_kind(helm.rendered("everything"), "PrometheusRule")
        alerts = [alert["alert"] for group in rule["spec"]["groups"] for alert in group["rules"]]
        page = helm.read("docs", "operations.md")
        documented = re.findall(r"^### (Taas\w+)$", page, flags=re.MULTILINE)
        self.assertEqual(alerts, documented)

    def test_the_main_job_s_commands_name_the_registry_of_the_install(self):
        # Symptom: the pod that fetches its data pulled from docker.io and never started.
        (program,) = set(re.findall(r'^sed ("s,image: .*?") ', helm.read(*DOCS), re.M))
        for example in ("cluster/mnist-data.yaml", "tfjob.yaml"):
            for registry, wanted in (("", "taas/trainer:"),
                                     ("registry.example.com/ml",
                                      "registry.example.com/ml/taas/trainer:")):
                with self.subTest(example, registry=registry):
                    path = os.path.join(helm.ROOT, "examples", example)
                    text = subprocess.run(
                        ["/bin/bash", "-euc", f"sed {program} {path}"], check=True, text=True,
                        env={"PATH": "/usr/bin:/bin", **({"REGISTRY": registry} if registry
                                                          else {})},
                        stdout=subprocess.PIPE, timeout=helm.LIMIT_S).stdout
                    images = re.findall(r"^ *image: (\S+)", text, re.M)
                    self.assertTrue(images)
                    self.assertFalse([it for it in images if not it.startswith(wanted)])

    def test_the_versions_are_one(self):
        chart = yaml.safe_load(helm.read("charts", "taas", "Chart.yaml"))
        defaults = helm.read("operator", "api", "defaults.h")
        (tag,) = re.findall(r'kDefaultTrainerImage = "taas/trainer:([^"]+)"', defaults)
        self.assertEqual(chart["appVersion"], tag)
        self.assertEqual(chart["version"], tag)


def update():
    for case in helm.CASES:
        with open(golden_path(case), "w", encoding="utf-8") as file:
            file.write(without_crds(helm.render(case)))
    text = values_table.replaced(helm.read(*DOCS))
    with open(os.path.join(helm.ROOT, *DOCS), "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    if "--update" in sys.argv:
        update()
    else:
        unittest.main(verbosity=2)
