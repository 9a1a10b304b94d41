#!/usr/bin/python3
"""How jobs end: all of them, evaluator too, with the last step saved, evaluated and recorded."""

import glob
import json
import os
import signal
import subprocess
import time
import unittest

from processes import CONFIG, TOGETHER, TRAINER, Job, wait_until


def newest_checkpoint(job):
    with open(os.path.join(job.out, "checkpoint"), encoding="utf-8") as file:
        return int(file.readline().rstrip('"\n').rsplit("-", 1)[1])


def evaluated(process):
    """Steps of the evaluations that a process printed."""
    return [int(line.split()[3].rstrip(":")) for line in process.log().splitlines()
            if line.startswith("evaluation at step")]


def evaluation_of(model, config):
    """What the program says of a model's files."""
    said = subprocess.check_output([TRAINER, "eval", "--checkpoint", model, "-o", "json"],
                                   env={"TAAS_TRAINER": json.dumps(config)})
    return json.loads(said)


class EndsTest(unittest.TestCase):

    def six(self, **config):
        job = Job(chief=True, ps=2, workers=2, strategy=TOGETHER, **config)
        job.checkpoints()
        job.config["summaries"] = {"dir": os.path.join(job.directory, "events"), "everySteps": 50}
        job.config["evaluation"] = {"everySeconds": 1}
        return job

    def test_six_processes_all_exit_0_and_the_last_step_is_saved_exported_and_evaluated(self):
        with self.six() as job:
            exported = os.path.join(job.directory, "exported")
            job.config["export"] = {"format": "safetensors", "dir": exported}
            job.start_all()
            evaluator = job.start_replica("evaluator")
            ends = job.expect_all_done(self)
            last = CONFIG["maxSteps"]
            self.assertEqual(newest_checkpoint(job), last)
            self.assertEqual(evaluated(evaluator)[-1], last)
            chief = job.processes["chief-0"]
            self.assertEqual(evaluator.end()["evaluation"], chief.end()["evaluation"])
            for name in ends:
                self.assertEqual(job.processes[name].end()["message"], "done", name)
            for directory in ("events", "events/eval"):
                files = glob.glob(os.path.join(job.directory, directory, "*tfevents*"))
                self.assertEqual(len(files), 1, directory)
            self.assertEqual(os.listdir(exported), ["model.safetensors"])
            said = evaluation_of(f"{exported}/model.safetensors", job.config)
            self.assertEqual(said["step"], last)
            for number in ("accuracy", "loss"):
                self.assertAlmostEqual(said[number], chief.end()["evaluation"][number], places=5)
            print("seconds from the first process that ended to the last:",
                  round(max(ends.values()) - min(ends.values()), 3))

    # Of fewer steps than lie between two samples only the first was in the event file, and of the
    # last evaluation nothing.
    def test_last_step_and_last_evaluation_are_in_the_event_file(self):
        with Job(maxSteps=7, strategy={"type": "Local"}) as job:
            events = os.path.join(job.directory, "events")
            job.config["summaries"] = {"dir": events, "everySteps": 100}
            alone = job.start("alone", environment={"TAAS_TRAINER": json.dumps(job.config)})
            job.expect_all_done(self)
            facts = json.loads(subprocess.check_output([TRAINER, "inspect", "-o", "json", events],
                                                       env={}))
            tags = {tag["tag"]: tag for tag in facts["events"]["tags"]}
            self.assertEqual([tags["loss"]["firstStep"], tags["loss"]["lastStep"]], [1, 7])
            for number in ("loss", "accuracy"):
                tag = tags[f"eval/{number}"]
                self.assertEqual(tag["lastStep"], 7)
                self.assertAlmostEqual(tag["last"], alone.end()["evaluation"][number], places=5)

    def test_evaluator_follows_while_training_runs_and_its_curves_are_served(self):
        with self.six(maxSteps=1_000_000) as job:
            job.start_all()
            # Its own entry may be all that its cluster has.
            evaluator = job.start_replica("evaluator", cluster={"evaluator": ["127.0.0.1:1"]})
            wait_until("two evaluations", lambda: len(evaluated(evaluator)) >= 2)
            steps = evaluated(evaluator)
            self.assertEqual(sorted(set(steps)), steps)
            status = evaluator.get("/status")
            self.assertEqual(status["role"], "evaluator")
            self.assertGreaterEqual(status["evaluation"]["step"], steps[1])

            def curve():
                # Recorded beside the evaluations, whose lines may come first.
                points = evaluator.get("/series")["series"].get("accuracy", [])
                return [point[0] for point in points][:2] if len(points) >= 2 else None
            self.assertEqual(wait_until("its curve", curve), steps[:2])
            chief = job.processes["chief-0"]
            series = chief.get("/series")["series"]
            self.assertEqual(set(series), {"loss", "accuracy", "learning_rate", "global_step/sec",
                                           "examples_per_second"})
            since = series["loss"][-1][0]
            for point in chief.get(f"/series?since={since}")["series"]["loss"]:
                self.assertGreater(point[0], since)
            self.assertIsNone(chief.get("/series?since=x"))

    def test_chief_that_starts_again_shows_what_was_recorded_before(self):
        with self.six(maxSteps=1_000_000) as job:
            job.start_all()
            chief = job.processes["chief-0"]
            wait_until("a checkpoint", lambda: "checkpoint saved" in chief.log())
            wait_until("curves", lambda: len(chief.get("/series")["series"].get("loss", [])) > 5)
            before = chief.get("/series")["series"]["loss"]
            chief.kill()
            again = job.start_replica("chief")
            again.says("resuming from checkpoint")

            def curve():
                series = again.get("/series")
                return series and series["series"].get("loss")
            after = wait_until("the curve", curve)
            self.assertEqual(after[0], before[0])

    def test_evaluator_is_killed_and_the_next_one_goes_on(self):
        with self.six(maxSteps=5_000) as job:
            job.start_all()
            first = job.start_replica("evaluator")
            wait_until("an evaluation", lambda: evaluated(first))
            first.kill()
            second = job.start_replica("evaluator")
            job.expect_all_done(self)
            self.assertEqual(evaluated(second)[-1], 5_000)

    def test_evaluator_waits_for_a_directory_and_passes_over_what_is_broken(self):
        with self.six() as job:
            evaluator = job.start_replica("evaluator")
            wait_until("the sentence", lambda: (evaluator.get("/status") or {}).get("message", "")
                       .startswith(f"waiting for a checkpoint in {job.out}"))
            os.mkdir(job.out)
            # A copy that stopped half way, of a later step than all that come.
            with open(os.path.join(job.out, "model.ckpt-700.index"), "wb") as file:
                file.write(b"half")
            wait_until("the trouble", lambda: "model.ckpt-700" in evaluator.log())
            os.remove(os.path.join(job.out, "model.ckpt-700.index"))
            job.start_all()
            job.expect_all_done(self)
            self.assertEqual(evaluated(evaluator)[-1], 600)

    def test_evaluator_without_test_data_says_so_and_ends(self):
        data = {"format": "generated", "generated": {"examples": 2000, "testExamples": 0,
                                                     "features": 64, "classes": 10}}
        with self.six(data=data) as job:
            job.start_all()
            evaluator = job.start_replica("evaluator")
            job.expect_all_done(self)
            self.assertIn("there is no test data", evaluator.log())

    def test_evaluator_without_a_checkpoint_directory_ends_with_1_and_the_field(self):
        with Job() as job:
            evaluator = job.start_replica("evaluator")
            self.assertEqual(evaluator.wait(), 1)
            self.assertIn("checkpoint.dir", evaluator.end()["message"])

    def test_evaluator_of_another_model_ends_with_1(self):
        with Job(strategy=TOGETHER) as job:
            job.checkpoints()
            job.start_all()
            job.expect_all_done(self)
            job.config["model"]["hidden"] = [32]
            evaluator = job.start_replica("evaluator")
            self.assertEqual(evaluator.wait(), 1)
            self.assertIn("checkpoint of another model", evaluator.end()["message"])

    def test_evaluator_takes_the_averages_of_the_variables(self):
        # An average that is never moved from its first value: chance, whatever was learned.
        with Job(movingAverage={"decay": 0.9}, strategy=TOGETHER) as job:
            job.checkpoints()
            job.start_all()
            evaluator = job.start_replica("evaluator")
            job.expect_all_done(self)
            averaged = evaluator.end()["evaluation"]
            self.assertEqual(averaged, job.processes["worker-0"].end()["evaluation"])
            del job.config["movingAverage"]
            plain = job.start_replica("evaluator", 1)
            self.assertEqual(plain.wait(), 0)
            self.assertNotEqual(plain.end()["evaluation"]["loss"], averaged["loss"])

    def test_last_checkpoint_is_written_once_the_disk_is_back(self):
        with Job(maxSteps=10_000, strategy=TOGETHER) as job:
            job.config["checkpoint"] = {"dir": job.out}
            job.start_all()
            chief = job.processes["worker-0"]
            wait_until("training", lambda: (chief.get("/status") or {}).get("step", 0) > 0)
            # Nothing can be written below a file.
            os.rename(job.out, job.out + ".away")
            with open(job.out, "wb"):
                pass
            chief.says("trying again to save the last checkpoint since")
            self.assertIsNone(chief.code())
            os.remove(job.out)
            os.rename(job.out + ".away", job.out)
            job.expect_all_done(self)
            self.assertEqual(newest_checkpoint(job), 10_000)

    def test_terminated_job_saves_its_step_and_ends_with_143(self):
        with self.six(maxSteps=1_000_000) as job:
            job.config["checkpoint"].pop("everySteps")
            job.start_all()
            job.start_replica("evaluator")
            chief = job.processes["chief-0"]
            wait_until("some steps", lambda: (chief.get("/status") or {}).get("step", 0) > 100)
            # One that has just been started does not know of signals yet.
            for process in job.processes.values():
                wait_until(f"{process.name}'s page", lambda page=process: page.get("/status"))
            began = time.monotonic()
            for process in job.processes.values():
                process.signal(signal.SIGTERM)
            for process in job.processes.values():
                self.assertEqual(process.wait(), 143, job.logs())
            print("seconds from SIGTERM to the last end:", round(time.monotonic() - began, 3))
            self.assertGreaterEqual(newest_checkpoint(job), 100)
            self.assertGreaterEqual(newest_checkpoint(job), chief.end()["step"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
