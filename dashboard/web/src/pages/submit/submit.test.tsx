import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, test } from "vitest";
import { zh } from "../../i18n/zh";
import { problem } from "../../testing/fake_server";
import { row } from "../../testing/rows";
import EXAMPLES from "./templates/examples.json";
import {
  accepted,
  acceptingServer,
  created,
  objectOf,
  openSubmit,
  posts,
  stubLayout,
  typeYaml,
  yaml,
} from "./testing";

beforeEach(() => {
  sessionStorage.clear();
  stubLayout();
});

function field(name: string): HTMLInputElement {
  return screen.getByRole("textbox", { name });
}

const send = (): HTMLElement => screen.getByRole("button", { name: "Submit" });
const isDisabled = (element: HTMLElement): boolean => (element as HTMLButtonElement).disabled;

/** What a screen reader says with an element. */
function described(element: HTMLElement): string {
  const ids = element.getAttribute("aria-describedby")?.split(" ") ?? [];
  return ids.map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
}

/** Once the server has refused. */
function refused(): Promise<HTMLElement> {
  return screen.findByText("The server would refuse this job");
}

describe("what is wrong", () => {
  test("is said with the field, in the list and beside the button", async () => {
    const server = acceptingServer();
    const { user } = await openSubmit(server);
    await accepted();
    await user.type(field("Name"), "_X");
    const name = field("Name");
    expect(name.getAttribute("aria-invalid")).toBe("true");
    expect(described(name)).toContain("Must begin with a letter");
    expect(isDisabled(send())).toBe(true);
    expect(described(send())).toContain("Correct 1 problem first.");
    const list = await screen.findByRole("region", { name: "1 problem" });
    await user.click(screen.getByRole("button", { name: "Correct 1 problem first." }));
    expect(document.activeElement).toBe(list);
    await user.click(within(list).getByRole("button", { name: /metadata.name/ }));
    expect(document.activeElement).toBe(field("Name"));
    // Nobody is asked about what is known to be wrong.
    expect(posts(server)).toHaveLength(1);
    await user.click(screen.getByRole("button", { name: "Use mnist-x" }));
    expect(field("Name").value).toBe("mnist-x");
    await accepted();
  });

  test("has its number where it shows: on a tab of the form, else at the YAML", async () => {
    await openSubmit(acceptingServer());
    const wrong = "  nonsense: 1\n  backoffLimit: -1\n  volumes:";
    act(() => typeYaml(EXAMPLES.async.replace("  volumes:", wrong)));
    await screen.findByRole("region", { name: "2 problems" });
    const badges = (element: HTMLElement): number =>
      within(element).queryAllByTitle("1 problem").length;
    expect(badges(screen.getByRole("tab", { name: /Advanced/ }))).toBe(1);
    expect(badges(screen.getByRole("tab", { name: /Simple/ }))).toBe(0);
    expect(badges(screen.getByRole("region", { name: "YAML" }))).toBe(1);
  });

  test("leads to a section that was closed", async () => {
    const { user } = await openSubmit(acceptingServer());
    act(() => typeYaml(EXAMPLES.async.replace("  volumes:", "  backoffLimit: -1\n  volumes:")));
    await user.click(await screen.findByRole("button", { name: /spec.backoffLimit/ }));
    const limit = await screen.findByRole("spinbutton", { name: "Restarts at most" });
    await waitFor(() => expect(document.activeElement).toBe(limit));
    expect(described(limit)).toContain("Must be at least 0.");
  });

  test("as the server finds it is at its field", async () => {
    const server = acceptingServer();
    server.on("POST", "api/jobs", () =>
      Response.json(
        {
          error: {
            reason: "Invalid",
            message: "…",
            causes: [
              { field: "spec.roles.ps", message: 'Invalid value: "object": needs at least one ps' },
              { field: "spec.trainer.optimizer.learningRate", message: "too fast" },
            ],
          },
        },
        { status: 422 },
      ),
    );
    const { user } = await openSubmit(server);
    await refused();
    // It may be tried all the same: the server has the last word.
    expect(isDisabled(send())).toBe(false);
    const refusal = { name: /spec.roles.ps needs at least one ps/ };
    await user.click(await screen.findByRole("button", refusal));
    const ps = await screen.findByRole("switch", { name: "Use the role ps" });
    await waitFor(() => expect(document.activeElement).toBe(ps));
    expect(described(ps)).toContain("needs at least one ps");
    await user.click(screen.getByRole("button", { name: /learningRate too fast/ }));
    const rate = await screen.findByRole("spinbutton", { name: "Learning rate" });
    await waitFor(() => expect(document.activeElement).toBe(rate));
  });

  test("as a server that decodes strictly says it is at its field", async () => {
    const server = acceptingServer();
    const message = 'try the job: strict decoding error: unknown field "spec.trainer.maxStep"';
    server.on("POST", "api/jobs", () => problem(400, "BadRequest", message));
    await openSubmit(server);
    await refused();
    const told = { name: /spec.trainer.maxStep unknown field/ };
    expect(await screen.findByRole("button", told)).toBeTruthy();
  });

  test("with the job as a whole is said above the form", async () => {
    const server = acceptingServer();
    server.on("POST", "api/jobs", () => problem(403, "Forbidden", "exceeded quota: gpus"));
    await openSubmit(server);
    await refused();
    expect(screen.getByText("The server refused the job")).toBeTruthy();
    expect(screen.getByText("exceeded quota: gpus")).toBeTruthy();
  });

  test("by who does not answer is none, and is asked for again", async () => {
    const server = acceptingServer();
    server.on("POST", "api/jobs", () => problem(503, "Unavailable", "connection refused"));
    await openSubmit(server);
    await screen.findByText("The server does not answer; it will be asked again");
    expect(screen.queryByText("The server refused the job")).toBeNull();
    server.on("POST", "api/jobs", (asked) => created(asked));
    fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    await screen.findByText("The server would accept this job");
  });

  test("a service account that sees no job yet begins where it is", async () => {
    const user = "system:serviceaccount:vision:ada";
    await openSubmit(acceptingServer({ user, namespaces: [] }));
    const form = screen.getByRole("region", { name: "Form" });
    const namespace = within(form).getByRole("combobox", { name: "Namespace" });
    expect((namespace as HTMLInputElement).value).toBe("vision");
  });

  test("with the namespace is who may not do what", async () => {
    const server = acceptingServer();
    server.on("GET", "api/access", ({ query }) => ({
      namespace: query.get("namespace"),
      create: { TrainingJob: query.get("namespace") === "vision", TFJob: true },
    }));
    const { user } = await openSubmit(server);
    const text = "ada may not create a TrainingJob in namespace ml.";
    await screen.findAllByText(text);
    expect(described(send())).toContain("You may not make jobs in this namespace.");
    expect(posts(server)).toHaveLength(0);
    const namespace = within(screen.getByRole("region", { name: "Form" })).getByRole("combobox", {
      name: "Namespace",
    });
    await user.clear(namespace);
    await user.type(namespace, "vision");
    await accepted();
    expect(posts(server)[0]?.query.get("namespace")).toBe("vision");
  });

  test("with the name is that it is taken, and the next one is proposed", async () => {
    const server = acceptingServer();
    server.on("POST", "api/jobs", (asked) =>
      asked.body.includes("name: mnist\n")
        ? problem(409, "Conflict", 'trainingjobs.taas.dev "mnist" already exists')
        : created(asked),
    );
    const { user } = await openSubmit(server);
    await refused();
    expect(described(field("Name"))).toContain("A job called mnist exists in namespace ml.");
    await screen.findByRole("button", { name: "Use mnist-2" });
    // A name counts in its namespace, of either kind.
    await server.send("jobs", {
      full: true,
      rows: [
        row("mnist"),
        row("mnist-2", { kind: "TFJob" }),
        row("mnist-3", { namespace: "vision" }),
      ],
      gone: [],
    });
    await user.click(await screen.findByRole("button", { name: "Use mnist-3" }));
    await accepted();
  });

  // Symptom: before anything was typed the page had a problem: a job called mnist exists.
  test("with the name does not arise by itself: the page begins with a free one", async () => {
    const server = acceptingServer();
    server.on("GET", "api/jobs", () => ({
      jobs: [row("mnist"), row("mnist-2", { kind: "TFJob" }), row("mnist-3", { namespace: "v" })],
    }));
    await openSubmit(server);
    expect(field("Name").value).toBe("mnist-3");
    await accepted();
    expect(posts(server).map(({ body }) => objectOf(body).metadata.name)).toEqual(["mnist-3"]);
  });

  test("with a trainer of this release is a warning, and no reason not to submit", async () => {
    const server = acceptingServer();
    await openSubmit(server);
    act(() => typeYaml(yaml().replace("name: mlp", "name: softmax")));
    await accepted();
    expect(await screen.findByRole("region", { name: "1 warning" })).toBeTruthy();
    expect(described(field("Hidden layers"))).toContain(
      "Belongs to lenet, lstm, mlp, wideDeep, not to softmax.",
    );
    expect(isDisabled(send())).toBe(false);
  });

  test("as far as the server warns of it is shown", async () => {
    const server = acceptingServer();
    server.on("POST", "api/jobs", (asked) => ({ ...created(asked), warnings: ["old"] }));
    await openSubmit(server);
    await screen.findByText(/would accept this job, with 1 warning/);
    expect(screen.getByText("old")).toBeTruthy();
  });

  test("with a dashboard that is read-only is that, and nobody is asked", async () => {
    const server = acceptingServer({ readOnly: true });
    await openSubmit(server);
    expect(described(send())).toContain("This dashboard is read-only.");
    // Else it would be "being asked" from the first moment on.
    expect(screen.getByText("The server has not been asked")).toBeTruthy();
    expect(posts(server)).toHaveLength(0);
  });
});

