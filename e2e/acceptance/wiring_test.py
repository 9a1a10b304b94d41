"""How the replicas of a job find each other: names, services, addresses before readiness,
TF_CONFIG to the letter."""

import json

from acceptance import Acceptance
from dns_question import addresses
from job_kinds import IMAGE, KINDS, TFJOB, TRAINING_JOB, pod_template

ALL_ROLES = {"chief": 1, "ps": 2, "worker": 2, "evaluator": 1}
PORT = 3333


class NamesTest(Acceptance):

    def test_pods_and_services_have_the_names_that_programs_and_tools_expect(self):
        tfjob = TFJOB.job("mixed", {"chief": 1, "ps": 2, "worker": 3, "evaluator": 1})
        # Manifests of the time have keys in any case of letters.
        specs = tfjob.manifest["spec"]["tfReplicaSpecs"]
        tfjob.manifest["spec"]["tfReplicaSpecs"] = {
            "chief": specs["Chief"], "Ps": specs["PS"], "worker": specs["Worker"],
            "EVALUATOR": specs["Evaluator"]}
        master = TFJOB.job("old", {"master": 1, "worker": 1})
        job = TRAINING_JOB.job("own", ALL_ROLES)
        self.start(tfjob, master, job)
        self.await_running(tfjob, master, job)
        self.assertEqual(set(self.api.list("pods")), {
            "mixed-chief-0", "mixed-ps-0", "mixed-ps-1", "mixed-worker-0", "mixed-worker-1",
            "mixed-worker-2", "mixed-evaluator-0", "old-master-0", "old-worker-0",
            "own-chief-0", "own-ps-0", "own-ps-1", "own-worker-0", "own-worker-1",
            "own-evaluator-0"})
        # A TFJob has one per replica, a TrainingJob one of its name.
        self.assertEqual(set(self.api.list("services")),
                         {*tfjob.pods(), *master.pods(), "own"})
        for each in (tfjob, master, job):
            self.check_labels(each)

    def check_labels(self, job):
        owner = self.stored(job)["metadata"]["uid"]
        master = job.pod("chief") if "chief" in job.roles else job.pod("master")
        for name in job.pods():
            pod = self.api.get("pods", name)
            labels = pod["metadata"]["labels"]
            self.assertEqual(pod["metadata"]["ownerReferences"], [{
                "apiVersion": job.kind.api_version, "kind": job.kind.name, "name": job.name,
                "uid": owner, "controller": True, "blockOwnerDeletion": True}])
            self.assertEqual((labels["taas.dev/job-name"], labels["taas.dev/job-uid"]),
                             (job.name, owner))
            if job.kind is TRAINING_JOB:
                self.assertEqual((pod["spec"]["hostname"], pod["spec"]["subdomain"]),
                                 (name, job.name))
                continue
            role, index = name[len(job.name) + 1:].split("-")
            foreign = {key.partition("/")[2]: value for key, value in labels.items()
                       if key.startswith("training.kubeflow.org/")}
            wanted = {"operator-name": "tfjob-controller", "job-name": job.name,
                      "replica-type": role, "replica-index": index}
            if name == master:
                wanted["job-role"] = "master"
            self.assertEqual(foreign, wanted)


