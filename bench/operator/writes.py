"""What one write of a job's status costs the API server, without any operator.

    of_status(contestant, 500)      {"status_ms": 5.2, "annotation_ms": 4.9}
"""

import api_client
import manifests
import names
import stage
import usage

REPLICAS = 10
NAME = "job"


def of_status(contestant, count):
    """Milliseconds of its CPU for each of `count` writes, one after the other."""
    with stage.Stage(nodes=1) as plane:
        contestant.install(plane)
        client = plane.client("clients")
        job = f"{contestant.jobs_path}/{NAME}"
        client.call("POST", contestant.jobs_path,
                    contestant.manifest(NAME, names.NAMESPACE, manifests.roles(REPLICAS)))
        pid = plane.components["kube-apiserver"].pid()

        def cost_ms(path, change):
            def write(number):
                client.call("PATCH", path, change(number), api_client.MERGE_PATCH)

            # The first ones compile what checks the rest.
            for number in range(count // 10):
                write(-number)
            before = usage.cpu_s(pid)
            for number in range(count):
                write(number)
            return (usage.cpu_s(pid) - before) * 1000 / count

        return {
            "status_ms": cost_ms(job + "/status", lambda number: {"status": {"conditions": [
                {"type": "Running", "status": "True", "message": f"write {number}"}]}}),
            "annotation_ms": cost_ms(job, lambda number: {"metadata": {"annotations": {
                "bench/write": str(number)}}}),
        }
