"""Open tabs: readers of `api/stream` in a process of their own, so that reading two hundred streams
delays neither the one who changes jobs nor the clock that is read for it.

    with Tabs(port, tokens) as tabs:        one stream of each token, all with their first rows
        change(streams.mark(7))
        arrivals = tabs.finish()            {7: [time.monotonic() of each stream that had it]}
    tabs.firsts                             of each stream's first `jobs` event: seconds and bytes
"""

import asyncio
import collections
import multiprocessing
import re
import time

# Tabs that open at the same moment: of people, some. What comes first is megabytes for each.
AT_ONCE = 4
# The first event of the last of many streams on a machine that others use.
OPEN_LIMIT_S = 180
# Of what comes at all nothing takes longer.
LATE_S = 5
END_LIMIT_S = 30
MARK = re.compile(rb"change-(\d+)-")

First = collections.namedtuple("First", "seconds size")


def mark(number):
    return f"change-{number}-"


async def events(reader):
    """Server-sent events as bytes, of a chunked body."""
    parts = []
    while size := int(await reader.readline() or b"0", 16):
        part = await reader.readexactly(size)
        await reader.readexactly(2)
        parts.append(part)
        if part.endswith(b"\n\n"):
            yield b"".join(parts)
            parts = []


async def read_stream(port, token, opened, arrivals):
    began = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write((f"GET /api/stream?jobs=1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
                      f"Authorization: Bearer {token}\r\n"
                      "Accept: text/event-stream\r\n\r\n").encode())
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.partition(b"\r\n")[0] or b"chunked" not in head:
            raise RuntimeError("open api/stream: " + head.decode(errors="replace"))
        async for event in events(reader):
            now = time.monotonic()
            if b"event: end" in event:
                break
            if b"event: jobs" not in event:
                continue
            if not opened.done():
                opened.set_result(First(now - began, len(event)))
            for number in set(MARK.findall(event)):
                arrivals[int(number)].append(now)
        raise RuntimeError("api/stream has ended by itself")
    except Exception as error:
        if opened.done():
            raise
        opened.set_exception(error)
    finally:
        writer.close()


async def read_all(port, tokens, pipe):
    turns = asyncio.Semaphore(AT_ONCE)
    arrivals = collections.defaultdict(list)
    readers = []

    async def open_one(token):
        async with turns:
            opened = asyncio.get_running_loop().create_future()
            readers.append(asyncio.create_task(read_stream(port, token, opened, arrivals)))
            return await opened

    firsts = await asyncio.gather(*map(open_one, tokens))
    # Marks of earlier changes, which are still in the rows.
    arrivals.clear()
    pipe.send(firsts)
    await asyncio.get_running_loop().run_in_executor(None, pipe.recv)
    ended = sum(reader.done() for reader in readers)
    for reader in readers:
        reader.cancel()
    pipe.send((ended, dict(arrivals)))


class Tabs:

    def __init__(self, port, tokens):
        self.tokens = tokens
        self.pipe, there = multiprocessing.Pipe()
        self.process = multiprocessing.Process(
            target=lambda: asyncio.run(read_all(port, tokens, there)), daemon=True)
        self.firsts = []

    def __enter__(self):
        self.process.start()
        self.firsts = self.take(OPEN_LIMIT_S)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.join(END_LIMIT_S)

    def take(self, limit_s):
        """What the process tells; it has said on stderr why it ended if it has."""
        deadline = time.monotonic() + limit_s
        while not self.pipe.poll(0.1):
            if not self.process.is_alive() or time.monotonic() > deadline:
                raise SystemExit(f"bench: {len(self.tokens)} open streams: nothing in {limit_s} s")
        return self.pipe.recv()

    def finish(self):
        time.sleep(LATE_S)
        self.pipe.send("finish")
        ended, arrivals = self.take(END_LIMIT_S)
        if ended:
            raise SystemExit(f"bench: {ended} of {len(self.tokens)} streams ended by themselves")
        return arrivals
