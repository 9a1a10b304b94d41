"""What a person waits for, in a real browser: page_times.ts, and who talks to it.

    with Tab(url, token) as tab:
        tab.do("open", at="jobs", sees=ROW, cold=True)["firstSeenMs"]
"""

import json
import os
import subprocess
import time

import browser

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page_times.ts")
ROW = "[role=row][tabindex]"
ROUNDS = 5
CHANGES = 20
SCROLL_MS = 5000
ROW_PX_MIN = 20
# Slowly enough that the one before is drawn.
PAUSE_S = 0.5


class Tab:

    def __init__(self, url, token):
        self.process = subprocess.Popen(
            [browser.node(), "--import", os.path.join(browser.FOLDER, "resolve.mjs"), SCRIPT, url],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._say({"token": token})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def _say(self, order):
        self.send(order)
        return self.answer()

    def send(self, order):
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"bench: {SCRIPT} ended with {self.process.wait()}")
        return json.loads(line)

    def do(self, what, **order):
        return self._say({"do": what, **order})


def opened(tab, at, sees, cold):
    """Of several times: until it is seen, and until the page rests; in seconds."""
    answers = [tab.do("open", at=at, sees=sees, cold=cold) for _ in range(ROUNDS)]
    return ([it["firstSeenMs"] / 1e3 for it in answers], [it["idleMs"] / 1e3 for it in answers])


def frames_per_s(tab, rows):
    """Of several scrolls over so many rows, and the longest pause of all in seconds."""
    answers = [tab.do("scroll", **{"for": SCROLL_MS}) for _ in range(ROUNDS)]
    if answers[0]["height"] < rows * ROW_PX_MIN:
        raise SystemExit(f"bench: what scrolls is {answers[0]['height']} px high: not {rows} rows")
    return ([it["frames"] * 1e3 / it["ms"] for it in answers],
            max(it["frameMs"][1] for it in answers) / 1e3)


def change_times(tab, change, mark, first):
    """From the API server's answer to a write until the row that shows it is painted; seconds."""
    times = []
    for number in range(first, first + CHANGES):
        tab.send({"do": "await", "text": mark(number)})
        change(number)
        written = time.time()
        times.append(tab.answer()["shownAt"] / 1e3 - written)
        time.sleep(PAUSE_S)
    return times
