"""What a real node says of a pod that it cannot start stands in the job's message."""

from fake_nodes import ON_A_REAL_NODE
from fault_jobs import KINDS, job_of
from scenario import CONTAINER_SECURITY, POD_SECURITY, SHELL_IMAGE, Scenario


class NodeMessagesTest(Scenario):

    def submit(self, kind, name, image, restart_policy=None, **container):
        job = job_of(kind, name, 1, {
            **ON_A_REAL_NODE,
            "securityContext": POD_SECURITY,
            "container_spec": {"image": image, "securityContext": CONTAINER_SECURITY,
                               **container}})
        job["metadata"]["namespace"] = self.namespace
        if restart_policy is not None:
            spec = job["spec"]
            role = spec["roles"]["worker"] if kind == "tj" else spec["tfReplicaSpecs"]["Worker"]
            role["restartPolicy"] = restart_policy
        self.kubectl.create(job)

    def await_message(self, kind, name, *words):
        self.wait_for(f"a message of {kind}/{name} with {words}", lambda: all(
            word in self.status(name, kind).get("message", "") for word in words))

    def test_an_image_that_cannot_be_had_and_settings_that_are_not_there_are_named(self):
        missing = "registry.invalid/nobody/has:1"
        settings = [{"configMapRef": {"name": "settings"}}]
        for kind in KINDS:
            self.submit(kind, "image-" + kind, missing)
            self.submit(kind, "settings-" + kind, SHELL_IMAGE, envFrom=settings,
                        command=["true"])
        for kind in KINDS:
            self.await_message(kind, "image-" + kind, "worker-0 cannot start: ", missing)
            self.await_message(kind, "image-" + kind, "ImagePull")
            self.await_message(kind, "settings-" + kind, "CreateContainerConfigError",
                               'configmap "settings" not found')
        # What was missing comes: nobody has to touch the jobs.
        self.k("create", "configmap", "settings", "--from-literal=A=b")
        for kind in KINDS:
            self.await_success("settings-" + kind, kind)

    def test_a_program_that_its_node_starts_in_vain_is_quoted(self):
        for kind in KINDS:
            self.submit(kind, "vain-" + kind, SHELL_IMAGE, "OnFailure",
                        command=["sh", "-c", "echo no module of this name >&2; exit 3"])
        for kind in KINDS:
            self.await_message(kind, "vain-" + kind, "worker-0 fails again and again: ",
                               "CrashLoopBackOff", "exit code 3: no module of this name")
