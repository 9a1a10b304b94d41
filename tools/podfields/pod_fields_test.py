#!/usr/bin/python3
"""The table of a pod's fields: what is made of OpenAPI and Go, and that the tree has just that."""

import os
import pathlib
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
RUNFILES = os.path.join(os.environ["TEST_SRCDIR"], "taas")
sys.path.insert(0, HERE)
import pod_fields  # pylint: disable=wrong-import-position

CORE = "io.k8s.api.core.v1."
SCHEMAS = {
    CORE + "PodTemplateSpec": {"properties": {
        "spec": {"allOf": [{"$ref": "#/components/schemas/" + CORE + "PodSpec"}]}}},
    CORE + "PodSpec": {"required": ["containers"], "properties": {
        "containers": {"type": "array", "items": {
            "allOf": [{"$ref": "#/components/schemas/" + CORE + "Container"}]}},
        "hostNetwork": {"type": "boolean"},
        "nodeSelector": {"type": "object", "additionalProperties": {"type": "string"}}}},
    CORE + "Container": {"required": ["name"], "properties": {
        "image": {"type": "string", "description": "A sentence."},
        "imagePullPolicy": {"type": "string"},
        "name": {"type": "string"},
        "port": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString"},
        "weight": {"type": "integer", "format": "int32"}}},
    CORE + "NotReached": {"properties": {"a": {"type": "string"}}},
}
GO = '''
// PullPolicy is a sentence.
// +enum
type PullPolicy string

const (
\tPullNever PullPolicy = "Never"
\tPullAlways PullPolicy = "Always"
)

type Free string

const AFree Free = "free"

type Container struct {
\t// A sentence.
\tName string `json:"name" protobuf:"bytes,1,opt,name=name"`
\tImage Free `json:"image,omitempty"`
\tPulls `json:",inline" protobuf:"bytes,2,opt,name=pulls"`
}

type Pulls struct {
\tImagePullPolicy PullPolicy `json:"imagePullPolicy,omitempty"`
}
'''


class PodFieldsTest(unittest.TestCase):

    def test_the_types_that_a_template_reaches_have_their_fields_by_name(self):
        lines = pod_fields.table(SCHEMAS, pod_fields.GoTypes([GO]))
        self.assertEqual(lines, [
            "Container",
            " image string",
            " imagePullPolicy string = Always|Never",
            " name! string",
            " port IntOrString",
            " weight int32",
            "PodSpec",
            " containers! []Container",
            " hostNetwork boolean",
            " nodeSelector mapstring",
            "PodTemplateSpec",
            " spec PodSpec",
        ])

    def test_the_tree_has_the_table_of_the_kubernetes_that_tests_run_against(self):
        table = pathlib.Path(RUNFILES, "operator/api/core/core_v1.fields")
        text = table.read_text(encoding="utf-8")
        self.assertTrue(text.startswith(f"# core/v1 of Kubernetes {pod_fields.version()},"),
                        "make the table anew: see tools/podfields/pod_fields.py")
        programs = os.environ.get("TAAS_KUBERNETES_BIN", "")
        # CACHE/kubernetes/DIGEST/bin; the modules stay in CACHE/go/mod until somebody deletes them.
        modules = pathlib.Path(programs).parent.parent.parent / "go" / "mod"
        if not programs or not (modules / "k8s.io").is_dir():
            self.skipTest("needs: Kubernetes' Go modules")
        self.assertEqual(text, pod_fields.fields_of(modules),
                         "make the table anew: see tools/podfields/pod_fields.py")


if __name__ == "__main__":
    unittest.main(verbosity=2)  # With reasons, of which count_tests.py knows what is skipped.
