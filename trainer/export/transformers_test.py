#!/usr/bin/python3
"""The package transformers loads a GPT-2 that we export, and we load one that it writes."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", "bazel-bin"),
                        os.environ.get("TEST_WORKSPACE", ""))
sys.path.insert(0, os.path.join(RUNFILES, "tools/ci"))
import imported  # pylint: disable=wrong-import-position

TRAINER = os.environ.get("TAAS_TRAINER_BINARY", os.path.join(RUNFILES, "trainer/cmd/taas-trainer"))
LOGITS = os.path.join(RUNFILES, "trainer/export/gpt2_logits")
PYTHON = os.path.join(os.environ.get("TAAS_TORCH_BIN", "/TAAS_TORCH_BIN-is-not-set"), "python")

# Of the directory argv[1], with the tokens argv[2].
LOADER = """
import json, sys
import torch
from transformers import GPT2LMHeadModel
model, info = GPT2LMHeadModel.from_pretrained(sys.argv[1], output_loading_info=True)
tokens = torch.tensor([json.loads(sys.argv[2])])
with torch.no_grad():
    logits = model.eval()(tokens).logits[0]
    written = model.generate(tokens[:, :4], do_sample=False, max_new_tokens=5, pad_token_id=0)[0]
print(json.dumps({"trouble": [str(name) for names in info.values() for name in names],
                  "logits": logits.double().tolist(), "written": written[4:].tolist()}))
"""

# Makes one with biases too, which are 0 at first, in the directory argv[1].
MAKER = """
import json, sys
import torch
from transformers import GPT2Config, GPT2LMHeadModel
torch.manual_seed(3)
model = GPT2LMHeadModel(GPT2Config(vocab_size=256, n_positions=12, n_embd=16, n_layer=3, n_head=4,
                                   bos_token_id=None, eos_token_id=None))
with torch.no_grad():
    for parameter in model.parameters():
        parameter.add_(torch.randn_like(parameter) * 0.3)
model.save_pretrained(sys.argv[1])
"""

CONTEXT = 12
MODEL = {"name": "gpt2", "blocks": 2, "heads": 2, "width": 16}
TOKENS = [72, 101, 108, 108, 111, 44, 32, 119, 0, 255, 108, 100]


class TransformersTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        if not os.path.exists(PYTHON):
            raise RuntimeError(f"{PYTHON}: `make test` installs it and sets TAAS_TORCH_BIN")
        cls.python = imported.Python(PYTHON, "transformers.models.gpt2.modeling_gpt2")
        cls.addClassCleanup(cls.python.close)

    def setUp(self):
        made = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(made.cleanup)
        self.dir = made.name

    def run_program(self, *words, stdin=""):
        done = subprocess.run(words, input=stdin, text=True, check=False, env={},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_same(self, path, model, theirs):
        """`model` is spec.trainer.model as text; empty: of the config.json at `path`."""
        ours = json.loads(self.run_program(LOGITS, path, model, stdin=json.dumps(TOKENS)))
        self.assertEqual(len(ours), CONTEXT)
        spread = max(map(max, theirs)) - min(map(min, theirs))
        self.assertGreater(spread, 0.5, "there is nothing to compare")
        for our_row, their_row in zip(ours, theirs, strict=True):
            for our, their in zip(our_row, their_row, strict=True):
                self.assertLess(abs(our - their), 1e-4)
        # Of each place another answer, so that none is compared with that of another.
        self.assertNotEqual(theirs[4], theirs[5])

    def written(self, path):
        said = self.run_program(
            TRAINER, "generate", "--checkpoint", path, "--input", "-", "--temperature", "0",
            "--length", "5", "-o", "json", stdin=bytes(TOKENS[:4]).decode())
        return json.loads(said)["tokens"]

    def test_they_load_what_we_export(self):
        text = os.path.join(self.dir, "text")
        with open(text, "w", encoding="utf-8") as file:
            file.write("Hello, world, said the machine to the other one. " * 9)
        config = json.dumps({
            "model": MODEL, "batchSize": 8, "maxSteps": 60, "seed": 2,
            "strategy": {"type": "Local"}, "optimizer": {"name": "adamw", "learningRate": 0.01},
            "data": {"format": "text", "train": {"files": [text]}, "text": {"context": CONTEXT}},
            "checkpoint": {"dir": f"{self.dir}/out"},
            "export": {"format": "safetensors", "dir": f"{self.dir}/by_job"}})
        self.run_program(TRAINER, "--config", config)
        self.run_program(TRAINER, "export", "--checkpoint", f"{self.dir}/out", "--config", config,
                         "--format", "safetensors", "--to", f"{self.dir}/export")
        for path in (f"{self.dir}/export", f"{self.dir}/by_job"):
            theirs = json.loads(self.python.run(LOADER, path, json.dumps(TOKENS)))
            self.assertEqual(theirs["trouble"], [], "missing, unexpected or of another shape")
            self.assert_same(f"{self.dir}/out", json.dumps(MODEL), theirs["logits"])
            self.assert_same(path, "", theirs["logits"])
            self.assertEqual(self.written(path), theirs["written"])

    def test_we_load_what_they_write(self):
        self.python.run(MAKER, self.dir)
        theirs = json.loads(self.python.run(LOADER, self.dir, json.dumps(TOKENS)))
        for path in (self.dir, f"{self.dir}/model.safetensors"):
            self.assert_same(path, "", theirs["logits"])
            self.assertEqual(self.written(path), theirs["written"])


if __name__ == "__main__":
    print(sys.version)
    unittest.main(verbosity=2)
