"""What a user's program does with the Python clients: one case per run.

    KUBECONFIG=… python client_program.py pod|metrics|trainingjob|tfjob|tfjob-life
        [--namespace NS] [--image IMAGE]        of the cases of TFJobs
"""

import argparse
import time

from kubernetes import client, config, watch
from kubernetes.utils import parse_quantity

NAMESPACE = "default"
# What takes longer than this hangs.
LIMIT_S = 120
# A status is written once a second at most.
UPDATE_TRIES = 10


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def shell(script):
    return ["/bin/sh", "-c", script]


def pod_case():
    core = client.CoreV1Api()
    container = client.V1Container(name="main", image="own:1",
                                   command=shell("echo hello; sleep 1; echo done"))
    pod = client.V1Pod(metadata=client.V1ObjectMeta(name="p", labels={"app": "x"}),
                       spec=client.V1PodSpec(containers=[container], restart_policy="Never"))
    made = core.create_namespaced_pod(NAMESPACE, pod)
    check(made.metadata.uid, "the pod has no uid")
    phases = []
    for event in watch.Watch().stream(core.list_namespaced_pod, NAMESPACE, label_selector="app=x",
                                      timeout_seconds=LIMIT_S):
        phases.append(event["object"].status.phase)
        if phases[-1] in ("Succeeded", "Failed"):
            break
    check(phases[-1] == "Succeeded", f"the pod went {phases}")
    log = core.read_namespaced_pod_log("p", NAMESPACE)
    check(log == "hello\ndone\n", f"the log is {log!r}")
    core.patch_namespaced_pod("p", NAMESPACE, {"metadata": {"annotations": {"note": "1"}}})
    patched = core.read_namespaced_pod("p", NAMESPACE)
    check(patched.metadata.annotations["note"] == "1", "the patch is lost")
    events = core.list_namespaced_event(NAMESPACE, field_selector="involvedObject.name=p").items
    check("Scheduled" in {event.reason for event in events}, "no event of the scheduler")
    core.delete_namespaced_pod("p", NAMESPACE)
    left = core.list_namespaced_pod(NAMESPACE, label_selector="app=x").items
    check(not left, "the pod is still there")


def metrics_case():
    core = client.CoreV1Api()
    container = client.V1Container(name="main", image="own:1",
                                   command=shell("while :; do :; done"))
    core.create_namespaced_pod(NAMESPACE, client.V1Pod(
        metadata=client.V1ObjectMeta(name="burner", labels={"app": "burner"}),
        spec=client.V1PodSpec(containers=[container], restart_policy="Never")))
    where = {"group": "metrics.k8s.io", "version": "v1beta1"}
    metrics = client.CustomObjectsApi()
    items, deadline = [], time.monotonic() + LIMIT_S
    while not items and time.monotonic() < deadline:
        items = metrics.list_namespaced_custom_object(
            namespace=NAMESPACE, plural="pods", label_selector="app=burner", **where)["items"]
    check([item["metadata"]["name"] for item in items] == ["burner"], f"measured are {items}")
    usage = items[0]["containers"][0]["usage"]
    check(parse_quantity(usage["cpu"]) > 0.01, f"a busy loop uses {usage}")
    check(parse_quantity(usage["memory"]) > 10_000, f"a shell uses {usage}")
    one = metrics.get_namespaced_custom_object(namespace=NAMESPACE, plural="pods", name="burner",
                                               **where)
    check(one["kind"] == "PodMetrics" and one["window"].endswith("s"), f"the object is {one}")
    nodes = metrics.list_cluster_custom_object(plural="nodes", **where)["items"]
    used = {node["metadata"]["name"]: parse_quantity(node["usage"]["cpu"]) for node in nodes}
    check(set(used) == {"local"} and used["local"] > 0.01, f"the nodes use {used}")
    core.delete_namespaced_pod("burner", NAMESPACE, grace_period_seconds=0)
    try:
        metrics.get_namespaced_custom_object(namespace=NAMESPACE, plural="pods", name="burner",
                                             **where)
        raise AssertionError("a pod that is gone has metrics")
    except client.ApiException as error:
        check(error.status == 404, error.body)


