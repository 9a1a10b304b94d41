"""What a user's program does with the Python client `taas`: one case per run.

    KUBECONFIG=… PYTHONPATH=python python client_cases.py CASE --examples DIR --image IMAGE
        [--namespace NS] [--page FILE]

The claims mnist-data and mnist-out are there. --page: whose first program in Python is run as it
stands, in the folder of the examples.
"""

import argparse
import os
import re
import threading

import taas

# What takes longer than this hangs.
LIMIT_S = 240
# More than a job will do before it is deleted.
ENDLESS_STEPS = 10**9
# More than any node here has.
TOO_MANY_GPUS = 64


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def endless(name, **more):
    """Trains on generated data until somebody ends it."""
    return taas.TrainingJob(
        name=name, model={"name": "mlp", "hidden": [100]},
        data={"format": "generated", "generated": {
            "examples": 1000, "testExamples": 100, "features": 50, "classes": 10}},
        max_steps=ENDLESS_STEPS, chief=1, ps=1, workers=1, **more)


def shell(name, script, image, **more):
    return taas.TrainingJob(name=name, image=image, command=["sh", "-c", script], **more)


def example_case(_client, args):
    with open(args.page, encoding="utf-8") as file:
        program = re.search(r"```python\n(.*?)```", file.read(), re.DOTALL)[1]
    os.chdir(os.path.dirname(args.examples))
    exec(compile(program, args.page, "exec"), {"__name__": "__main__"})


def train_case(client, args):
    # Mode Sync: without it a worker whose volume is late may have no part in the training, and is
    # deleted with its log as the job ends.
    with open(os.path.join(args.examples, "mnist.yaml"), encoding="utf-8") as file:
        job = client.submit(file.read().replace("mode: Async", "mode: Sync"))
    followed, states = [], []
    reader = threading.Thread(target=lambda: followed.extend(job.logs(follow=True)))
    reader.start()
    status = job.wait(timeout=LIMIT_S, on_change=lambda seen: states.append(seen.state))
    check(status.state == "Succeeded" and states[-1] == "Succeeded", states)
    check((status.progress.step, status.progress.max_steps) == (2000, 2000), status)
    check(status.evaluation.accuracy > 0.9, status)
    check({role: found.desired for role, found in status.replicas.items()} ==
          {"chief": 1, "ps": 2, "worker": 2}, status.replicas)
    check(any(found.type == "Succeeded" and found.status for found in status.conditions), status)
    reader.join(LIMIT_S)
    check(not reader.is_alive(), "the job has ended, and its logs are followed still")
    lines = list(job.logs())
    check({line.replica for line in lines} ==
          {"chief-0", "ps-0", "ps-1", "worker-0", "worker-1"}, lines[:5])
    check(lines == sorted(lines, key=lambda line: line.time), "not in the order of time")
    check(sorted(followed) == sorted(lines), f"{len(followed)} followed, {len(lines)} read")
    last = list(job.logs(role="chief", tail=2))
    check([line.text for line in last] ==
          [line.text for line in lines if line.replica == "chief-0"][-2:], last)
    check("Succeeded" in job._repr_html_(), job._repr_html_())
    job.delete()
    job.wait("Deleted", timeout=LIMIT_S)


def series_case(client, _args):
    job = client.submit(endless(
        "curves", evaluator=1, volumes=[taas.claim("mnist-out", "/out")],
        checkpoint={"dir": "/out/curves", "everySeconds": 1}, evaluation={"everySeconds": 1},
        summaries={"dir": "/out/curves-logs", "everySteps": 10}))
    job.wait(lambda seen: seen.evaluation is not None or bool(
        seen.progress and seen.progress.step > 100), timeout=LIMIT_S)
    read, pause = {}, threading.Event()
    for _ in range(LIMIT_S):
        read = job.series()
        if read.get("loss") and read.get("evaluator/accuracy"):
            break
        pause.wait(1)
    steps = [point.step for point in read["loss"]]
    check(len(steps) > 2 and steps == sorted(steps), steps)
    check(0 <= read["evaluator/accuracy"][-1].value <= 1, read["evaluator/accuracy"])
    check(read["loss"][0].wall > 1.7e9, read["loss"][0])
    newer = job.series(since=steps[-1])
    check(all(point.step > steps[-1] for point in newer["loss"]), newer["loss"][:3])
    check({"series": "loss", **read["loss"][0]._asdict()} in taas.rows(read), "rows")
    job.delete()
    job.wait("Deleted", timeout=LIMIT_S)


