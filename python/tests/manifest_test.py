"""Manifests of every form, and builders whose names are those of the schemas."""

import os
import tempfile
import typing
import unittest

import yaml

import taas
from taas import builder, specs
from taas.errors import ManifestError
from taas.manifest import VALUES_MAX, read_manifest

TREE = os.environ["TAAS_TREE"]
YAML = """
apiVersion: taas.dev/v1
kind: TrainingJob
metadata: {name: t}
spec: {roles: {worker: {replicas: 2}}}
"""


def schema(plural):
    with open(os.path.join(TREE, "crds", plural + ".yaml"), encoding="utf-8") as file:
        (version,) = yaml.safe_load(file)["spec"]["versions"]
    return version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


class ReadManifestTest(unittest.TestCase):

    def test_a_dict_a_text_a_file_and_a_builder_are_the_same_job(self):
        job = yaml.safe_load(YAML)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "job.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write("# a comment\n---\n" + YAML)
            self.assertEqual(read_manifest(path), job)
        self.assertEqual(read_manifest(YAML), job)
        self.assertEqual(read_manifest(job), job)

    def test_each_example_is_read(self):
        folder = os.path.join(TREE, "examples")
        names = [name for name in os.listdir(folder) if name.endswith(".yaml")]
        self.assertGreater(len(names), 7)
        for name in names:
            self.assertIn("spec", read_manifest(os.path.join(folder, name)))

    def test_what_is_no_job_is_refused_with_the_cause(self):
        bomb = "\n".join(["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"] + [
            f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)])
        cases = ((YAML + "---" + YAML, "2 objects"), ("kind: Pod\n", "'Pod'"), ("- a\n", "list"),
                 ("a: [\n", "no YAML"), ("no/such/file.yaml", "No such file"), ("\n", "0 objects"),
                 (YAML.replace("{name: t}", "{}"), "metadata.name"),
                 (YAML + "when: 2026-11-25\n", "when is a date"),
                 (YAML.replace("replicas", "1"), "no text"),
                 (YAML + "x: " + "[" * 5000 + "]" * 5000, "no YAML"),
                 (YAML + "d: 2026-13-99\n", "no YAML"),
                 (YAML + bomb, str(VALUES_MAX)), (YAML + "loop: &l [*l]\n", "levels"))
        for text, cause in cases:
            with self.subTest(cause), self.assertRaises(ManifestError) as caught:
                read_manifest(text)
            self.assertIn(cause, str(caught.exception))
        with self.assertRaises(TypeError):
            read_manifest(7)