describe("submitting", () => {
  test("sends the text as it is, and goes to the job", async () => {
    const server = acceptingServer();
    const { user, router } = await openSubmit(server);
    const text = `# mine\n${EXAMPLES["own-image"]}\n`;
    act(() => typeYaml(text));
    await user.click(send());
    await waitFor(() =>
      expect(router.state.location.pathname).toBe("/jobs/ml/trainingjobs/own-image"),
    );
    const sent = posts(server).find(({ query }) => !query.has("dryRun"));
    expect(sent?.body).toBe(text);
    expect(sent?.query.get("namespace")).toBe("ml");
    expect(sessionStorage).toHaveLength(0);
  });

  test("that fails says why, and keeps the draft", async () => {
    const server = acceptingServer();
    server.on("POST", "api/jobs", (asked) =>
      asked.query.has("dryRun") ? created(asked) : problem(409, "Conflict", "exists"),
    );
    const { user, router } = await openSubmit(server);
    await accepted();
    await user.click(send());
    await refused();
    expect(router.state.location.pathname).toBe("/submit");
    expect(described(field("Name"))).toContain("A job called mnist exists");
  });
});

describe("a copy", () => {
  const stored = (): unknown => {
    const object = objectOf(EXAMPLES.sync);
    const metadata = { ...object.metadata, namespace: "ml", uid: "u", resourceVersion: "7" };
    return { ...object, metadata, status: { state: "Succeeded" } };
  };

  test("of a job is that job with the next name", async () => {
    const server = acceptingServer();
    server.on("GET", "api/jobs/ml/trainingjobs/sync/manifest", stored);
    await openSubmit(server, "?clone=ml/trainingjobs/sync");
    const copy = objectOf(yaml());
    expect(copy.metadata).toEqual({ name: "sync-2", namespace: "ml" });
    expect(copy.spec).toEqual(objectOf(EXAMPLES.sync).spec);
    expect(copy).not.toHaveProperty("status");
    expect(screen.getByText("A copy of ml/sync")).toBeTruthy();
    // The word for a copy is that for a replica.
    expect(zh.submit.clonedFrom("ml/sync")).toBe("克隆自 ml/sync");
  });

  test("of a job gets a name that none has", async () => {
    const server = acceptingServer();
    server.on("GET", "api/jobs/ml/trainingjobs/sync/manifest", stored);
    server.on("GET", "api/jobs", () => ({ jobs: [row("sync"), row("sync-2")] }));
    await openSubmit(server, "?clone=ml/trainingjobs/sync");
    expect(objectOf(yaml()).metadata.name).toBe("sync-3");
  });

  test("of somebody else's job says so, and can be made one's own", async () => {
    const server = acceptingServer();
    const object = objectOf(EXAMPLES.sync);
    const metadata = { ...object.metadata, annotations: { "taas.dev/owner": "bob" } };
    const path = "api/jobs/ml/trainingjobs/sync/manifest";
    server.on("GET", path, () => ({ ...object, metadata }));
    const { user } = await openSubmit(server, "?clone=ml/trainingjobs/sync");
    expect(screen.getByText(/The owner in this manifest is bob/)).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Make it ada" }));
    expect(yaml()).toContain("taas.dev/owner: ada");
    expect(screen.queryByText(/is bob/)).toBe(null);
  });

  test("of a job that is gone comes from the history", async () => {
    const server = acceptingServer();
    const detail = { namespace: "ml", name: "sync", manifest: stored() };
    server.on("GET", "api/history/u-1", () => detail);
    await openSubmit(server, "?cloneHistory=u-1");
    expect(objectOf(yaml()).metadata.name).toBe("sync-2");
  });

  test("of nothing says so", async () => {
    const server = acceptingServer();
    const { router } = await openSubmit(server);
    await act(() => router.navigate("/submit?clone=ml/pods/a"));
    expect(await screen.findByText(/“ml\/pods\/a” names no job to clone/)).toBeTruthy();
    await act(() => router.navigate("/submit?clone=ml/tfjobs/none"));
    expect(await screen.findByText(/could not be read/)).toBeTruthy();
    server.on("GET", "api/history/u-2", () => ({ namespace: "ml", name: "a" }));
    await act(() => router.navigate("/submit?cloneHistory=u-2"));
    expect(await screen.findByText(/The history has no manifest/)).toBeTruthy();
  });
});

