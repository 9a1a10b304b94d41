"""A Python that imports modules once and then runs many programs, each in a process of its own.

TensorFlow takes five seconds of a core to import. Here a process imports it and forks for each
program, which so begins with nothing but the import: no program sees what another has done.

    tensorflow = imported.Python(PATH, "tensorflow")
    self.addCleanup(tensorflow.close)
    text = tensorflow.run("import sys; print(sys.argv[1])", "word", stdin="what it reads")

A program runs as `python -c` does it, but ends by os._exit: what is registered with atexit does not
run. One that fails raises an AssertionError with what it wrote to standard error. A fork has none
of the threads that an import started. TensorFlow and PyTorch start theirs at their first operation,
and OpenBLAS of numpy, which does so at once, starts them again.
"""

import json
import subprocess
import tempfile

# Imports the modules sys.argv[1:]. Then each line of standard input is a program, its words and its
# standard input; a line with its exit code, output and errors is the reply. Those are in files,
# since pipes would have to be emptied while the program runs.
SERVER = """
import importlib, json, os, sys, tempfile, traceback

def outcome(program):
    try:
        exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0

def become(program, words, files):
    code = 1
    try:
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        sys.argv = ["-c", *words]
        code = outcome(program)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code & 0xFF)

def answer(program, words, stdin):
    files = [tempfile.TemporaryFile("w+", errors="surrogateescape") for _ in range(3)]
    files[0].write(stdin)
    for file in files:
        file.seek(0)
    pid = os.fork()
    if pid == 0:
        requests.close()
        replies.close()
        become(program, words, files)
    status = os.waitpid(pid, 0)[1]
    texts = []
    for file in files:
        file.seek(0)
        texts.append(file.read())
        file.close()
    return [os.waitstatus_to_exitcode(status), *texts[1:]]

requests, replies = open(os.dup(0)), open(os.dup(1), "w", buffering=1)
# What an import prints is no reply, and nothing of it may be left for a program to print.
os.dup2(2, 1)
for module in sys.argv[1:]:
    importlib.import_module(module)
sys.stdout.flush()
for line in requests:
    replies.write(json.dumps(answer(*json.loads(line))) + "\\n")
"""


class Python:

    def __init__(self, path, *modules):
        # Warnings of the imports: of interest only if the process ends by itself.
        self._log = tempfile.TemporaryFile("w+", errors="replace")
        self._process = subprocess.Popen([path, "-c", SERVER, *modules], text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=self._log)

    def run(self, program, *words, stdin=""):
        """What the program printed."""
        try:
            self._process.stdin.write(json.dumps([program, words, stdin]) + "\n")
            self._process.stdin.flush()
            reply = self._process.stdout.readline()
        except BrokenPipeError:
            reply = ""
        if not reply:
            raise RuntimeError(self._end())
        code, output, errors = json.loads(reply)
        if code != 0:
            raise AssertionError(f"the program ended with {code}: {errors}")
        return output

    def _end(self):
        code = self._process.wait()
        self._log.seek(0)
        return f"{self._process.args[0]} ended with {code}: {self._log.read()}"

    def close(self):
        """Ends the process."""
        self._process.communicate()
        self._log.close()
