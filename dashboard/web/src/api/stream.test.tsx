import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ApiError } from "./problem";
import { DEAD_MS, LiveStream, OFFLINE_MS } from "./stream";

/** One connection that the stream has opened. */
class Connection {
  readonly query: Record<string, unknown>;
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  readonly response: Response;
  cancelled = false;

  constructor(
    query: Record<string, unknown>,
    headers: Record<string, string>,
    signal: AbortSignal,
  ) {
    this.query = query;
    this.headers = headers;
    this.signal = signal;
    this.response = new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => {
          this.cancelled = true;
        },
      }),
    );
  }

  async send(text: string): Promise<void> {
    this.#controller.enqueue(new TextEncoder().encode(text));
    await vi.advanceTimersByTimeAsync(0);
  }

  async close(): Promise<void> {
    this.#controller.close();
    await vi.advanceTimersByTimeAsync(0);
  }
}

let connections: Connection[];
let refusal: Error | undefined;
let logins: number;
let stream: LiveStream;

beforeEach(() => {
  vi.useFakeTimers();
  connections = [];
  refusal = undefined;
  logins = 0;
  stream = new LiveStream({
    open: async (query, headers, signal) => {
      const connection = new Connection(query, headers, signal);
      connections.push(connection);
      if (refusal) throw refusal;
      return connection.response;
    },
    random: () => 1,
    onUnauthenticated: () => (logins += 1),
  });
});

afterEach(() => {
  stream.halt();
  vi.useRealTimers();
});

function last(): Connection {
  const connection = connections.at(-1);
  if (!connection) throw new Error("the stream has opened no connection");
  return connection;
}

async function settled(): Promise<Connection> {
  await vi.advanceTimersByTimeAsync(50);
  return last();
}

const phase = (): string => stream.status.get().phase;

describe("the one stream", () => {
  test("carries the union of what the pages want, on one connection", async () => {
    stream.want({ jobs: true });
    stream.want({ job: "ml/tfjobs/a" });
    const { query } = await settled();
    expect(connections).toHaveLength(1);
    expect(query).toEqual({ jobs: 1, job: "ml/tfjobs/a" });
    expect(phase()).toBe("live");
  });

  test("changes the connection once when one page goes and another comes", async () => {
    const stop = stream.want({ jobs: true });
    const first = await settled();
    stop();
    stream.want({ gpus: true });
    const second = await settled();
    expect(connections).toHaveLength(2);
    expect(first.signal.aborted).toBe(true);
    expect(second.query).toEqual({ gpus: 1 });
  });

  test("closes when nobody wants anything", async () => {
    const stop = stream.want({ jobs: true });
    const connection = await settled();
    stop();
    await vi.advanceTimersByTimeAsync(50);
    expect(connection.signal.aborted).toBe(true);
    expect(connection.cancelled).toBe(true);
    expect(phase()).toBe("idle");
  });

  test("gives events, parsed, to who listens for their name", async () => {
    const heard: unknown[] = [];
    stream.on("jobs", (data) => heard.push(data));
    stream.want({ jobs: true });
    const connection = await settled();
    await connection.send('id: 1\nevent: jobs\ndata: {"full":');
    await connection.send("true}\n\nevent: gpus\ndata: 5\n\n");
    expect(heard).toEqual([{ full: true }]);
  });

  test("resumes after the last id when the connection ends", async () => {
    stream.want({ jobs: true });
    const first = await settled();
    expect(first.headers["Last-Event-ID"]).toBeUndefined();
    await first.send("id: 41\nevent: jobs\ndata: {}\n\n");
    await first.close();
    expect(phase()).toBe("reconnecting");
    await vi.advanceTimersByTimeAsync(500);
    expect(connections).toHaveLength(2);
    expect(last().headers["Last-Event-ID"]).toBe("41");
    expect(phase()).toBe("live");
  });

  test("asks for everything when the topics are others, whatever id it has", async () => {
    const stop = stream.want({ jobs: true });
    await (await settled()).send("id: 41\nevent: jobs\ndata: {}\n\n");
    stop();
    stream.want({ queues: true });
    expect((await settled()).headers["Last-Event-ID"]).toBeUndefined();
  });

  test("waits longer and longer, 15 s at most, and says when it is offline", async () => {
    refusal = new ApiError("Network", "no answer");
    stream.want({ jobs: true });
    await settled();
    const times: number[] = [];
    let seen = connections.length;
    const start = Date.now();
    while (Date.now() - start < 90_000) {
      await vi.advanceTimersByTimeAsync(100);
      if (connections.length > seen) times.push(Date.now());
      seen = connections.length;
    }
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(waits.slice(0, 5)).toEqual([1000, 2000, 4000, 8000, 15_000]);
    expect(Math.max(...waits)).toBe(15_000);
    expect(90_000).toBeGreaterThan(OFFLINE_MS);
    expect(phase()).toBe("offline");
    expect(stream.status.get().error?.reason).toBe("Network");
    refusal = undefined;
    await vi.advanceTimersByTimeAsync(15_000);
    expect(phase()).toBe("live");
    expect(stream.status.get().error).toBeUndefined();
  });

  test("takes 45 s without a byte as dead; a comment is a byte", async () => {
    stream.want({ jobs: true });
    const first = await settled();
    await vi.advanceTimersByTimeAsync(DEAD_MS - 1000);
    await first.send(": beat\n\n");
    await vi.advanceTimersByTimeAsync(DEAD_MS - 1000);
    expect(phase()).toBe("live");
    await vi.advanceTimersByTimeAsync(1000);
    expect(first.signal.aborted).toBe(true);
    await vi.advanceTimersByTimeAsync(500);
    expect(connections).toHaveLength(2);
  });

  test("stops and asks for a login when the token is no longer good", async () => {
    stream.want({ jobs: true });
    const first = await settled();
    await first.send("id: 3\nevent: jobs\ndata: {}\n\n");
    await first.send('event: end\ndata: {"reason":"Unauthenticated","message":"expired"}\n\n');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(logins).toBe(1);
    expect(connections).toHaveLength(1);
    stream.resume();
    await vi.advanceTimersByTimeAsync(0);
    expect(last().headers["Last-Event-ID"]).toBe("3");
    expect(phase()).toBe("live");
  });

  test("stops and asks for a login when opening it is refused with 401", async () => {
    refusal = new ApiError("Unauthenticated", "no cookie", { status: 401 });
    stream.want({ jobs: true });
    await settled();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(connections).toHaveLength(1);
    expect(logins).toBe(1);
  });

  test("comes back after a restart of the server, and anew when it was too slow", async () => {
    stream.want({ jobs: true });
    await (await settled()).send("id: 9\nevent: jobs\ndata: {}\n\n");
    await last().send('event: end\ndata: {"reason":"ServerStops","message":"bye"}\n\n');
    await vi.advanceTimersByTimeAsync(500);
    expect(last().headers["Last-Event-ID"]).toBe("9");
    await last().send('event: end\ndata: {"reason":"TooSlow","message":"behind"}\n\n');
    await vi.advanceTimersByTimeAsync(1000);
    expect(connections).toHaveLength(3);
    expect(last().headers["Last-Event-ID"]).toBeUndefined();
  });

  test("begins anew after an event that is no JSON", async () => {
    stream.want({ jobs: true });
    await (await settled()).send("id: 9\nevent: jobs\ndata: {broken\n\n");
    await vi.advanceTimersByTimeAsync(500);
    expect(connections).toHaveLength(2);
    expect(last().headers["Last-Event-ID"]).toBeUndefined();
  });
});
