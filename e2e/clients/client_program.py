"""What a user's program does with the Python clients: one case per run.

    KUBECONFIG=… python client_program.py pod|metrics|trainingjob|tfjob
"""

import sys
import time

from kubernetes import client, config, watch
from kubernetes.utils import parse_quantity

NAMESPACE = "default"
# What takes longer than this hangs.
LIMIT_S = 120


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


def tfjob_case():
    from kubeflow.training import (KubeflowOrgV1ReplicaSpec, KubeflowOrgV1RunPolicy,
                                   KubeflowOrgV1TFJob, KubeflowOrgV1TFJobSpec, TrainingClient)
    container = client.V1Container(name="tensorflow", image="own:1",
                                   command=shell("echo $TF_CONFIG; echo trained"))
    template = client.V1PodTemplateSpec(spec=client.V1PodSpec(containers=[container]))
    job = KubeflowOrgV1TFJob(
        api_version="kubeflow.org/v1", kind="TFJob",
        metadata=client.V1ObjectMeta(name="tf", namespace=NAMESPACE),
        spec=KubeflowOrgV1TFJobSpec(
            run_policy=KubeflowOrgV1RunPolicy(clean_pod_policy="None"),
            tf_replica_specs={"Worker": KubeflowOrgV1ReplicaSpec(
                replicas=2, restart_policy="OnFailure", template=template)}))
    training = TrainingClient(namespace=NAMESPACE)
    training.create_job(job, namespace=NAMESPACE)
    done = training.wait_for_job_conditions(name="tf", namespace=NAMESPACE, job_kind="TFJob",
                                            timeout=LIMIT_S, polling_interval=1)
    check(done.status.conditions[-1].type == "Succeeded", done.status.conditions)
    names = training.get_job_pod_names("tf", namespace=NAMESPACE)
    check(sorted(names) == ["tf-worker-0", "tf-worker-1"], f"the pods are {names}")
    check(len(training.get_job_pods("tf", namespace=NAMESPACE)) == 2, "two pods")
    logs, _ = training.get_job_logs("tf", namespace=NAMESPACE, job_kind="TFJob")
    check("trained" in logs["tf-worker-0"], f"the log is {logs}")
    check(training.is_job_succeeded("tf", namespace=NAMESPACE, job_kind="TFJob"), "not succeeded")
    training.delete_job("tf", namespace=NAMESPACE, job_kind="TFJob")
    left = training.list_jobs(namespace=NAMESPACE, job_kind="TFJob")
    check(not left, f"jobs are left: {left}")


def main():
    config.load_kube_config()
    case = sys.argv[1]
    {"pod": pod_case, "metrics": metrics_case, "trainingjob": trainingjob_case,
     "tfjob": tfjob_case}[case]()
    print(case, "done")


if __name__ == "__main__":
    main()