class BuilderTest(unittest.TestCase):

    def names(self, arguments):
        return {builder.manifest_name(argument) for argument in arguments}

    def test_arguments_are_the_fields_of_the_schemas(self):
        spec = schema("trainingjobs")
        self.assertEqual(self.names(builder.TRAINER), set(spec["trainer"]["properties"]))
        self.assertEqual(self.names(builder.POLICIES),
                         set(spec) - {"trainer", "roles", "volumes"})
        self.assertEqual(self.names(builder.RUN_POLICY),
                         set(schema("tfjobs")["runPolicy"]["properties"]))

    def test_types_have_the_members_of_the_schemas(self):
        spec, tf = schema("trainingjobs"), schema("tfjobs")
        trainer = spec["trainer"]["properties"]
        cases = ((specs.ModelSpec, trainer["model"]), (specs.DataSpec, trainer["data"]),
                 (specs.StrategySpec, trainer["strategy"]),
                 (specs.OptimizerSpec, trainer["optimizer"]),
                 (specs.RegularizationSpec, trainer["regularization"]),
                 (specs.MovingAverageSpec, trainer["movingAverage"]),
                 (specs.CheckpointSpec, trainer["checkpoint"]),
                 (specs.ExportSpec, trainer["export"]),
                 (specs.SummariesSpec, trainer["summaries"]),
                 (specs.EvaluationSpec, trainer["evaluation"]),
                 (specs.EngineSpec, trainer["engine"]),
                 (specs.RoleSpec, spec["roles"]["properties"]["worker"]),
                 (specs.ElasticSpec,
                  spec["roles"]["properties"]["worker"]["properties"]["elastic"]),
                 (specs.VolumeSpec, spec["volumes"]["items"]),
                 (specs.ExitCodesSpec, spec["exitCodes"]), (specs.NetworkSpec, spec["network"]),
                 (specs.SchedulingPolicySpec, spec["schedulingPolicy"]),
                 (specs.ReplicaSpec, tf["tfReplicaSpecs"]["additionalProperties"]),
                 (specs.TFSchedulingPolicySpec,
                  tf["runPolicy"]["properties"]["schedulingPolicy"]))
        for kind, found in cases:
            with self.subTest(kind.__name__):
                self.check_members(kind, found)

    def check_members(self, kind, found):
        hints = typing.get_type_hints(kind)
        self.assertEqual(set(hints), set(found["properties"]))
        for name, hint in hints.items():
            values = found["properties"][name].get("enum")
            if typing.get_origin(hint) is typing.Literal:
                self.assertEqual(set(typing.get_args(hint)), set(values or ()), name)
            elif typing.is_typeddict(hint):
                self.check_members(hint, found["properties"][name])
            elif typing.get_origin(hint) is list and typing.is_typeddict(typing.get_args(hint)[0]):
                self.check_members(typing.get_args(hint)[0], found["properties"][name]["items"])

    def test_a_job_of_the_bundled_trainer(self):
        job = taas.TrainingJob(
            name="t", model="softmax", data={"format": "generated"}, batch_size=7, chief=1, ps=2,
            workers=3, gpus=1, cpu="2", env={"A": "b"}, backoff_limit=0,
            volumes=[taas.claim("data", "/data", read_only=True)]).to_manifest()
        self.assertEqual(job["spec"]["trainer"], {
            "model": {"name": "softmax"}, "data": {"format": "generated"}, "batchSize": 7})
        roles = job["spec"]["roles"]
        self.assertEqual({role: found["replicas"] for role, found in roles.items()},
                         {"chief": 1, "ps": 2, "worker": 3})
        self.assertEqual([role for role, found in roles.items() if "gpus" in found],
                         ["chief", "worker"])
        self.assertEqual(roles["ps"], {
            "replicas": 2, "env": [{"name": "A", "value": "b"}],
            "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "2"}}})
        self.assertEqual(job["spec"]["backoffLimit"], 0)
        self.assertEqual(job["spec"]["volumes"], [{
            "name": "data", "mountPath": "/data", "readOnly": True,
            "source": {"persistentVolumeClaim": {"claimName": "data"}}}])

    def test_a_role_of_its_own_wins(self):
        job = taas.TrainingJob(name="t", image="i", command=["c"], gpus=1, workers={
            "replicas": 2, "gpus": 4, "gpuType": "NVIDIA-H200"}).to_manifest()
        worker = job["spec"]["roles"]["worker"]
        self.assertEqual((worker["replicas"], worker["gpus"]), (2, 4))
        self.assertEqual(worker["template"]["spec"]["containers"],
                         [{"name": "trainer", "image": "i", "command": ["c"]}])

    def test_a_tfjob_has_its_volumes_and_gpus_in_its_pods(self):
        job = taas.TFJob(name="t", image="i", ps=1, workers=2, gpus=1, suspend=True,
                         volumes=[taas.claim("data", "/data")]).to_manifest()
        self.assertEqual(job["spec"]["runPolicy"], {"suspend": True})
        replicas = job["spec"]["tfReplicaSpecs"]
        self.assertEqual({key: found["replicas"] for key, found in replicas.items()},
                         {"PS": 1, "Worker": 2})
        pod = replicas["Worker"]["template"]["spec"]
        self.assertEqual(pod["containers"][0]["resources"]["limits"], {"nvidia.com/gpu": 1})
        self.assertNotIn("resources", replicas["PS"]["template"]["spec"]["containers"][0])
        self.assertEqual(pod["volumes"][0]["name"], pod["containers"][0]["volumeMounts"][0]["name"])

    def test_arguments_that_do_not_go_together(self):
        for arguments in ({}, {"image": "i", "max_steps": 3}, {"model": "mlp", "command": ["x"]}):
            with self.subTest(arguments), self.assertRaises(ValueError):
                taas.TrainingJob(name="t", **arguments).to_manifest()


if __name__ == "__main__":
    unittest.main()