describe("a draft", () => {
  test("outlives a reload, until it is thrown away", async () => {
    const first = await openSubmit(acceptingServer());
    await first.user.type(field("Name"), "-x");
    first.unmount();
    const { user } = await openSubmit(acceptingServer());
    expect(field("Name").value).toBe("mnist-x");
    await user.click(screen.getByRole("button", { name: "Start anew" }));
    await waitFor(() => expect(field("Name").value).toBe("mnist"));
    expect(sessionStorage).toHaveLength(0);
  });

  test("is asked about before the page is left", async () => {
    const { user, router } = await openSubmit(acceptingServer());
    await user.type(field("Name"), "-x");
    await user.click(screen.getByRole("link", { name: "GPUs" }));
    await user.click(await screen.findByRole("button", { name: "Stay here" }));
    expect(router.state.location.pathname).toBe("/submit");
    const unload = new Event("beforeunload", { cancelable: true });
    window.dispatchEvent(unload);
    expect(unload.defaultPrevented).toBe(true);
    await user.click(screen.getByRole("link", { name: "GPUs" }));
    await user.click(await screen.findByRole("button", { name: "Leave and keep the draft" }));
    await screen.findByRole("heading", { level: 1, name: "GPUs" });
    await user.click(screen.getByRole("link", { name: "Submit" }));
    await waitFor(() => expect(field("Name").value).toBe("mnist-x"));
    await user.click(screen.getByRole("link", { name: "GPUs" }));
    await user.click(await screen.findByRole("button", { name: "Leave and throw it away" }));
    await screen.findByRole("heading", { level: 1, name: "GPUs" });
    expect(sessionStorage).toHaveLength(0);
  });

  test("that is a file as it was opened outlives a reload, too", async () => {
    const first = await openSubmit(acceptingServer());
    const input = screen.getByLabelText("Open a file", { selector: "input" });
    await first.user.upload(input, new File([EXAMPLES.towers], "mine.yaml"));
    await waitFor(() => expect(field("Name").value).toBe("towers"));
    first.unmount();
    const second = await openSubmit(acceptingServer());
    expect(yaml()).toBe(EXAMPLES.towers);
    second.unmount();
    await openSubmit(acceptingServer());
    expect(yaml()).toBe(EXAMPLES.towers);
  });

  test("that was not touched is left without a word", async () => {
    const { user, router } = await openSubmit(acceptingServer());
    await user.click(screen.getByRole("link", { name: "GPUs" }));
    await waitFor(() => expect(router.state.location.pathname).toBe("/gpus"));
  });
});

