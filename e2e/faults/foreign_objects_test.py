"""Objects of others in a job's way, and those that pretend to be the job's: none is touched."""

from direct_api import jobs
from fault_jobs import (
    KINDS, foreign_pod, foreign_service, job_of, owner, replicas_patch, suspend_patch, tf_job,
    training_job)
from fault_scenario import ForeignScenario


def labels_of(job, index=0, number=1):
    """What the operator puts on the pods of a job."""
    return {"app.kubernetes.io/managed-by": "taas", "taas.dev/job-name": job["metadata"]["name"],
            "taas.dev/job-uid": job["metadata"]["uid"], "taas.dev/role": "worker",
            "taas.dev/index": str(index), "taas.dev/pod-number": str(number)}


class NamesTest(ForeignScenario):

    def test_what_has_a_name_of_ours_is_named_left_alone_and_waited_for(self):
        labelled = {"taas.dev/job-name": "labelled", "taas.dev/role": "worker",
                    "taas.dev/index": "0"}
        made = self.make(
            foreign_pod("plain-worker-0"),
            foreign_pod("labelled-worker-0", labels=labelled),
            foreign_service("service"),
            foreign_service("old-worker-1"))
        owned = foreign_pod("owned-worker-0", labels={"taas.dev/job-name": "owned"})
        self.submit("tj", training_job("plain", 2))
        self.submit("tj", training_job("labelled", 1))
        self.submit("tj", training_job("service", 1))
        self.submit("tfjob", tf_job("old", 2))
        self.await_message("tj", "plain", "the pod plain-worker-0 does not belong to this job",
                           "owner: none", "delete it or rename the job")
        self.await_message("tj", "labelled", "the pod labelled-worker-0 does not belong")
        self.await_message("tj", "service", "the service service does not belong to this job",
                           "could not find each other")
        self.await_message("tfjob", "old", "worker-1 cannot be made",
                           "the service old-worker-1 does not belong to this job")
        # The collector takes what an owner that does not exist has; so it has one that does.
        (uid,) = self.make({"kind": "ConfigMap", "metadata": {"name": "other"}}).values()
        owned["metadata"]["ownerReferences"] = [{
            "apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": uid,
            "controller": True}]
        made.update(self.make(owned))
        self.submit("tj", training_job("owned", 1))
        self.await_message("tj", "owned", "owner: ConfigMap, uid " + uid)
        # The replicas that nothing is in the way of run meanwhile.
        self.wait_for("plain-worker-1", lambda: self.uid("plain-worker-1"))
        self.wait_for("old-worker-0", lambda: self.uid("old-worker-0"))
        self.check_untouched(made)
        for path in made:
            self.api.done("DELETE", path + "?gracePeriodSeconds=0")
        for name, workers in (("plain", 2), ("labelled", 1), ("service", 1), ("owned", 1)):
            self.await_running("tj", name, workers)
        self.await_running("tfjob", "old", 2)


class ForgedTest(ForeignScenario):

    def test_whoever_bears_a_jobs_labels_or_owner_under_another_name_outlives_it(self):
        for kind in KINDS:
            job = self.submit(kind, job_of(kind, kind, 2, cleanPodPolicy="All"))
            reference = owner(kind, kind, job["metadata"]["uid"])
            made = self.make(
                foreign_pod(kind + "-labelled", labels=labels_of(job)),
                foreign_pod(kind + "-owned", labels=labels_of(job, 7),
                            ownerReferences=[reference]),
                foreign_service(kind + "-labelled", labels=labels_of(job)))
            self.await_running(kind, kind, 2)
            self.edit(kind, kind, replicas_patch(kind, 1))
            self.await_running(kind, kind, 1)
            self.edit(kind, kind, suspend_patch(kind, True))
            self.wait_for("its own pod to be gone", lambda: not self.uid(kind + "-worker-0"))
            self.edit(kind, kind, suspend_patch(kind, False))
            self.await_running(kind, kind, 1)
            self.check_untouched(made)

    def test_a_pod_that_claims_to_be_the_jobs_does_not_spoil_its_numbers(self):
        for kind in KINDS:
            job = self.submit(kind, job_of(kind, kind))
            self.await_running(kind, kind, 1)
            self.edit(kind, kind, suspend_patch(kind, True))
            self.wait_for("its pod to be gone", lambda: not self.uid(kind + "-worker-0"))
            # Named, labelled and owned as ours: what says that it is the job's is the job's.
            forged = foreign_pod(kind + "-worker-0", labels=labels_of(job, 0, 2147483647),
                                 ownerReferences=[owner(kind, kind, job["metadata"]["uid"])])
            (uid,) = self.make(forged).values()
            self.edit(kind, kind, suspend_patch(kind, False))
            pod = self.await_other_pod(kind + "-worker-0", uid)
            self.assertLess(int(pod["metadata"]["labels"]["taas.dev/pod-number"]), 10)
            self.await_running(kind, kind, 1)


class FinalizersTest(ForeignScenario):

    def test_a_pod_that_another_holds_is_waited_for_in_silence(self):
        before = self.start_held()
        for kind in KINDS:
            self.api.done("DELETE", self.pod_path(kind + "-worker-0"))
        for kind in KINDS:
            self.await_message(kind, kind, "worker-0 waits until its last pod is gone")
        self.await_rest()
        for kind in KINDS:
            self.assertEqual(self.pod(kind + "-worker-0")["metadata"]["finalizers"],
                             ["example.org/hold"])
            self.let_go(kind + "-worker-0")
            self.await_other_pod(kind + "-worker-0", before[kind], "Pending")

    def start_held(self):
        """The uids of the jobs' pods."""
        before = {}
        for kind in KINDS:
            self.submit(kind, job_of(kind, kind, 1, {"nodeSelector": {"nobody": "has-it"}}))
        for kind in KINDS:
            before[kind] = self.wait_for("a pod", lambda: self.uid(kind + "-worker-0"))
            self.hold(kind + "-worker-0")
        return before

    def test_a_job_made_again_waits_for_the_pods_of_the_one_before(self):
        before = self.start_held()
        for kind in KINDS:
            self.api.done("DELETE", jobs(self.namespace, kind, kind))
            self.submit(kind, job_of(kind, kind))
        for kind in KINDS:
            self.await_message(
                kind, kind, "waits until the pod of an earlier job of this name is gone")
            self.assertEqual(self.uid(kind + "-worker-0"), before[kind])
        for kind in KINDS:
            self.let_go(kind + "-worker-0")
            pod = self.await_other_pod(kind + "-worker-0", before[kind])
            self.assertEqual(pod["metadata"]["labels"]["taas.dev/pod-number"], "1")
            self.assertNotIn("restarts", self.await_running(kind, kind, 1))
