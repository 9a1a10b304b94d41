"""What Prometheus has seen of two operators, minute by minute, and the alert that it should raise.

    for case in CASES:
        case.series({"namespace": "taas-system", "service": "taas-operator-metrics"})

Values are in promtool's words: `0+2x30` is 0, 2, 4 … at the minutes 0 to 30, `1x5` six times 1,
`_` no sample. A case that fires does so in the last of its minutes and in none before; one that
does not is quiet in each. Histograms have the buckets of the operator's code.
"""

import itertools
import re
from typing import NamedTuple

import helm

# The pods of two operators; the first leads.
LEADER, STANDBY = {"pod": "taas-operator-0"}, {"pod": "taas-operator-1"}


class Series(NamedTuple):
    metric: str
    values: str
    labels: dict = {}


class Case(NamedTuple):
    alert: str
    name: str
    fires: bool
    minutes: int
    of: tuple  # Series
    # Of the alert that fires, beside those which its rule gives; OWN: those of what is scraped too.
    with_labels: dict = {}
    with_own: bool = False

    def series(self, own):
        """(series, values) as promtool writes them."""
        for metric, values, labels in self.of:
            pairs = ",".join(f'{name}="{value}"' for name, value in {**own, **labels}.items())
            yield f"{metric}{{{pairs}}}", values

    def labels(self, own):
        """Of each alert that fires."""
        return [{**(own if self.with_own else {}), **self.with_labels}]


def buckets(function):
    """The bounds that a function of the operator's metrics gives."""
    code = helm.read("operator", "controller", "metrics.cc")
    (numbers,) = re.findall(rf"{function}\(\) {{\s*return {{([^}}]*)}};", code)
    return [float(number) for number in numbers.split(",")]


def histogram(metric, function, seconds):
    """`seconds` has for each duration how many more there are each minute."""
    bounds = buckets(function)
    found = []
    for bound in [*bounds, float("inf")]:
        count = sum(number for duration, number in seconds.items() if duration <= bound)
        text = "+Inf" if bound == float("inf") else f"{bound:g}"
        found.append(Series(metric + "_bucket", f"0+{count}x120", {**LEADER, "le": text}))
    return tuple(found)


def requests(**codes):
    """`codes` has for each code, as in `c503`, how many more there are each minute."""
    return tuple(Series("taas_api_requests_total", f"0+{number}x120",
                        {**LEADER, "verb": "PATCH", "code": code[1:]})
                 for code, number in codes.items())


def restarts(cause, *by_kind):
    kinds = ("TrainingJob", "TFJob")
    return tuple(Series("taas_restarts_total", values, {**LEADER, "kind": kind, "cause": cause})
                 for kind, values in zip(kinds, by_kind))


def both(metric, leader, standby):
    return (Series(metric, leader, LEADER), Series(metric, standby, STANDBY))


DEPTH = "taas_queue_depth"
LEADS = "taas_operator_leader"
RECONCILE = ("taas_reconcile_seconds", "ReconcileBuckets")
ALL_PODS = ("taas_all_pods_seconds", "LaunchBuckets")
WAITS = "taas_job_pending_seconds_max"
JOBS = "taas_jobs"
MEASURED = "taas_gpus_measured"
BUSY = "taas_gpus_busy"
OTHERS = "taas_tfjobs_of_another_controller"