describe("another manifest", () => {
  test("comes from a template, after a question where something was written", async () => {
    const { user } = await openSubmit(acceptingServer());
    await user.click(screen.getByRole("button", { name: "Templates" }));
    await user.click(await screen.findByRole("button", { name: /A first try/ }));
    await waitFor(() => expect(field("Name").value).toBe("first-try"));
    await user.type(field("Name"), "-x");
    await user.click(screen.getByRole("button", { name: "Templates" }));
    await user.click(await screen.findByRole("button", { name: /Towers/ }));
    await user.click(await screen.findByRole("button", { name: "Cancel" }));
    expect(field("Name").value).toBe("first-try-x");
    await user.click(screen.getByRole("button", { name: "Templates" }));
    await user.click(await screen.findByRole("button", { name: /Towers/ }));
    await user.click(await screen.findByRole("button", { name: "Replace" }));
    await waitFor(() => expect(field("Name").value).toBe("towers"));
  });

  test("comes from a file, to the byte", async () => {
    const { user } = await openSubmit(acceptingServer());
    const text = EXAMPLES.towers.replaceAll("\n", "\r\n");
    const file = new File([text], "mine.yaml");
    await user.upload(screen.getByLabelText("Open a file", { selector: "input" }), file);
    await waitFor(() => expect(yaml()).toBe(text));
    expect(screen.getByText("From the file mine.yaml")).toBeTruthy();
    expect(field("Name").value).toBe("towers");
    await user.type(field("Name"), "2");
    expect(yaml()).toBe(text.replace("name: towers", "name: towers2"));
  });

  test("is dropped on the page", async () => {
    await openSubmit(acceptingServer());
    const pane = screen.getByRole("region", { name: "Form" });
    const dataTransfer = { types: ["Files"], files: [new File([EXAMPLES.tfjob], "t.yaml")] };
    fireEvent.dragEnter(pane, { dataTransfer });
    expect(screen.getByText("Drop a manifest here")).toBeTruthy();
    fireEvent.drop(pane, { dataTransfer });
    await waitFor(() => expect(yaml()).toBe(EXAMPLES.tfjob));
  });

  test("that is no text is refused", async () => {
    const { user } = await openSubmit(acceptingServer());
    const input = screen.getByLabelText("Open a file", { selector: "input" });
    await user.upload(input, new File([new Uint8Array([0xff, 0xfe, 0x00])], "bad.yaml"));
    expect(await screen.findByText("bad.yaml is not a text in UTF-8.")).toBeTruthy();
    await user.upload(input, new File([new Uint8Array((3 << 20) + 1)], "big.yaml"));
    expect(await screen.findByText(/big.yaml is larger than 3 MiB/)).toBeTruthy();
  });

  test("of another sort keeps what was written of name and number", async () => {
    const { user } = await openSubmit(acceptingServer());
    await user.type(field("Name"), "-x");
    const workers = screen.getByRole("spinbutton", { name: "Workers" });
    await user.clear(workers);
    await user.type(workers, "7");
    await user.click(screen.getByText("TFJob"));
    const dialog = await screen.findByRole("dialog");
    await user.click(within(dialog).getByRole("button", { name: "Replace" }));
    await waitFor(() => expect(yaml()).toContain("kind: TFJob"));
    expect(field("Name").value).toBe("mnist-x");
    expect(yaml()).toContain("replicas: 7");
  });

  test("is of a kind that the cluster has", async () => {
    await openSubmit(acceptingServer({ kinds: ["TFJob"] }));
    expect(yaml()).toContain("kind: TFJob");
    expect(screen.queryByText("Bundled trainer")).toBe(null);
    act(() => typeYaml(EXAMPLES.mnist));
    const told = { name: /kind This cluster does not have this kind of job/ };
    expect(await screen.findByRole("button", told)).toBeTruthy();
  });
});
