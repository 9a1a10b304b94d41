#!/usr/bin/python3
"""How late statuses tell what pods do, while many jobs begin and end at once.

  bench/operator/burst.py [--jobs 200] [--replicas 10] [--kind TFJob] [--runs 3] OPERATOR…

Each OPERATOR is a taas-operator; they run in turn, each time on a fresh etcd and kube-apiserver of
v1.34, and this program plays what a cluster has beside them: a pod runs as soon as it is seen. So
that no root is needed and the figures are of operator and API server; row `many` of run.py has a
scheduler and nodes. Prints a table: pods a second, and for how many of the jobs the status told
within what time after the last pod ran, and after the chiefs of all jobs had ended together.
"""

import argparse
import collections
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
E2E = os.path.join(os.path.dirname(os.path.dirname(HERE)), "e2e")
sys.path[:0] = [HERE, os.path.join(E2E, "cluster"), os.path.join(E2E, "chart")]
sys.dont_write_bytecode = True

import api_server
import contestants
import figures
import launch
import names
import observer
import played
import rows
import table
import usage
KINDS = {"TrainingJob": "taas-trainingjob", "TFJob": "taas-tfjob"}
# Nothing was written into a job for so long: what there was to say of the workers' end is said.
CALM_S = 3


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("operators", nargs="+", metavar="OPERATOR", help="a taas-operator")
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--replicas", type=int, default=10)
    parser.add_argument("--kind", choices=KINDS, default="TrainingJob")
    parser.add_argument("--runs", type=int, default=3, help="of each operator, in turn")
    return parser.parse_args()


def job_of(pod):
    """job-00007-worker-3 is of job-00007."""
    return pod.rsplit("-", 2)[0]


def last_of(times):
    """By job, of the times of pods."""
    last = collections.defaultdict(float)
    for pod, moment in times.items():
        last[job_of(pod)] = max(last[job_of(pod)], moment)
    return last


def lags(told, happened):
    """Sorted; negative where the words came through the other watch first."""
    return sorted(max(0.0, told[job] - moment) for job, moment in happened.items())


def trial(program, contestant, size):
    with api_server.ApiServer() as server:
        client = played.client(server)
        server.kubectl("create", "namespace", names.NAMESPACE)
        played.install(server, contestant)
        with played.operator(server, program) as running, \
                played.Cluster(client, names.NAMESPACE, contestant.container) as pods, \
                observer.JobObserver(client, contestant.jobs_path) as jobs:
            return measured(client, contestant, size, pods, jobs, running.pid)


def measured(client, contestant, size, pods, jobs, pid):
    total = size.jobs * size.replicas
    began = time.monotonic()
    launch.submit(client, contestant, size)
    pods.until("all pods to run", lambda: len(pods.running) >= total)
    ran = last_of(pods.running)
    jobs.until("all jobs to be Running", lambda: len(jobs.told["Running"]) >= size.jobs)
    sample = {"pods_per_s": total / (max(pods.created.values()) - began),
              "run_s": max(pods.running.values()) - began,
              "running_lag_s": lags(jobs.told["Running"], ran)}
    workers = [pod for pod in pods.running if "-worker-" in pod and size.replicas > 1]
    pods.end(workers)
    pods.until("all workers to end", lambda: len(pods.ended) >= len(workers))
    jobs.until("calm", lambda: time.monotonic() - jobs.last > CALM_S)
    chiefs = [f"{job}-{'chief' if size.replicas > 1 else 'worker'}-0" for job in ran]
    before = time.monotonic()
    pods.end(chiefs)
    jobs.until("all jobs to succeed", lambda: len(jobs.told["Succeeded"]) >= size.jobs)
    ended = {job_of(pod): pods.ended[pod] for pod in chiefs}
    sample["ended_within_s"] = max(pods.ended[pod] for pod in chiefs) - before
    sample["succeeded_lag_s"] = lags(jobs.told["Succeeded"], ended)
    sample["cpu_s"] = usage.cpu_s(pid)
    sample["rss_mb"] = usage.rss_mb(pid)
    return sample


def report(samples):
    lines = []
    for program, found in samples.items():
        line = [program]
        line += [figures.text([sample[key] for sample in found])
                 for key in ("pods_per_s", "run_s")]
        for key in ("running_lag_s", "succeeded_lag_s"):
            for share in (0.5, 0.99):
                line.append(figures.text(
                    [figures.percentile(sample[key], share) for sample in found]))
        line += [figures.text([sample[key] for sample in found]) for key in ("cpu_s", "rss_mb")]
        lines.append(line)
    return table.markdown(
        ("", "pods a second", "all run, s", "Running told, p50, s", "p99", "Succeeded told, p50, s",
         "p99", "CPU, s", "RSS, MB"), lines)


def main():
    args = arguments()
    contestant = contestants.BY_NAME[KINDS[args.kind]]
    size = rows.Size(args.jobs, args.replicas, 0)
    samples = collections.defaultdict(list)
    for _ in range(args.runs):
        for program in args.operators:
            sample = trial(program, contestant, size)
            samples[program].append(sample)
            print(f"{program}: {sample['pods_per_s']:.0f} pods a second; Running told p99 "
                  f"{figures.percentile(sample['running_lag_s'], 0.99):.2f} s; Succeeded told p99 "
                  f"{figures.percentile(sample['succeeded_lag_s'], 0.99):.2f} s",
                  file=sys.stderr, flush=True)
    print(report(samples))
    return 0


if __name__ == "__main__":
    sys.exit(main())
