"""Jobs by all-reduce, as processes, and what their chief's log says of them."""

import itertools
import re

from processes import Job, free_ports, wait_until

RING = {"type": "AllReduce"}


def evaluation(job):
    (found,) = re.findall(r"^evaluation at step (\d+: .*)$", job.processes["chief-0"].log(), re.M)
    return found


class Elastic(Job):
    """Of a chief and one to three workers."""

    def start_replica(self, role, index=0, **more):
        return super().start_replica(role, index, **more,
                                     environment={"TAAS_ELASTIC_WORKERS": "1:3"})

    def add_worker(self):
        """As `kubectl scale` does it: only the new pod's list has the new worker."""
        index = len(self.cluster["worker"])
        self.cluster["worker"].append(f"127.0.0.1:{free_ports(1)[0]}")
        return self.start_replica("worker", index)


def epochs(job):
    """(ranks, step, batches) at the begin of each, and (0, step, batches) at the job's end."""
    log = job.processes["chief-0"].log()
    begun = re.findall(r"epoch begins .*ranks=(\d+) step=(\d+) batches=(\d+)$", log, re.M)
    end = re.findall(r"all steps are made step=(\d+) batches=(\d+)$", log, re.M)
    return [tuple(map(int, epoch)) for epoch in [*begun, *((0, *last) for last in end)]]


def await_epoch(job, ranks, after=0):
    wait_until(f"an epoch of {ranks} ranks",
               lambda: ranks in [each for each, _, _ in epochs(job)[after:]])
    return len(epochs(job))


def expect_every_batch_once(test, job):
    """So many batches as there were steps times ranks: none is lost, and none counts twice. Returns
    the ranks of each epoch."""
    all_of_them = epochs(job)
    # One that ended before it began, since whoever was a step ahead was lost while it gave its
    # model: the others make that step anew.
    begun = [epoch for i, epoch in enumerate(all_of_them)
             if all(later[1] >= epoch[1] for later in all_of_them[i:])]
    for (ranks, step, batches), (_, next_step, next_batches) in itertools.pairwise(begun):
        test.assertEqual(next_batches - batches, ranks * (next_step - step), all_of_them)
    test.assertEqual(all_of_them[0][1:], (0, 0), all_of_them)
    return [ranks for ranks, _, _ in all_of_them]
