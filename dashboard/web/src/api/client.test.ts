import { describe, expect, test } from "vitest";
import { ApiClient } from "./client";
import { ApiError } from "./problem";

function client(answer: (input: string, init: RequestInit) => Response | Promise<Response>) {
  const seen: { input: string; init: RequestInit }[] = [];
  let logins = 0;
  const api = new ApiClient({
    base: "https://example.com/tools/taas/",
    fetch: async (input, init = {}) => {
      seen.push({ input, init });
      return answer(input, init);
    },
    half: { get: () => "sealed" },
    onUnauthenticated: () => (logins += 1),
  });
  return { api, seen, logins: () => logins };
}

async function failure(promise: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

describe("the client", () => {
  test("asks below the base of the page, wherever that is", async () => {
    const { api, seen } = client(() => Response.json({ jobs: [] }));
    await api.get("api/jobs", { query: { a: 1, b: undefined, r: ["x", "y z"] } });
    expect(seen[0]?.input).toBe("https://example.com/tools/taas/api/jobs?a=1&r=x&r=y+z");
  });

  // Symptom: the cookie alone was the session, and other servers of the same host got it.
  test("sends its half of the session with every request, also to streams", async () => {
    const { api, seen } = client(() => new Response(null, { status: 204 }));
    await api.delete("api/jobs/ml/tfjobs/a");
    await api.patch("api/jobs/ml/tfjobs/a", { suspend: true });
    await api.get("api/session");
    await api.open("api/stream");
    const halves = seen.map(({ init }) => new Headers(init.headers).get("X-TaaS-Session"));
    expect(halves).toEqual(["sealed", "sealed", "sealed", "sealed"]);
    expect(seen[1]?.init.body).toBe('{"suspend":true}');
  });

  test("sends a manifest as it was written", async () => {
    const { api, seen } = client(() => Response.json({}));
    const text = "# kept\nspec: {a:   1}\n";
    await api.postText("api/jobs", text);
    expect(seen[0]?.init.body).toBe(text);
  });

  test("turns a Problem into an error with its reason, sentence and fields", async () => {
    const causes = [{ field: "spec.roles", message: "required" }];
    const { api, logins } = client(() =>
      Response.json({ error: { reason: "Invalid", message: "refused", causes } }, { status: 422 }),
    );
    const error = await failure(api.postText("api/jobs", ""));
    expect(error).toMatchObject({ reason: "Invalid", message: "refused", status: 422, causes });
    expect(logins()).toBe(0);
  });

  test("asks for a login when the server knows nobody, also when a proxy says so", async () => {
    const { api, logins } = client(() => new Response("<html>", { status: 401 }));
    expect((await failure(api.get("api/jobs"))).reason).toBe("Unauthenticated");
    expect(logins()).toBe(1);
  });

  test("tells no answer from an answer that is not ours", async () => {
    const none = client(() => Promise.reject(new TypeError("Failed to fetch")));
    expect((await failure(none.api.get("api/jobs"))).reason).toBe("Network");
    const proxy = client(() => new Response("<html>", { status: 502, statusText: "Bad Gateway" }));
    expect(await failure(proxy.api.get("api/jobs"))).toMatchObject({
      reason: "BadAnswer",
      message: "502 Bad Gateway",
    });
    const page = client(() => new Response("<html>welcome to the hotel</html>"));
    expect((await failure(page.api.get("api/jobs"))).reason).toBe("BadAnswer");
  });
});