def training_job():
    template = {"spec": {"containers": [
        {"name": "trainer", "image": "own:1", "command": shell("echo trained")}]}}
    return {"apiVersion": "taas.dev/v1", "kind": "TrainingJob", "metadata": {"name": "t"},
            "spec": {"roles": {"worker": {"replicas": 2, "template": template}}}}


def trainingjob_case():
    jobs = client.CustomObjectsApi()
    where = {"group": "taas.dev", "version": "v1", "namespace": NAMESPACE,
             "plural": "trainingjobs"}
    made = jobs.create_namespaced_custom_object(body=training_job(), **where)
    state = None
    for event in watch.Watch().stream(jobs.list_namespaced_custom_object, **where,
                                      resource_version=made["metadata"]["resourceVersion"],
                                      timeout_seconds=LIMIT_S):
        state = event["object"].get("status", {}).get("state")
        if state in ("Succeeded", "Failed"):
            break
    check(state == "Succeeded", f"the job is {state}")
    scale = jobs.get_namespaced_custom_object_scale(name="t", **where)
    check(scale["spec"]["replicas"] == 2, f"the scale is {scale}")
    try:
        bad = training_job()
        bad["metadata"]["name"] = "bad"
        bad["spec"]["roles"]["worker"]["replicas"] = -1
        jobs.create_namespaced_custom_object(body=bad, **where)
        raise AssertionError("a job with -1 workers was taken")
    except client.ApiException as error:
        check(error.status == 422 and "spec.roles.worker.replicas" in error.body, error.body)
    jobs.delete_namespaced_custom_object(name="t", **where)


def replica(script, image, replicas=1, policy="OnFailure"):
    from kubeflow.training import KubeflowOrgV1ReplicaSpec
    container = client.V1Container(name="tensorflow", image=image, command=shell(script))
    return KubeflowOrgV1ReplicaSpec(
        replicas=replicas, restart_policy=policy, template=client.V1PodTemplateSpec(
            spec=client.V1PodSpec(containers=[container], termination_grace_period_seconds=1)))


def tf_job(name, namespace, **replicas):
    from kubeflow.training import KubeflowOrgV1RunPolicy, KubeflowOrgV1TFJob, KubeflowOrgV1TFJobSpec
    return KubeflowOrgV1TFJob(
        api_version="kubeflow.org/v1", kind="TFJob",
        metadata=client.V1ObjectMeta(name=name, namespace=namespace),
        spec=KubeflowOrgV1TFJobSpec(run_policy=KubeflowOrgV1RunPolicy(clean_pod_policy="None"),
                                    tf_replica_specs=replicas))


def await_true(what, look):
    """For what the SDK does not wait for by itself."""
    deadline = time.monotonic() + LIMIT_S
    while not (seen := look()):
        check(time.monotonic() < deadline, f"waited {LIMIT_S} s for {what}")
        time.sleep(0.5)
    return seen


def await_log(training, name, pod):
    """The SDK leaves out pods in the phase Pending, which a kubelet takes for a moment for the
    phase of one that ended at once."""
    return await_true(f"a log of {pod}", lambda: training.get_job_logs(name)[0].get(pod))


def read_job_without_policies(training, namespace, image):
    """The SDK takes no TFJob without a runPolicy; the manifests of many have none."""
    worker = client.ApiClient().sanitize_for_serialization(replica("true", image))
    client.CustomObjectsApi().create_namespaced_custom_object(
        group="kubeflow.org", version="v1", namespace=namespace, plural="tfjobs", body={
            "apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "plain"},
            "spec": {"tfReplicaSpecs": {"Worker": worker}}})
    made = training.get_job("plain")
    check(made.spec.tf_replica_specs["Worker"].replicas == 1, made)
    training.delete_job("plain")


