#!/usr/bin/python3
"""What a signal, a lost parameter server and a lost disk do to a job in the middle of it."""

import json
import os
import resource
import shutil
import signal
import time
import unittest

from processes import ENDLESS, Job, wait_until


def terminate(processes):
    """Tells all to stop at once. Returns after how many seconds the last was gone."""
    told = time.monotonic()
    for process in processes:
        process.signal(signal.SIGTERM)
    for process in processes:
        process.wait()
    return time.monotonic() - told


class StopsTest(unittest.TestCase):

    # Parameter servers called a chief that was gone for another five to ten seconds.
    def test_six_processes_that_are_told_to_stop_are_all_gone_within_seconds(self):
        with Job(chief=True, ps=2, workers=3, maxSteps=ENDLESS) as job:
            job.checkpoints(every=ENDLESS)
            job.start_all()
            for name in ("chief-0", "worker-0", "worker-1", "worker-2"):
                job.processes[name].says("\nstep ")
            took = terminate(list(job.processes.values()))
            print(f"all six were gone after {took:.2f} s")
            codes = {name: process.code() for name, process in job.processes.items()}
            self.assertEqual(set(codes.values()), {143}, f"{codes}\n{job.logs()}")
            self.assertIn("checkpoint saved", job.processes["chief-0"].log())
            self.assertLess(took, 4, job.logs())

    # A shell was told 143, as of SIGTERM, whatever its user had pressed.
    def test_the_exit_code_is_that_of_the_signal(self):
        with Job(chief=True, ps=1, workers=1, maxSteps=ENDLESS) as job:
            job.checkpoints(every=ENDLESS)
            job.start_all()
            job.processes["chief-0"].says("\nstep ")
            for process in job.processes.values():
                process.signal(signal.SIGINT)
            for process in job.processes.values():
                process.wait()
            codes = {name: process.code() for name, process in job.processes.items()}
            self.assertEqual(set(codes.values()), {130}, f"{codes}\n{job.logs()}")
            self.assertIn("checkpoint saved", job.processes["chief-0"].log())

    # After Ctrl-C nothing was said until the step had ended, then an error "stopped". Started
    # again, a training that was done said "resuming" and no more.
    def test_a_process_by_itself_says_how_it_ends_and_where_it_goes_on(self):
        with Job(maxSteps=ENDLESS, strategy={"type": "Local"}) as job:
            job.checkpoints(every=ENDLESS)
            first = job.start("first", environment={"TAAS_TRAINER": json.dumps(job.config)})
            first.says("\nstep ")
            self.assertIn("model built parameters=4,810\n", first.log())
            first.signal(signal.SIGINT)
            self.assertEqual(first.wait(), 130, first.log())
            self.assertIn(" ending after this step, then saving; a second signal ends at once\n",
                          first.log())
            step = first.end()["step"]
            said = f"stopped; the same command goes on from step {step}"
            self.assertIn(f"I {said} exit=130\n", first.log())
            self.assertEqual(first.end()["message"], said)
            job.config["maxSteps"] = step
            again = job.start("again", environment={"TAAS_TRAINER": json.dumps(job.config)})
            self.assertEqual(again.wait(), 0, again.log())
            self.assertIn(f"nothing was left to train: the checkpoint that was found is of step "
                          f"{step}, and maxSteps is {step}; to train anew", again.log())
            del job.config["checkpoint"]
            job.config["maxSteps"] = ENDLESS
            lost = job.start("lost", environment={"TAAS_TRAINER": json.dumps(job.config)})
            lost.says("\nstep ")
            lost.signal(signal.SIGINT)
            self.assertEqual(lost.wait(), 130, lost.log())
            self.assertIn("stopped; nothing is saved", lost.log())

    # It took thirty seconds, after which whoever had asked killed it without a checkpoint.
    def test_chief_ends_soon_though_a_parameter_server_is_frozen(self):
        for frozen in ("ps-0", "ps-1"):
            with self.subTest(frozen), Job(chief=True, ps=2, workers=1, maxSteps=ENDLESS) as job:
                # The next cut is far: one that is being read from it would be waited for.
                job.checkpoints(every=20_000)
                job.start_all()
                chief = job.processes["chief-0"]
                chief.says("checkpoint saved")
                job.processes[frozen].signal(signal.SIGSTOP)
                took = terminate([chief])
                print(f"with {frozen} frozen the chief was gone after {took:.2f} s")
                self.assertEqual(chief.code(), 143, job.logs())
                self.assertLess(took, 10, job.logs())
                job.processes[frozen].signal(signal.SIGCONT)

    # Its last batches were lent to nobody else for ten seconds.
    def test_worker_that_is_told_to_stop_takes_leave(self):
        with Job(chief=True, ps=1, workers=2, maxSteps=ENDLESS) as job:
            job.start_all()
            worker = job.processes["worker-1"]
            worker.says("\nstep ")
            told = time.monotonic()
            self.assertLess(terminate([worker]), 4)
            self.assertEqual(worker.code(), 143)
            job.processes["chief-0"].says("replica fenced replica=worker-1")
            self.assertLess(time.monotonic() - told, 5)