def failure_case(client, args):
    # To one stream: in which order lines of two come is the container runtime's affair.
    script = "exec >&2; echo reading; echo no such file: train.gz; exit 1"
    job = client.submit(shell("bad", script, args.image))
    try:
        job.wait(timeout=LIMIT_S)
        raise AssertionError("a job whose program fails has succeeded")
    except taas.JobFailed as error:
        check(error.status.state == "Failed" and "exit code 1" in error.status.message, error)
        (failure,) = error.failures
        check((failure.replica, failure.exit_code) == ("worker-0", 1), failure)
        check(failure.log == ("reading", "no such file: train.gz"), failure)
        check("no such file: train.gz" in str(error).splitlines()[-1], str(error))
    big = client.submit(shell("big", "true", args.image, gpus=TOO_MANY_GPUS))
    try:
        # The scheduler's word is there in a moment, and may be so after another of the operator's.
        big.wait(lambda seen: "Insufficient" in seen.message, timeout=LIMIT_S)
        big.wait("Running", timeout=1)
        raise AssertionError("a job runs that fits nowhere")
    except taas.WaitTimeout as error:
        check("Insufficient nvidia.com/gpu" in str(error), str(error))
        check(error.status.state == "Pending", error.status)
    check({job.name: job.last.state for job in client.jobs()} ==
          {"bad": "Failed", "big": "Pending"}, client.jobs())
    for job in client.jobs():
        job.delete()


def life_case(client, args):
    script = ('echo pod $TAAS_POD_NUMBER; [ "$TAAS_POD_NUMBER" = 1 ] && { sleep 3; exit 130; }; '
              'exec sleep 3600')
    job = client.submit(shell("life", script, args.image, workers=2))
    lines = job.logs(role="worker", index=1, follow=True)
    check([next(lines).text for _ in range(2)] == ["pod 1", "pod 2"], "the logs of two pods")
    lines.close()
    status = job.wait(lambda seen: seen.restarts == {"killed": 2} and seen.ready == "2/2",
                      timeout=LIMIT_S)
    check({(end.replica, end.exit_code) for end in status.history} ==
          {("worker-0", 130), ("worker-1", 130)}, status.history)
    job.scale(3)
    job.wait(lambda seen: seen.ready == "3/3", timeout=LIMIT_S)
    job.suspend()
    job.wait("Suspended", timeout=LIMIT_S)
    job.resume()
    job.wait("Running", timeout=LIMIT_S)
    again = client.job("life")
    job.delete()
    again.wait("Deleted", timeout=LIMIT_S)
    try:
        job.status()
        raise AssertionError("a job that was deleted has a status")
    except taas.NotFound as error:
        check("default" in str(error) or client.namespace in str(error), error)


def tfjob_case(client, args):
    job = client.submit(taas.TFJob(
        name="tf", image=args.image, command=["sh", "-c"], args=["echo $TF_CONFIG; echo trained"],
        workers=2, chief=1, cpu="10m"))
    status = job.wait(timeout=LIMIT_S)
    check(status.conditions[-1].type == "Succeeded", status.conditions)
    check({line.replica for line in job.logs() if line.text == "trained"} >= {"chief-0"},
          "the chief's log")
    check([found.kind.name for found in client.jobs(kind="tfjob")] == ["TFJob"], "one TFJob")
    job.delete()


def refused_case(client, args):
    manifest = shell("x", "true", args.image).to_manifest()
    manifest["spec"]["roles"]["worker"]["replcas"] = 1
    for bad, word in ((manifest, "replcas"), ("kind: Pod\n", "kind"),
                      (shell("x", "true", args.image, workers=-1), "replicas")):
        try:
            client.submit(bad)
            raise AssertionError(f"{bad} was taken")
        except taas.ManifestError as error:
            check(word in str(error), error)
    client.submit(shell("x", "true", args.image), dry_run=True)
    try:
        client.job("x")
        raise AssertionError("a dry run made a job")
    except taas.NotFound:
        pass
    job = client.submit(shell("x", "true", args.image))
    try:
        client.submit(shell("x", "true", args.image))
        raise AssertionError("two jobs of one name")
    except taas.AlreadyExists as error:
        check("x" in error.subject, error)
    job.delete()


CASES = {"example": example_case, "train": train_case, "series": series_case,
         "failure": failure_case, "life": life_case, "tfjob": tfjob_case, "refused": refused_case}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--examples", required=True)
    parser.add_argument("--image", required=True)
    parser.add_argument("--namespace")
    parser.add_argument("--page")
    args = parser.parse_args()
    with taas.Client(namespace=args.namespace) as client:
        CASES[args.case](client, args)
    print(args.case, "done")


if __name__ == "__main__":
    main()
