"""The second whole cluster: of tests that others would feel, so that none of these waits for them.

    second = Second(lambda: started_cluster())
    second.cluster()           started by whoever asks first

Ownership: whoever gave `start` ends the cluster. Threads: those of one lane, and others after it.
"""

LANE = "second cluster"


class Second:

    def __init__(self, start):
        self._start = start
        self.started = []  # None of them, or the one.

    def cluster(self):
        if not self.started:
            self.started.append(self._start())
        return self.started[0]