def tfjob_case(namespace, image):
    from kubeflow.training import TrainingClient
    training = TrainingClient(namespace=namespace, job_kind="TFJob")
    read_job_without_policies(training, namespace, image)
    training.create_job(
        tf_job("tf", namespace, Worker=replica("echo $TF_CONFIG; echo trained", image, 2)),
        namespace=namespace)
    made = training.get_job("tf")
    check(made.spec.tf_replica_specs["Worker"].replicas == 2, made)
    done = training.wait_for_job_conditions(name="tf", timeout=LIMIT_S, polling_interval=1)
    check(done.status.conditions[-1].type == "Succeeded", done.status.conditions)
    names = training.get_job_pod_names("tf")
    check(sorted(names) == ["tf-worker-0", "tf-worker-1"], f"the pods are {names}")
    check(len(training.get_job_pods("tf")) == 2, "two pods")
    log = await_log(training, "tf", "tf-worker-0")
    check("trained" in log, f"the log is {log}")
    check(f'"tf-worker-1.{namespace}.svc:' in log or "127.0.0.1" in log, f"the log is {log}")
    check(training.is_job_succeeded("tf"), "not succeeded")
    check([job.metadata.name for job in training.list_jobs()] == ["tf"], "not the one job")
    training.delete_job("tf")
    left = training.list_jobs()
    check(not left, f"jobs are left: {left}")


def suspend(training, name, wanted):
    """As a user of the SDK has to: it sends the version back that it has read, and whoever writes
    a status in between is first."""
    for _ in range(UPDATE_TRIES):
        job = training.get_job(name)
        job.spec.run_policy.suspend = wanted
        try:
            return training.update_job(job, name)
        except RuntimeError as error:
            if "(409)" not in str(error):
                raise
    raise RuntimeError(f"{name} was changed by others {UPDATE_TRIES} times in a row")


def life_case(namespace, image):
    from kubeflow.training import TrainingClient
    training = TrainingClient(namespace=namespace, job_kind="TFJob")
    # The first pod of the workers is killed, the second attempt of the chief fails.
    worker = '[ "$TAAS_POD_NUMBER" = 1 ] && exit 130; sleep 3600'
    chief = '[ "$TAAS_ATTEMPT" = 1 ] && sleep 3600; echo no >&2; exit 1'
    training.create_job(
        tf_job("life", namespace, Chief=replica(chief, image, policy="Never"),
               Worker=replica(worker, image, 2, "ExitCode")), namespace=namespace)
    training.wait_for_job_conditions("life", expected_conditions={"Running"}, polling_interval=1,
                                     wait_timeout=LIMIT_S)
    check(training.get_job_pod_names("life", is_master=True) == ["life-chief-0"], "the master")
    # Between its first pod and its second there is none.
    await_true("one pod of worker 1", lambda: ["life-worker-1"] == [
        pod.metadata.name for pod in training.get_job_pods(
            "life", replica_type="worker", replica_index=1)])
    await_true("the workers' ends among the events", lambda: "exited with code 130" in str(
        training.get_job_logs("life", verbose=True)[1]["tfjob/life"]))
    suspend(training, "life", True)
    await_true("the job to be suspended", lambda: any(
        found.type == "Suspended" and found.status == "True"
        for found in training.get_job_conditions("life")))
    await_true("the end of its pods", lambda: not training.get_job_pods("life"))
    suspend(training, "life", False)
    try:
        training.wait_for_job_conditions("life", polling_interval=1, wait_timeout=LIMIT_S)
        raise AssertionError("a job whose chief failed succeeded")
    except RuntimeError as error:
        check("life is Failed" in str(error), str(error))
    check(training.is_job_failed("life"), "not failed")
    log = await_log(training, "life", "life-chief-0")
    check(log == "no\n", f"the log is {log}")
    training.delete_job("life")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cases = {"pod": pod_case, "metrics": metrics_case, "trainingjob": trainingjob_case}
    of_tfjobs = {"tfjob": tfjob_case, "tfjob-life": life_case}
    parser.add_argument("case", choices=[*cases, *of_tfjobs])
    parser.add_argument("--namespace", default=NAMESPACE)
    parser.add_argument("--image", default="own:1")
    args = parser.parse_args()
    config.load_kube_config()
    if args.case in cases:
        cases[args.case]()
    else:
        of_tfjobs[args.case](args.namespace, args.image)
    print(args.case, "done")


if __name__ == "__main__":
    main()
