"""The measurements: how large each is, in earnest and as a rehearsal, and who takes part.

    ALL["many"].title, ALL["many"].full.jobs, ALL["many"].who
"""

import collections

from names import DEFAULT, OURS, PEERS, TUNED

Size = collections.namedtuple("Size", "jobs replicas nodes")
Row = collections.namedtuple("Row", "title full small who")

# The tuned peer has the same requests and the same work at rest as the other, which would need
# hours to get there.
AT_REST = ("taas-trainingjob", "taas-tfjob", TUNED)
AS_SHIPPED = ("taas-trainingjob", "taas-tfjob", DEFAULT)

# One job, then many: a TF_CONFIG of 120,000 bytes is refused, and a node takes 110 pods.
LARGER = (Size(1, 2000, 100), Size(1, 3000, 100), Size(1, 4000, 100), Size(1, 5000, 100),
          Size(2000, 10, 500), Size(4000, 10, 500))

ALL = {
    "one": Row("1 job × 1,000 replicas", Size(1, 1000, 100), Size(1, 50, 3), OURS + PEERS),
    "many": Row("200 jobs × 10 replicas", Size(200, 10, 100), Size(10, 10, 3), OURS + PEERS),
    "scale": Row("1,000 jobs × 10 replicas on 500 nodes", Size(1000, 10, 500), Size(20, 10, 5),
                 (*OURS, TUNED)),
    "life": Row("requests of one life of 10 replicas", 3, 1, (*OURS, DEFAULT)),
    "write": Row("a write of a job of 10 replicas", 500, 20,
                 ("taas-trainingjob", "taas-tfjob", DEFAULT)),
    "first": Row("first pod of a job", 200, 20, (*AS_SHIPPED, TUNED)),
    "rest0": Row("no jobs at all", 0, 0, AT_REST),
    "rest2k": Row("2,000 finished jobs at rest", 2000, 30, AT_REST),
    "rest10k": Row("10,000 finished jobs at rest", 10000, 60, AT_REST),
    "repair": Row("a pod that is lost", 20, 3, AS_SHIPPED),
    "restart": Row("kill -9", 5, 2, AS_SHIPPED),
    "handover": Row("kill -9 and SIGTERM with leader election", 3, 1, AS_SHIPPED),
    "limits": Row("larger until it breaks", LARGER, (Size(1, 60, 3), Size(1, 5000, 3)), OURS[:1]),
}
LAUNCHES = ("one", "many", "scale")
