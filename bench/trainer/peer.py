"""What a program that is measured does: it makes steps when it is told to, as steps.cc.

    serve(lambda config: (step, parameters))      # step() trains once and returns the loss

Ready is said after two steps, so that memory is touched and programs are compiled; with "start"
in the configuration after one.
"""

import json
import sys
import time


def answer(**values):
    print(json.dumps(values), flush=True)


def serve(make):
    config = json.loads(sys.stdin.readline())
    step, parameters = make(config)
    for _ in range(1 if config.get("start") else 2):
        float(step())
    answer(ready=True, parameters=parameters)
    for line in sys.stdin:
        began = time.perf_counter()
        for _ in range(int(line)):
            loss = step()
        loss = float(loss)
        answer(seconds=time.perf_counter() - began, loss=loss)