DOWN = [
    Case("TaasOperatorDown", "nothing of it was ever scraped", True, 5, (), with_own=True),
    Case("TaasOperatorDown", "another release is scraped", True, 5,
         (Series(DEPTH, "0x30", {"namespace": "elsewhere"}),
          Series(DEPTH, "0x30", {"service": "another-metrics"})), with_own=True),
    Case("TaasOperatorDown", "both were scraped and are gone", True, 8,
         both(DEPTH, "0x2 stale _x30", "0x2 stale _x30"), with_own=True),
    Case("TaasOperatorDown", "the standby alone is left", False, 30,
         both(DEPTH, "0x2 stale _x30", "0x30")),
    Case("TaasOperatorDown", "it is away for four minutes", False, 30,
         (Series(DEPTH, "0x2 stale _x3 0x30", LEADER),)),
]
LEADERS = [
    Case("TaasOperatorsNotOneLeader", "both stand by", True, 5, both(LEADS, "0x30", "0x30")),
    Case("TaasOperatorsNotOneLeader", "both lead", True, 5, both(LEADS, "1x30", "1x30")),
    Case("TaasOperatorsNotOneLeader", "one leads and one stands by", False, 30,
         both(LEADS, "1x30", "0x30")),
    Case("TaasOperatorsNotOneLeader", "the lead is handed over in four minutes", False, 30,
         both(LEADS, "1x9 0x30", "0x13 1x30")),
    Case("TaasOperatorsNotOneLeader", "another release has a leader of its own", False, 30,
         (*both(LEADS, "1x30", "0x30"), Series(LEADS, "1x30", {"namespace": "elsewhere"}))),
]
FAILURES = [
    Case("TaasApiRequestsFail", f"one in nine has the code {code}", True, 16,
         requests(c200=8, **{"c" + code: 1})) for code in ("0", "429", "500", "503")
] + [
    Case("TaasApiRequestsFail", "one in eleven fails", False, 60, requests(c200=10, c503=1)),
    Case("TaasApiRequestsFail", "conflicts and names that are gone", False, 60,
         requests(c200=1, c404=5, c409=5)),
]
FORBIDDEN = [
    Case("TaasApiRequestsForbidden", "one is forbidden each minute", True, 16,
         requests(c200=50, c403=1)),
    Case("TaasApiRequestsForbidden", "a few were, once", False, 60,
         (*requests(c200=50), Series("taas_api_requests_total", "0x9 5x60",
                                     {**LEADER, "verb": "POST", "code": "403"}))),
    Case("TaasApiRequestsForbidden", "others fail", False, 60, requests(c401=1, c404=1, c503=1)),
]
QUEUE = [
    Case("TaasQueueNotEmptied", "it was empty at first and never again", True, 21,
         both(DEPTH, "0 2x60", "0x60"), with_own=True, with_labels=LEADER),
    Case("TaasQueueNotEmptied", "it is long, and empty each ten minutes", False, 60,
         (Series(DEPTH, " ".join(["0 90x8"] * 7), LEADER),)),
]
RECONCILES = [
    Case("TaasReconcileSlow", "one in fifty takes half a minute", True, 16,
         histogram(*RECONCILE, {0.02: 98, 30: 2})),
    Case("TaasReconcileSlow", "all take longer than any bucket", True, 16,
         histogram(*RECONCILE, {100: 5})),
    Case("TaasReconcileSlow", "all take nine seconds", False, 60, histogram(*RECONCILE, {9: 5})),
    Case("TaasReconcileSlow", "one in two hundred takes half a minute", False, 60,
         histogram(*RECONCILE, {0.02: 199, 30: 1})),
    Case("TaasReconcileSlow", "nothing is looked at", False, 60, histogram(*RECONCILE, {})),
]
STARTS = [
    Case("TaasJobsStartLate", "one in five takes seven minutes", True, 16,
         histogram(*ALL_PODS, {3: 4, 420: 1})),
    Case("TaasJobsStartLate", "one in twenty takes seven minutes", False, 90,
         histogram(*ALL_PODS, {3: 19, 420: 1})),
    Case("TaasJobsStartLate", "all take four minutes", False, 90, histogram(*ALL_PODS, {240: 1})),
]
TEAM_A = {**LEADER, "job_namespace": "team-a", "kind": "TFJob"}
TEAM_B = {**LEADER, "job_namespace": "team-b", "kind": "TFJob"}
OF_TEAM_A = {"job_namespace": "team-a", "kind": "TFJob"}
PENDING = [
    Case("TaasJobsPending", "one never starts", True, 36,
         (Series(WAITS, "0+60x120", TEAM_A), Series(WAITS, "0x120", TEAM_B)),
         with_labels=OF_TEAM_A),
    Case("TaasJobsPending", "each waits for 25 minutes", False, 90,
         (Series(WAITS, " ".join(["0+60x24"] * 4), TEAM_A),)),
]


