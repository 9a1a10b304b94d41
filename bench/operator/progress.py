"""Notices that nothing happens any more, and says what the objects say about why.

    check = Progress(client, contestant, pods, running.component.check)
    pods.until("2,000 pods", …, unless=check)
"""

import time

# The slowest peer makes a pod every fifth of a second.
STALL_S = 60


class Stalled(RuntimeError):
    pass


class Progress:

    def __init__(self, client, contestant, pods, alive):
        self.client = client
        self.contestant = contestant
        self.pods = pods
        self.alive = alive
        self.seen = None
        self.since = time.monotonic()

    def __call__(self):
        """To be called once in a while; raises when the time for something new has passed."""
        self.alive()
        seen = (len(self.pods.created), len(self.pods.running), len(self.pods.gone))
        if seen != self.seen:
            self.seen, self.since = seen, time.monotonic()
        elif time.monotonic() > self.since + STALL_S:
            raise Stalled(f"nothing new for {STALL_S} s: {seen[0]} pods were created, {seen[1]} "
                          f"run, {seen[2]} went; {self.words()}")

    def words(self):
        """Of the first job that says something about itself."""
        jobs = self.client.list(self.contestant.jobs_path)
        said = [f"{job['metadata']['name']}: {text}" for job in jobs if (text := said_of(job))]
        return f"{len(said)} of {len(jobs)} jobs say why: {said[0]}" if said else (
            f"{len(jobs)} jobs say nothing")


def said_of(job):
    """What its status says, or its last condition where there is no such field."""
    status = job.get("status", {})
    conditions = status.get("conditions") or [{}]
    return status.get("message") or conditions[-1].get("message", "")
