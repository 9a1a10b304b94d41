#!/usr/bin/python3
"""The program `taas` as its users run it: processes, exit codes, shells, a whole local cluster."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

TAAS = os.path.join(os.environ["TEST_SRCDIR"], "taas", "cli", "taas")
# What takes longer than this hangs.
LIMIT_S = 120
POLL_S = 0.05


class TaasProcessTest(unittest.TestCase):
    """One cluster for all tests; each uses jobs of its own."""

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="taas-", dir=os.environ["TEST_TMPDIR"])
        cls.bin = os.path.join(cls.dir, "bin")
        os.mkdir(cls.bin)
        shutil.copy(TAAS, cls.bin)
        for link in ("kubectl-taas", "kubectl_complete-taas"):
            os.symlink("taas", os.path.join(cls.bin, link))
        cls.cluster = os.path.join(cls.dir, "cluster")
        cls.environ = {"HOME": cls.dir, "PATH": cls.bin + ":/usr/bin:/bin",
                       "KUBECONFIG": os.path.join(cls.cluster, "kubeconfig")}
        with open(os.path.join(cls.dir, "up.log"), "w", encoding="utf-8") as log:
            cls.process = subprocess.Popen(["taas", "local", "up", "--dir", cls.cluster],
                                           env=cls.environ, stdout=log, stderr=log,
                                           executable=os.path.join(cls.bin, "taas"))
        deadline = time.monotonic() + LIMIT_S
        while cls.run_program("taas", "list")[0] != 0:
            if time.monotonic() > deadline:
                with open(os.path.join(cls.dir, "up.log"), encoding="utf-8") as log:
                    raise AssertionError("no cluster: " + log.read())
            time.sleep(POLL_S)

    @classmethod
    def tearDownClass(cls):
        cls.run_program("taas", "local", "down", "--dir", cls.cluster)
        cls.process.wait(LIMIT_S)
        shutil.rmtree(cls.dir, ignore_errors=True)

    @classmethod
    def run_program(cls, *args, **env):
        done = subprocess.run(args, env={**cls.environ, **env}, text=True, check=False,
                              timeout=LIMIT_S, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE,
                              executable=shutil.which(args[0], path=cls.environ["PATH"]))
        return done.returncode, done.stdout, done.stderr

    def submit(self, name, script, *flags):
        return self.run_program("taas", "submit", "--name", name, "--image", "own", "--workers",
                                "1", *flags, "--", "/bin/sh", "-c", script)

    def test_a_job_that_is_followed_prints_its_log_and_its_success_is_the_exit_code(self):
        for kind in ("trainingjob", "tfjob"):
            with self.subTest(kind):
                code, out, err = self.submit(kind, "echo hello; echo $MODE", "--kind", kind,
                                             "--env", "MODE=fast")
                self.assertEqual(code, 0, err)
                self.assertEqual(out, "[worker-0] hello\n[worker-0] fast\n")
                self.assertIn("Succeeded", err)

    def test_the_failure_of_a_job_is_exit_code_one_with_the_reason(self):
        code, out, err = self.submit("bad", "echo no such file; exit 1")
        self.assertEqual(code, 1, err)
        self.assertIn("[worker-0] no such file", out)
        self.assertIn("job default/bad ended as Failed", err)
        code, out, err = self.run_program("taas", "describe", "bad")
        self.assertEqual(code, 0, err)
        self.assertTrue(out.startswith("bad has failed: "), out)

    def test_an_init_container_that_fails_is_told_of_by_every_verb(self):
        """`taas logs` said 400, and neither message nor `describe` what it had written."""
        path = os.path.join(self.dir, "init.json")
        words = "bucket gs://x not found"
        init = {"name": "fetch", "image": "own", "command": ["sh", "-c", f"echo {words}; exit 4"]}
        spec = {"initContainers": [init],
                "containers": [{"name": "trainer", "image": "own", "command": ["true"]}]}
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "taas.dev/v1", "kind": "TrainingJob",
                       "metadata": {"name": "init"},
                       "spec": {"roles": {"worker": {"template": {"spec": spec}}}}}, file)
        code, out, err = self.run_program("taas", "submit", "-f", path)
        self.assertEqual((code, out), (1, f"[worker-0/fetch] {words}\n"), err)
        self.assertIn(f"init container fetch: exit code 4: {words}", err)
        code, out, err = self.run_program("taas", "logs", "init")
        self.assertEqual((code, out), (0, f"[worker-0/fetch] {words}\n"), err)
        _, out, err = self.run_program("taas", "describe", "init")
        self.assertRegex(out, rf"worker-0 .* 4 +init container fetch: {words}\n", err)

    def test_a_job_that_is_followed_beside_others_is_followed_to_its_end(self):
        """`taas submit` and `taas wait` said "was deleted", exit code 3, while the job ran."""
        self.assertEqual(self.submit("aaa", "exec sleep 1000", "--detach")[0], 0)
        code, out, err = self.submit("zz", "sleep 0.5; echo done")
        self.assertEqual((code, out), (0, "[worker-0] done\n"), err)
        self.assertEqual(self.submit("yy", "sleep 0.5; exit 1", "--detach")[0], 0)
        code, out, err = self.run_program("taas", "logs", "-f", "yy")
        self.assertEqual(code, 0, err)
        code, out, err = self.run_program("taas", "wait", "yy")
        self.assertEqual(code, 1, err)
        self.assertIn("job default/yy ended as Failed", err)
        self.assertEqual(self.run_program("taas", "delete", "aaa")[0], 0)

    def test_a_replica_that_runs_on_keeps_nobody_who_follows(self):
        """`taas submit` of a TFJob never came back after its end: its ps was deleted with grace."""
        script = ("case $TF_CONFIG in *'\"type\":\"ps\"'*) trap '' TERM; "
                  "while :; do sleep 0.1; done;; esac; echo trained")
        began = time.monotonic()
        code, out, err = self.submit("joins", script, "--kind", "tfjob", "--ps", "1")
        self.assertEqual(code, 0, err)
        self.assertIn("[worker-0] trained", out)
        self.assertLess(time.monotonic() - began, LIMIT_S / 2)
        self.assertEqual(self.run_program("taas", "delete", "joins")[0], 0)

    def test_a_word_that_is_no_verb_is_told_with_the_verbs(self):
        """It said "A subcommand is required"."""
        code, out, err = self.run_program("taas", "lits")
        self.assertEqual((code, out), (2, ""))
        self.assertIn('there is no command lits; did you mean "list"?', err)
        self.assertIn("Commands: submit, list, ", err)

    def test_a_suspended_job_runs_when_it_is_resumed(self):
        code, _, err = self.submit("later", "echo now", "--suspend")
        self.assertEqual(code, 0, err)
        self.assertIn("taas resume later", err)
        self.assertEqual(self.run_program("taas", "wait", "later", "--for", "Suspended",
                                          "--timeout", "60s")[0], 0)
        self.assertEqual(self.run_program("taas", "resume", "later")[0], 0)
        code, _, err = self.run_program("taas", "wait", "later", "--timeout", "60s")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.run_program("taas", "delete", "later")[0], 0)
        self.assertEqual(self.run_program("taas", "get", "later")[0], 3)

    def test_a_timeout_is_exit_code_four(self):
        code, _, err = self.submit("slow", "exec sleep 1000", "--detach")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.run_program("taas", "wait", "slow", "--timeout", "1s")[0], 4)
        self.assertEqual(self.run_program("taas", "delete", "slow")[0], 0)

    def test_the_doctor_is_content_with_a_local_cluster(self):
        code, out, _ = self.run_program("taas", "doctor")
        self.assertEqual(code, 0, out)
        self.assertIn("inside the local cluster", out)

    def log_in(self, url, code):
        """The status, and both halves of the session where it was good."""
        request = urllib.request.Request(url + "api/session", method="POST",
                                         data=json.dumps({"code": code}).encode())
        try:
            with urllib.request.urlopen(request, timeout=LIMIT_S) as reply:
                cookie = reply.headers["Set-Cookie"].split(";")[0]
                return reply.status, {"Cookie": cookie, "X-TaaS-Session": json.load(reply)["half"]}
        except urllib.error.HTTPError as error:
            return error.code, {}

    def test_a_link_to_the_dashboard_logs_in_once(self):
        code, out, err = self.run_program("taas", "open", "--print", "--dir", self.cluster)
        self.assertEqual(code, 0, err)
        url, code = re.fullmatch(r"(http://127\.0\.0\.1:\d+/)#code=([0-9a-f]{64})\n", out).groups()
        status, halves = self.log_in(url, code)
        self.assertEqual(status, 200)
        request = urllib.request.Request(url + "api/session", headers=halves)
        with urllib.request.urlopen(request, timeout=LIMIT_S) as reply:
            session = json.load(reply)
        self.assertEqual((session["user"], session["local"]), ("taas-local", True))
        self.assertEqual(self.log_in(url, code)[0], 401)
        self.assertEqual(self.log_in(url, "0" * 64)[0], 401)
        with urllib.request.urlopen(url, timeout=LIMIT_S) as page:
            self.assertIn("<title>TaaS</title>", page.read().decode())
        self.assertEqual(self.run_program("taas", "open", "--print", "--dir", self.dir)[0], 3)

    def open_page(self, *words, **env):
        """`taas open` with a browser that keeps what it is to open."""
        tools = os.path.join(self.dir, "tools")
        os.makedirs(tools, exist_ok=True)
        with open(os.path.join(tools, "xdg-open"), "w", encoding="utf-8") as script:
            script.write('#!/bin/sh\ncp "$1" "$TMPDIR/opened.tmp"\n'
                         'mv "$TMPDIR/opened.tmp" "$TMPDIR/opened"\n')
        os.chmod(script.name, 0o755)
        env = {"PATH": tools + ":" + self.environ["PATH"], "TMPDIR": self.dir, **env}
        return self.run_program("taas", "open", "--dir", self.cluster, *words, **env)

    def test_a_browser_is_opened_at_the_page_of_a_job(self):
        self.assertEqual(self.submit("seen", "true", "--suspend")[0], 0)
        code, out, err = self.open_page("seen", DISPLAY=":7")
        self.assertEqual((code, err), (0, ""))
        address = re.fullmatch(
            r"(http://127\.0\.0\.1:\d+)/jobs/default/trainingjobs/seen#code=[0-9a-f]{64}\n", out)
        self.assertTrue(address, out)
        opened = os.path.join(self.dir, "opened")
        deadline = time.monotonic() + LIMIT_S
        while not os.path.exists(opened) and time.monotonic() < deadline:
            time.sleep(0.01)
        with open(opened, encoding="utf-8") as page:
            self.assertIn("url=" + out.strip(), page.read())
        os.remove(opened)
        code, out, err = self.open_page("seen", "--print", DISPLAY=":7")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("/seen#code=", out)
        code, out, err = self.open_page()
        self.assertEqual(code, 0)
        self.assertRegex(out, r"^http://127\.0\.0\.1:\d+/#code=[0-9a-f]{64}\n$")
        self.assertIn("names a screen; open the address yourself", err)
        self.assertFalse(os.path.exists(opened))
        code, _, err = self.open_page("unseen", "--print")
        self.assertEqual(code, 3, err)
        self.assertIn("unseen", err)
        self.assertEqual(self.run_program("taas", "delete", "seen")[0], 0)

    def test_without_a_cluster_it_is_said_how_one_starts(self):
        for words in (("open",), ("open", "mnist"), ("open", "--print")):
            code, out, err = self.run_program("taas", *words, "--dir", self.dir)
            self.assertEqual((code, out), (3, ""))
            self.assertIn("`taas local up --dir %s` starts one" % self.dir, err)

    def test_bash_completes_verbs_and_values(self):
        script = ("source <(taas completion bash); COMP_WORDS=(taas list -o \"\"); COMP_CWORD=3; "
                  "_taas; echo ${COMPREPLY[@]}")
        code, out, err = self.run_program("bash", "-c", script)
        self.assertEqual((code, out), (0, "json name table wide yaml\n"), err)

    def test_kubectl_finds_it_under_its_names(self):
        self.assertEqual(self.run_program("kubectl-taas", "version")[:2],
                         self.run_program("taas", "--version")[:2])
        code, out, _ = self.run_program("kubectl_complete-taas", "descr")
        self.assertEqual((code, out), (0, "describe\n:4\n"))


if __name__ == "__main__":
    unittest.main()