def failed(values, labels):
    """Of a namespace that has a job that runs, too."""
    return (Series(JOBS, values, {**labels, "state": "Failed"}),
            Series(JOBS, "1x120", {**labels, "state": "Running"}))


SCRAPED = (Series(DEPTH, "0x120", LEADER),)
FAILED = [
    Case("TaasJobsFailed", "one more than before", True, 45,
         (*SCRAPED, *failed("1x39 2x60", TEAM_A), *failed("3x120", TEAM_B)),
         with_labels=OF_TEAM_A),
    Case("TaasJobsFailed", "the first of a namespace", True, 45,
         (*SCRAPED, *failed("_x40 1x60", TEAM_A)), with_labels=OF_TEAM_A),
    Case("TaasJobsFailed", "those that failed are kept, and some are deleted", False, 90,
         (*SCRAPED, *failed("3x40 2x60", TEAM_A))),
    Case("TaasJobsFailed", "the operator comes back, and later the jobs that it knows", False, 90,
         (Series(DEPTH, "_x40 0x60", LEADER), Series(JOBS, "_x43 3x60", {
             **TEAM_A, "state": "Failed"}))),
]
IDLE = [
    Case("TaasGpusIdle", "four compute for a tenth of one's time, four others all the time", True,
         30, (Series(MEASURED, "4x120", TEAM_A), Series(BUSY, "0.1x120", TEAM_A),
              Series(MEASURED, "4x120", TEAM_B), Series(BUSY, "4x120", TEAM_B)),
         with_labels=OF_TEAM_A),
    Case("TaasGpusIdle", "they compute half of each hour", False, 120,
         (Series(MEASURED, "4x120", TEAM_A), Series(BUSY, "4x29 0x29 4x29 0x29", TEAM_A))),
    Case("TaasGpusIdle", "there are none", False, 90,
         (Series(MEASURED, "0x120", TEAM_A), Series(BUSY, "0x120", TEAM_A))),
]


def fail_again(cause, values):
    return (Series("taas_restarts_total", values, {**TEAM_A, "cause": cause}),)


AGAIN = [
    Case("TaasReplicasFailAgain", f"eight at once: {cause}", True, 36,
         fail_again(cause, "0x29 0+8x1 8x60"), with_labels={**OF_TEAM_A, "cause": cause})
    for cause in ("outOfMemory", "userError")
] + [
    Case("TaasReplicasFailAgain", "five in an hour", False, 120,
         fail_again("outOfMemory", "0+0.08x120")),
    Case("TaasReplicasFailAgain", "nodes are drained", False, 90,
         fail_again("preempted", "0+9x120")),
]
RESTARTS = [
    Case("TaasNodesLoseReplicas", f"twelve of both kinds: {cause}", True, 36,
         restarts(cause, "0x29 0+6x1 6x60", "0x29 0+6x1 6x60"), with_labels={"cause": cause})
    for cause in ("nodeLost", "badNode", "preempted")
] + [
    Case("TaasNodesLoseReplicas", "nine in half an hour", False, 90,
         restarts("nodeLost", "0+0.3x120")),
    Case("TaasNodesLoseReplicas", "six of one cause and six of another", False, 90,
         restarts("nodeLost", "0+0.2x120") + restarts("badNode", "0+0.2x120")),
    Case("TaasNodesLoseReplicas", "programs fail", False, 90,
         restarts("userError", "0+9x120") + restarts("outOfMemory", "0+9x120")
         + restarts("killed", "0+9x120")),
]
CONTROLLERS = [
    Case("TaasTfJobsOfAnotherController", "the leader has seen one", True, 15,
         both(OTHERS, "1x60", "0x60")),
    Case("TaasTfJobsOfAnotherController", "there are none", False, 60,
         both(OTHERS, "0x60", "0x60")),
    Case("TaasTfJobsOfAnotherController", "two were seen for ten minutes", False, 60,
         both(OTHERS, "2x9 0x60", "0x60")),
]
CASES = list(itertools.chain(DOWN, LEADERS, FAILURES, FORBIDDEN, QUEUE, RECONCILES, STARTS,
                             PENDING, FAILED, AGAIN, IDLE, RESTARTS, CONTROLLERS))
