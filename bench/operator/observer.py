"""Sees when the pods of a namespace come, run and go, and what jobs say of themselves.

A thread of its own watches them as short rows and notes the time of each event's arrival, so that
what is measured is what any client of the API server sees, the same for everybody under test.

    with PodObserver(client, "bench") as pods, JobObserver(client, jobs_path) as jobs:
        pods.until("1,000 pods", lambda: len(pods.created) == 1000)
        pods.created["big-worker-7"], pods.running["big-worker-7"], pods.gone[…]
        jobs.told["Running"]["big"]
"""

import collections
import threading
import time

# Columns of a pod's row that the API server has always had.
NAME, STATUS = 0, 2
# Longer than the slowest operator takes for what it is asked.
LIMIT_S = 3600
# Between two watches: what a server asks for that cannot start one.
AGAIN_S = 0.2


class Observer:
    """Of a collection: each event is noted with the time of its arrival."""

    # The column that says how it is with an object.
    cell = STATUS

    def __init__(self, client, path):
        self.client = client
        self.path = path
        self.breaks = 0  # Watches that the server ended.
        self.changed = threading.Condition()
        self.opened = threading.Event()
        self.failure = None
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self):
        version = 0
        try:
            while True:
                for event in self.client.watch(self.path, self.opened.set, version):
                    now = time.monotonic()
                    version = event.version
                    with self.changed:
                        for row in event.rows:
                            self.note(event.kind, row[NAME], row[self.cell], now)
                        self.changed.notify_all()
                # The server ends the watch of one who is too slow. The next begins where that
                # one ended, so that it costs the server no more than any program's would.
                self.breaks += 1
                time.sleep(AGAIN_S)
        except Exception as error:  # Told by whoever waits.
            with self.changed:
                self.failure = error
                self.changed.notify_all()
            self.opened.set()

    def until(self, what, check, limit_s=LIMIT_S, unless=lambda: None):
        """Waits for `check`; `unless` may raise, once a second."""
        deadline = time.monotonic() + limit_s
        with self.changed:
            while not check():
                if self.failure is not None:
                    raise RuntimeError(f"watch pods: {self.failure}")
                if time.monotonic() > deadline:
                    raise RuntimeError(f"waited {limit_s} s for {what}: {self.words()}")
                self.changed.wait(1)
                unless()

    def __enter__(self):
        self.thread.start()
        self.opened.wait()
        return self

    def __exit__(self, *_):
        """The thread ends with the connection, that is with the control plane or this process."""


class PodObserver(Observer):

    def __init__(self, client, namespace):
        super().__init__(client, f"/api/v1/namespaces/{namespace}/pods")
        self.created = {}  # By name, monotonic times; of the last pod of that name.
        self.running = {}
        self.ended = {}  # With 0.
        self.gone = {}

    def note(self, kind, name, status, now):
        if kind == "DELETED":
            self.gone[name] = now
            self.running.pop(name, None)
            return
        if kind == "ADDED" and not self.exists(name):
            self.created[name] = now
        if status == "Running":
            self.running.setdefault(name, now)
        if status == "Completed":
            self.ended.setdefault(name, now)

    def exists(self, name):
        return name in self.created and self.gone.get(name, 0) < self.created[name]

    def words(self):
        return (f"{len(self.created)} pods were created, {len(self.running)} run, "
                f"{len(self.gone)} went")


class JobObserver(Observer):
    """When the status of a job said first that it is in a state: told["Running"]["job-00007"]."""

    cell = 1  # Of both kinds.

    def __init__(self, client, path):
        super().__init__(client, path)
        self.told = collections.defaultdict(dict)
        self.last = time.monotonic()  # When anything came.

    def note(self, kind, name, status, now):
        self.last = now
        if kind != "DELETED":
            self.told[status].setdefault(name, now)

    def words(self):
        return ", ".join(f"{len(jobs)} were {state}" for state, jobs in self.told.items())