class DiskTest(unittest.TestCase):

    def endless(self, **config):
        """A job in one process whose first checkpoint is there."""
        job = Job(maxSteps=ENDLESS, strategy={"type": "Local"}, **config)
        job.checkpoints(every=500)
        process = job.start("alone", environment=self.environment(job))
        process.says("checkpoint saved")
        return job, process

    @staticmethod
    def environment(job):
        return {"TAAS_TRAINER": json.dumps(job.config)}

    @staticmethod
    def take_away(job, process):
        """Returns when the process has found out."""
        os.rename(job.out, job.out + ".away")

        def told():
            # A save that was under way may have made the directory again.
            shutil.rmtree(job.out, ignore_errors=True)
            return "training on" in process.log()

        wait_until(f"{process.name} to train on without its directory", told)

    @staticmethod
    def bring_back(job):
        shutil.rmtree(job.out, ignore_errors=True)
        os.rename(job.out + ".away", job.out)

    def assert_saves_again(self, process):
        saved = process.log().count("checkpoint saved")
        wait_until("another checkpoint",
                   lambda: process.log().count("checkpoint saved") > saved or process.code())
        self.assertIsNone(process.code(), process.log())

    # The job failed for good.
    def test_directory_that_is_gone_for_a_while_costs_checkpoints_only(self):
        with Job(chief=True, ps=1, workers=1, maxSteps=ENDLESS) as job:
            job.checkpoints(every=500)
            job.start_all()
            chief = job.processes["chief-0"]
            chief.says("checkpoint saved")
            self.take_away(job, chief)
            self.bring_back(job)
            self.assert_saves_again(chief)

    def test_so_it_does_in_one_process(self):
        job, process = self.endless()
        with job:
            self.take_away(job, process)
            self.bring_back(job)
            self.assert_saves_again(process)

    # A full disk at a restart failed the job for good. The log and what a process says at its end
    # are files, too.
    def test_a_disk_that_takes_nothing_at_the_start_is_waited_for(self):
        with Job(strategy={"type": "Local"}) as job:
            job.checkpoints()
            own = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, own[1]))
            try:
                process = job.start("alone", environment=self.environment(job))
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, own)
            wait_until("the trouble", lambda: "trying again to open the checkpoint directory since"
                       in (process.get("/status") or {}).get("message", ""))
            resource.prlimit(process.child.pid, resource.RLIMIT_FSIZE, own)
            self.assertEqual(process.wait(), 0, process.log())

    # It tried again for ever.
    def test_a_disk_that_takes_nothing_at_the_end_ends_the_job_with_the_cause(self):
        with Job(maxSteps=20_000, strategy={"type": "Local"}) as job:
            job.checkpoints(every=500)
            job.config["checkpoint"]["saveDeadlineSeconds"] = 1
            process = job.start("alone", environment=self.environment(job))
            process.says("checkpoint saved")
            _, high = resource.prlimit(process.child.pid, resource.RLIMIT_FSIZE)
            # Enough for the last words.
            resource.prlimit(process.child.pid, resource.RLIMIT_FSIZE, (4096, high))
            self.assertEqual(process.wait(), 1)
            message = process.end()["message"]
            self.assertIn("save the last checkpoint, given up after", message)
            self.assertIn("File too large", message)
            self.assertTrue(any(name.endswith(".index") for name in os.listdir(job.out)))

    # As with a full disk, the error is that something has run out.
    def test_process_without_descriptors_trains_on(self):
        job, process = self.endless()
        with job:
            _, high = resource.prlimit(process.child.pid, resource.RLIMIT_NOFILE)
            resource.prlimit(process.child.pid, resource.RLIMIT_NOFILE, (3, high))
            process.says("training on")
            self.assertIn("Too many open files", process.log())
            self.assertIsNone(process.code(), process.log())

    # It ended with 1, as if the job had failed for good.
    def test_stopped_without_its_directory_it_says_so_and_ends_with_143(self):
        job, process = self.endless()
        with job:
            self.take_away(job, process)
            terminate([process])
            self.assertEqual(process.code(), 143, process.log())
            self.assertIn("no last checkpoint", process.log())


if __name__ == "__main__":
    unittest.main()