class AddressesTest(Acceptance):

    def test_a_replica_is_found_before_it_is_ready(self):
        jobs = [kind.job(f"{kind.short}-early", {"ps": 1, "worker": 2}) for kind in KINDS]
        self.start(*jobs)
        self.await_running(*jobs)
        pod = {job: job.pod("worker", 1) for job in jobs}
        for name in pod.values():
            self.kubelet.unready(name)
        address = {job: self.api.get("pods", pod[job])["status"]["podIP"] for job in jobs}
        service = {jobs[0]: jobs[0].name, jobs[1]: pod[jobs[1]]}
        for job in jobs:
            # By the controllers of Kubernetes: not serving, and published all the same.
            self.await_true(f"the endpoint of {pod[job]}", lambda job=job: {
                "ready": True, "serving": False, "terminating": False
            } in self.conditions(service[job], address[job]))
        names = {jobs[0]: f"{pod[jobs[0]]}.tj-early", jobs[1]: pod[jobs[1]]}
        for job in jobs:
            name = f"{names[job]}.{self.namespace}.svc.cluster.local"
            self.await_true(f"the name {name}", lambda job=job, name=name:
                            addresses(self.cluster.plane.address, name) == [address[job]])
        # The same names stand in TF_CONFIG.
        for job in jobs:
            workers = json.loads(self.variables(job.pod("ps"))["TF_CONFIG"])["cluster"]["worker"]
            self.assertEqual(workers[1], f"{names[job]}.{self.namespace}.svc:2222")

    def conditions(self, service, address):
        """Of all endpoints with that address."""
        return [endpoint["conditions"]
                for piece in self.api.list("endpointslices").values()
                if piece["metadata"]["labels"]["kubernetes.io/service-name"] == service
                for endpoint in piece.get("endpoints") or []
                if endpoint["addresses"] == [address]]


