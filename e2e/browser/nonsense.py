"""Jobs with nonsense in each text that Kubernetes leaves to its users.

    jobs = nonsense.plant(cluster)       # {"nonsense": "nonsense", "waiting": …}
"""

import json
import time

import seeds
from waiting import until

LIMIT_S = 120
# What would run, were it ever taken for markup; what turns the rest of a line; what is too long for
# any line. scenarios/nonsense.ts looks for the first.
MARKUP = "<script>hurt=1</script><img src=x onerror=hurt=1>"
TURNED = "\u202eturned round"
NONSENSE = f"{MARKUP} {TURNED} " + 1024 * "too-long-a-"
JOBS = {"nonsense": "nonsense", "waiting": "nonsense-waits", "ended": "nonsense-ends",
        "gone": "nonsense-gone"}
COLOURS = r"\033[31mred\033[0m \033]0;title\007 \033[2J\033[999C \033[5q \r \b \001 \000 " \
    r"\342\200\256turned \377\376"
# One of 100 kB, the longest that a node hands on in one piece being 16 kB.
LONG_LINE = "head -c 100000 /dev/zero | tr '\\0' x; echo"
TALK = f"printf '{COLOURS}\\n'; {LONG_LINE}; echo \"$NONSENSE\""


def container(script):
    env = [{"name": "NONSENSE", "value": NONSENSE}, {"name": "EMPTY", "value": ""},
           {"name": "LINES", "value": f"one\n{MARKUP}\n\ttwo\r\n"}]
    # 1,024 bytes are the most that is taken.
    return {"name": "trainer", "image": MARKUP + TURNED + 80 * "too-long-a-", "env": env,
            "command": ["sh", "-c", script], "args": [NONSENSE, MARKUP]}


def job(name, script, gpus=0, **spec):
    template = {"metadata": {"annotations": {"note": NONSENSE}},
                "spec": {"containers": [container(script)]}}
    worker = {"replicas": 1, "template": template, **({"gpus": gpus} if gpus else {})}
    made = seeds.job(name, "nobody", roles={"worker": worker}, **spec)
    made["metadata"]["annotations"] = {"taas.dev/owner": NONSENSE, "note": NONSENSE}
    made["metadata"]["labels"] = {"taas.dev/" + 63 * "l": 63 * "v"}
    return made


def event(about):
    """Whoever may write events may write anything."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"apiVersion": "v1", "kind": "Event", "type": "Warning", "count": 1,
            "metadata": {"name": "nonsense", "namespace": seeds.NAMESPACE},
            "involvedObject": {**about, "namespace": seeds.NAMESPACE},
            "reason": MARKUP, "message": NONSENSE[:1000], "source": {"component": MARKUP},
            "firstTimestamp": now, "lastTimestamp": now}


def plant(cluster):
    """Until each is as it shall be seen."""
    cluster.apply([
        job(JOBS["nonsense"], f"{TALK}; while :; do echo \"$NONSENSE\"; sleep 5; done", 1),
        job(JOBS["waiting"], TALK, 64),
        job(JOBS["ended"], f"{TALK}; exit 1"),
        job(JOBS["gone"], TALK),
    ])

    def look(*what):
        return json.loads(cluster.kubectl("get", *what, "-n", seeds.NAMESPACE, "-o", "json"))

    def are(wanted):
        now = {it["metadata"]["name"]: it.get("status", {}).get("state")
               for it in look("tj")["items"]}
        return all(now.get(JOBS[which]) == state for which, state in wanted.items())

    until("jobs of nonsense", lambda: are({
        "nonsense": "Running", "waiting": "Pending", "ended": "Failed", "gone": "Succeeded"}),
        LIMIT_S)
    uid = look("tj", JOBS["nonsense"])["metadata"]["uid"]
    about = {"apiVersion": "taas.dev/v1", "kind": "TrainingJob", "name": JOBS["nonsense"],
             "uid": uid}
    cluster.kubectl("create", "-f", "-", stdin=json.dumps(event(about)))
    cluster.kubectl("delete", "tj", JOBS["gone"], "-n", seeds.NAMESPACE)
    return JOBS
