"""What the operator asked for in all faults of this folder, against the chart's roles.

Operators of other accounts, from which a right is taken, are not looked at.
"""

import audit
import fault_cluster
import taas
from direct_api import jobs
from fault_jobs import KINDS, job_of
from fault_scenario import FaultScenario

# Without these nothing would have been recorded, or nothing been done.
ASKED = {("create", "pods"), ("create", "services"), ("create", "events"),
         ("patch", "trainingjobs"), ("patch", "trainingjobs/status"),
         ("patch", "tfjobs"), ("patch", "tfjobs/status"), ("watch", "pods")}


class FaultsRecordTest(FaultScenario):

    last = True

    def test_in_no_fault_did_the_operator_ask_for_what_the_chart_does_not_grant(self):
        for kind in KINDS:
            self.submit(kind, job_of(kind, kind))
            self.await_running(kind, kind, 1)
            self.remove(kind + "-worker-0")
            self.wait_for("the loss to be counted", lambda: self.status_of(kind, kind).get(
                "restarts") == {"preempted": 1})
            self.await_running(kind, kind, 1)
            self.api.done("DELETE", jobs(self.namespace, kind, kind))
        requests = audit.requests(self.plane.audit_log, taas.USER)
        self.assertEqual(ASKED - set(audit.by_resource(requests)), set(), "not in the record")
        for cluster in fault_cluster.started():
            self.assertEqual(cluster.asked_without_right(), [], "asked for without a right")