class TfConfigTest(Acceptance):

    def text(self, cluster, role, index=0):
        """As Go writes it: no blanks, roles by name."""
        task = {"type": role, "index": index}
        return json.dumps({"cluster": dict(sorted(cluster.items())), "task": task,
                           "environment": "cloud"}, separators=(",", ":"))

    def hosts(self, job, *roles, per_job=False, port=2222):
        domain = f"{job.name}.{self.namespace}.svc" if per_job else f"{self.namespace}.svc"
        return {role: [f"{job.pod(role, index)}.{domain}:{port}"
                       for index in range(job.roles[role])] for role in roles}

    def check(self, job, role, wanted, index=0):
        with self.subTest(job.pod(role, index)):
            self.assertEqual(self.variables(job.pod(role, index)).get("TF_CONFIG"), wanted)

    def test_of_each_role_it_is_the_text_that_is_expected(self):
        tfjob = TFJOB.job("full", ALL_ROLES)
        job = TRAINING_JOB.job("own", ALL_ROLES)
        single = TFJOB.job("single", {"worker": 1})
        own_single = TRAINING_JOB.job("own-single", {"worker": 1})
        dynamic = TFJOB.job("dynamic", ALL_ROLES, extra={"enableDynamicWorker": True})
        self.start(tfjob, job, single, own_single, dynamic)
        self.await_running(tfjob, job, single, own_single, dynamic)
        # The example to the letter, then each role by rule.
        chief = f'"chief":["full-chief-0.{self.namespace}.svc:2222"]'
        self.check(tfjob, "worker", (
            '{"cluster":{' + chief + f',"evaluator":["full-evaluator-0.{self.namespace}.svc:2222"]'
            f',"ps":["full-ps-0.{self.namespace}.svc:2222","full-ps-1.{self.namespace}.svc:2222"]'
            f',"worker":["full-worker-0.{self.namespace}.svc:2222",'
            f'"full-worker-1.{self.namespace}.svc:2222"]'
            '},"task":{"type":"worker","index":1},"environment":"cloud"}'), 1)
        training = ("chief", "ps", "worker")
        for role in ALL_ROLES:
            self.check(tfjob, role, self.text(self.hosts(tfjob, *ALL_ROLES), role))
            roles = ALL_ROLES if role == "evaluator" else training
            self.check(job, role, self.text(self.hosts(job, *roles, per_job=True), role))
        # A TFJob of one replica trains without it.
        self.assertNotIn("TF_CONFIG", self.variables(single.pod("worker")))
        self.check(own_single, "worker", self.text(
            self.hosts(own_single, "worker", per_job=True), "worker"))
        # Workers that come and go know themselves and the parameter servers.
        where = f"{self.namespace}.svc:2222"
        servers = f'["dynamic-ps-0.{where}","dynamic-ps-1.{where}"]'
        self.check(dynamic, "worker", '{"cluster":{"worker":{"1":"dynamic-worker-1.' + where +
                   '"},"ps":' + servers + '},"task":{"type":"worker","index":1}}', 1)
        self.check(dynamic, "ps", '{"cluster":{"worker":{},"ps":["dynamic-ps-0.' + where +
                   '"]},"task":{"type":"ps","index":0}}')
        self.check(dynamic, "ps", '{"cluster":{"worker":{},"ps":{"1":"dynamic-ps-1.' + where +
                   '"}},"task":{"type":"ps","index":1}}', 1)
        self.check(dynamic, "chief", '{"cluster":{"worker":{},"ps":' + servers +
                   ',"chief":["dynamic-chief-0.' + where +
                   '"]},"task":{"type":"chief","index":0}}')

    def test_in_whose_the_evaluator_stands_is_the_jobs_choice(self):
        jobs = {TRAINING_JOB.job(f"tj-{mode.lower()}", ALL_ROLES, extra={
            "network": {"evaluatorInCluster": mode}}): seen for mode, seen in (
                ("Own", ("evaluator",)), ("All", tuple(ALL_ROLES)), ("None", ()))}
        # As training-operator has it.
        jobs[TFJOB.job("tf", ALL_ROLES)] = tuple(ALL_ROLES)
        self.start(*jobs)
        self.await_running(*jobs)
        for job, seen in jobs.items():
            with self.subTest(job.name):
                self.assertEqual(tuple(role for role in ALL_ROLES if "evaluator" in json.loads(
                    self.variables(job.pod(role))["TF_CONFIG"])["cluster"]), seen)

    def test_ports_are_those_of_the_manifest(self):
        ports = [{"name": "tfjob-port", "containerPort": PORT},
                 {"name": "debug", "containerPort": PORT + 1}]
        container = {**pod_template("tensorflow")["spec"]["containers"][0], "ports": ports}
        tfjob = TFJOB.job("tf-port", {"ps": 1, "worker": 1}, template={"containers": [container]})
        # Of one role only: the others keep the usual one.
        servers = tfjob.manifest["spec"]["tfReplicaSpecs"]["PS"]
        servers["template"] = pod_template("tensorflow")
        job = TRAINING_JOB.job("tj-port", {"ps": 1, "worker": 1},
                               extra={"network": {"port": PORT}})
        self.start(tfjob, job)
        self.await_running(tfjob, job)
        self.check(tfjob, "ps", self.text({**self.hosts(tfjob, "ps"),
                                           **self.hosts(tfjob, "worker", port=PORT)}, "ps"))
        self.check(job, "ps", self.text(
            self.hosts(job, "ps", "worker", per_job=True, port=PORT), "ps"))
        self.assertEqual(self.ports_of(tfjob.pod("worker")),
                         {"tfjob-port": PORT, "debug": PORT + 1})
        self.assertEqual(self.ports_of(tfjob.pod("ps")), {"tfjob-port": 2222})
        self.assertEqual(self.ports_of(job.name), {"taas": PORT, "taas-status": 2223})

    def ports_of(self, service):
        spec = self.api.get("services", service)["spec"]
        self.assertEqual((spec["clusterIP"], spec["publishNotReadyAddresses"]), ("None", True))
        return {port["name"]: port["port"] for port in spec["ports"]}

    def test_a_program_of_ones_own_keeps_its_security_context(self):
        pod = {"runAsUser": 1234, "runAsNonRoot": True, "fsGroup": 4321}
        own = {"runAsUser": 1235, "readOnlyRootFilesystem": False,
               "capabilities": {"add": ["NET_BIND_SERVICE"]}}
        said, silent = [], []
        for kind in KINDS:
            container = {"name": kind.container, "image": IMAGE, "securityContext": own}
            said.append(kind.job(f"{kind.short}-said", {"worker": 1}, template={
                "securityContext": pod, "containers": [container]}))
            silent.append(kind.job(f"{kind.short}-silent", {"worker": 1}))
        self.start(*said, *silent)
        self.await_running(*said, *silent)
        for jobs, of_pod, of_container in ((said, pod, own), (silent, {}, None)):
            for job in jobs:
                spec = self.api.get("pods", job.pod("worker"))["spec"]
                self.assertEqual(spec["securityContext"], of_pod)
                self.assertEqual(spec["containers"][0].get("securityContext"), of_container)
