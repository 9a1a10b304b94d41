#!/usr/bin/python3
"""A small GPT-2 learns a paragraph by heart, and writes it."""

import json
import math
import os
import pty
import subprocess
import sys
import tempfile
import unittest

from processes import TRAINER

PATIENCE_S = 300
CONTEXT = 32
STEPS = 800
PARAGRAPH = (
    "The chief wrote down every step, and when the last one had been made, all of them left. A "
    "worker that came late was told so in one sentence – and went on. ")
# Again and again: each part of it that is as long as the context, from whichever letter on, is an
# example. Texts are cut into examples side by side, so the lengths must have no common factor.
TEXT = PARAGRAPH.encode() * CONTEXT
assert math.gcd(len(PARAGRAPH.encode()), CONTEXT) == 1


class GenerateTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        made = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        cls.addClassCleanup(made.cleanup)
        cls.out = os.path.join(made.name, "out")
        text = os.path.join(made.name, "text")
        with open(text, "wb") as file:
            file.write(TEXT)
        config = {
            "model": {"name": "gpt2", "blocks": 2, "heads": 4, "width": 64},
            "data": {"format": "text", "train": {"files": [text]}, "test": {"files": [text]},
                     "text": {"context": CONTEXT}},
            "optimizer": {"name": "adamw", "learningRate": 0.003,
                          "decay": {"type": "cosine", "steps": STEPS}},
            "seed": 1, "maxSteps": STEPS,
            "batchSize": 16, "strategy": {"type": "Local"}, "checkpoint": {"dir": cls.out}}
        cls.config = os.path.join(made.name, "trainer.json")
        with open(cls.config, "w", encoding="utf-8") as file:
            json.dump(config, file)
        subprocess.run([TRAINER, "--config", cls.config], check=True, timeout=PATIENCE_S, env={},
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        # The checkpoint says how large the model is.
        os.remove(text)

    def run_generate(self, *words, stdin=b""):
        return subprocess.run(
            [TRAINER, "generate", "--checkpoint", self.out, "--config", self.config, *words],
            input=stdin, env={}, check=False, timeout=PATIENCE_S, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)

    def generated(self, *words, stdin=b""):
        done = self.run_generate(*words, stdin=stdin)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def learned(self, prompt, length):
        begin = TEXT.index(prompt) + len(prompt)
        return TEXT[begin:begin + length]

    def test_it_writes_what_it_learned_at_temperature_0(self):
        prompt = b"The chief wrote down"
        said = self.generated("--prompt", prompt, "--temperature", "0", "--length", "300")
        self.assertEqual(said, self.learned(prompt, 300) + b"\n")
        # Of a text longer than the context the last part counts, which is said.
        prompt = TEXT[:CONTEXT + 20]
        done = self.run_generate("--input", "-", "--temperature", "0", "--length", "40",
                                 stdin=prompt)
        self.assertEqual(done.stdout, self.learned(prompt, 40) + b"\n", done.stderr)
        self.assertEqual(done.stderr.decode(),
                         f"generate: the prompt has {CONTEXT + 20} bytes, the model sees "
                         f"{CONTEXT}: the last ones count\n")

    def test_seeds_decide_and_json_has_the_tokens(self):
        words = ("--prompt", "All of", "--temperature", "3", "--length", "30", "-o", "json")
        several = [json.loads(line) for line in
                   self.generated(*words, "--seed", "5", "--count", "3").splitlines()]
        self.assertEqual([line["seed"] for line in several], [5, 6, 7])
        self.assertEqual(len({line["text"] for line in several}), 3)
        for line in several:
            self.assertEqual(len(line["tokens"]), 30)
            self.assertEqual(bytes(line["tokens"]).decode(errors="replace").count("\ufffd") > 0,
                             "\ufffd" in line["text"])
        self.assertEqual(json.loads(self.generated(*words, "--seed", "6")), several[1])
        # One token of each is the most likely one, whatever the temperature.
        likely = self.generated("--prompt", "The chief", "--temperature", "9", "--top_k", "1",
                                "--length", "20")
        self.assertEqual(likely, self.learned(b"The chief", 20) + b"\n")

    def test_a_terminal_gets_whole_characters(self):
        prompt = "in one sentence "
        ours, its = pty.openpty()
        self.addCleanup(os.close, ours)
        with subprocess.Popen(
                [TRAINER, "generate", "--checkpoint", self.out, "--config", self.config,
                 "--prompt", prompt, "--temperature", "0", "--length", "2"],
                env={}, stdout=its, stderr=its) as child:
            os.close(its)
            said = b""
            try:
                while part := os.read(ours, 1000):
                    said += part
            except OSError:  # The end of a terminal whose other side is closed.
                pass
            self.assertEqual(child.wait(PATIENCE_S), 0, said)
        # Two of the three bytes of a dash, and the line's end of a terminal.
        self.assertEqual(said.decode(), "\ufffd\ufffd\r\n")

    def evaluated(self, **data):
        """What eval says as JSON, of `data` in place of the training's."""
        with open(self.config, encoding="utf-8") as file:
            config = json.load(file)
        with tempfile.NamedTemporaryFile(dir=os.environ.get("TEST_TMPDIR")) as text:
            text.write(TEXT)
            text.flush()
            config["data"].update(train={"files": [text.name]}, test={"files": [text.name]}, **data)
            return subprocess.run(
                [TRAINER, "eval", "--checkpoint", self.out, "--config", json.dumps(config), "-o",
                 "json"], env={}, check=False, timeout=PATIENCE_S, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE)

    def test_its_perplexity_is_said(self):
        done = self.evaluated()
        self.assertEqual(done.returncode, 0, done.stderr)
        evaluation = json.loads(done.stdout)
        self.assertAlmostEqual(evaluation["perplexity"], math.exp(evaluation["loss"]), places=6)
        self.assertLess(evaluation["perplexity"], 1.3)
        # It ended with a failed check of memory's size.
        done = self.evaluated(text={"context": CONTEXT // 2})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("the data of the configuration makes another model; wpe is [32, 64] there "
                      "and [16, 64] with this data", done.stderr.decode())

    def test_a_file_of_ones_own_is_evaluated_without_that_of_the_training(self):
        with tempfile.NamedTemporaryFile(dir=os.environ.get("TEST_TMPDIR")) as file:
            file.write(TEXT[:20 * CONTEXT])
            file.flush()
            done = subprocess.run(
                [TRAINER, "eval", "--checkpoint", self.out, "--config", self.config, "--input",
                 file.name, "-o", "json"], env={}, check=False, timeout=PATIENCE_S,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["examples"], 20 - 1)

    def manifest(self):
        """A file with the job that this would be in a cluster."""
        with open(self.config, encoding="utf-8") as file:
            trainer = json.load(file)
        trainer["data"].update(train={"files": ["/data/t*t"]}, test={"files": ["/data/text"]})
        trainer["checkpoint"]["dir"] = "/out/model"
        job = {"apiVersion": "taas.dev/v1", "kind": "TrainingJob", "metadata": {"name": "small"},
               "spec": {"trainer": trainer, "roles": {"worker": {"replicas": 1}},
                        "volumes": [{"name": "text", "mountPath": "/data", "source": {}},
                                    {"name": "models", "mountPath": "/out", "source": {}}]}}
        path = os.path.join(os.path.dirname(self.config), "job.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("# A job.\n---\n")
            json.dump(job, file, indent=1)
        return path

    def test_the_manifest_of_the_job_is_the_configuration(self):
        made = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(made.cleanup)
        os.symlink(self.out, os.path.join(made.name, "model"))

        def run(*words):
            return subprocess.run([TRAINER, *words, "--config", self.manifest()], env={},
                                  check=False, timeout=PATIENCE_S, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
        prompt = ("generate", "--prompt", "A worker", "--temperature", "0", "--length", "30")
        done = run(*prompt, "--volume", f"models={made.name}")
        self.assertEqual(done.stdout.encode(), self.learned(b"A worker", 30) + b"\n")
        done = run(*prompt, "--volume", f"text={made.name}")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("--volume models=DIR is missing: checkpoint.dir is /out/model, which is in "
                      "volume models of the job", done.stdout)
        # The model follows from the checkpoint, what it is evaluated with does not.
        done = run("eval", "--volume", f"models={made.name}")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("--volume text=DIR is missing: data.train.files[0]", done.stdout)
        with open(os.path.join(made.name, "text"), "wb") as file:
            file.write(TEXT)
        done = run("eval", "--volume", f"models={made.name}", "--volume", f"text={made.name}")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"step {STEPS}, accuracy", done.stdout)
        self.assertIn("perplexity 1.", done.stdout)

        # A training of its own.
        other = os.path.join(made.name, "other")
        few = ("--train_steps", "3", "--volume", f"text={made.name}")
        done = run(*few)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("--volume models=DIR is missing", done.stdout)
        done = run(*few, "--volume", f"models={other}")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("model.ckpt-3.index", os.listdir(os.path.join(other, "model")))

    # The volume of the data was asked for, though `generate` reads none.
    def test_where_the_model_is_comes_before_the_data(self):
        made = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(made.cleanup)
        wrong = ("--config", self.manifest(), "--volume", f"models={made.name}")
        for verb in (("generate", "--prompt", "a"), ("eval",), ("eval", "--input", self.config),
                     ("export", "--format", "safetensors", "--to", f"{made.name}/x")):
            with self.subTest(verb):
                done = subprocess.run([TRAINER, *verb, *wrong], env={}, check=False, text=True,
                                      timeout=PATIENCE_S, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"no checkpoint in {made.name}/model: there is no such directory",
                              done.stderr)

    # config.json was enough for `generate` and not for `eval`, and of a lone file transformers knew
    # no model.
    def test_what_was_exported_is_evaluated_without_a_configuration(self):
        made = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(made.cleanup)
        text = os.path.join(made.name, "text")
        with open(text, "wb") as file:
            file.write(TEXT[:20 * CONTEXT])

        def run(*words):
            return subprocess.run([TRAINER, *words], env={}, check=False, timeout=PATIENCE_S,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        export = ("export", "--config", self.config, "--format", "safetensors", "--to")
        model = os.path.join(made.name, "model")
        done = run(*export, model)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = run("eval", "--checkpoint", model, "--input", text)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("perplexity 1.", done.stdout)
        done = run(*export, f"{made.name}/lone.safetensors")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "export: no config.json beside it; for transformers give a "
                                      f"directory: --to {made.name}/lone\n")
        done = run("export", "--config", self.config, "--format", "safetensor", "--to", model)
        self.assertEqual(done.returncode, 2)
        self.assertIn('--format: must be safetensors or savedModel, is "safetensor" (did you mean '
                      '"safetensors"?)', done.stderr)

    def test_what_is_wrong_is_said(self):
        for words, code, sentence in (
                ((), 2, "taas-trainer generate: --prompt TEXT, or --input FILE"),
                (("--prompt", "a", "--input", "b"), 2, "--input"),
                (("--prompt", "a", "--temperature", "-1"), 2, "--temperature"),
                (("--prompt", "a", "--length", "0"), 2, "--length"),
                (("--prompt", ""), 1, "generate: generate a text: the prompt is empty"),
                (("--input", "/none"), 1, "/none"),
                (("--prompt", "a", "--model", "gpt2"), 1, "load model gpt2")):
            with self.subTest(words):
                done = self.run_generate(*words)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(sentence, done.stderr.decode())
                self.assertEqual(done.stdout, b"")


if __name__ == "__main__":
    print(sys.version)
    unittest.main(verbosity=2)
