// The job's object on the page: two parts, to read, to copy, to download.

import { screen, waitFor, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { parse } from "yaml";
import type { KubeObject } from "../../../api/types";
import { visible } from "../../../components/visible";
import { FakeServer, problem } from "../../../testing/fake_server";
import { renderAt } from "../../../testing/render";
import { HOSTILE, jobOf } from "../job_fixture";
import "../patience";

const API = "api/jobs/ml/trainingjobs/bert/manifest";
const OBJECT: KubeObject = {
  apiVersion: "taas.dev/v1",
  kind: "TrainingJob",
  metadata: { name: "bert", namespace: "ml", annotations: { note: "yes", evil: HOSTILE } },
  spec: { roles: { worker: { replicas: 3 } } },
  status: { state: "Running" },
};

async function show(server: FakeServer) {
  const rendered = renderAt("/jobs/ml/trainingjobs/bert?tab=yaml", { server });
  await server.send("job", { job: jobOf() });
  await screen.findByRole("region", { name: "YAML" });
  return rendered;
}

function serverOf(object: KubeObject): FakeServer {
  const server = new FakeServer();
  server.on("GET", API, () => object);
  return server;
}

const code = (name: string) =>
  screen.findByRole("region", { name }).then((region) => region.querySelectorAll("pre"));

test("the manifest is YAML with line numbers, without the status", async () => {
  const { container } = await show(serverOf(OBJECT));
  const [numbers, text] = await code("Manifest");
  const annotations = { note: "yes", evil: visible(HOSTILE) };
  const metadata = { ...OBJECT.metadata, annotations };
  expect(parse(text?.textContent ?? "")).toEqual({ ...OBJECT, metadata, status: undefined });
  expect(numbers?.textContent?.split("\n").length).toBe(text?.textContent?.split("\n").length);
  expect(container.querySelector("pre img")).toBeNull();
});

test("the status is a switch away, and none is said", async () => {
  const { user } = await show(serverOf({ ...OBJECT, status: undefined }));
  await code("Manifest");
  await user.click(screen.getByText("Status"));
  expect(screen.getByText("The object has no status yet.")).toBeTruthy();
});

test("what is downloaded is what the API server has, also what is hidden in it", async () => {
  const blobs: Blob[] = [];
  vi.stubGlobal("URL", class extends URL {
    static override createObjectURL = (blob: Blob): string => (blobs.push(blob), "blob:x");
    static override revokeObjectURL = (): void => undefined;
  });
  const names: string[] = [];
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (
    this: HTMLAnchorElement,
  ) {
    names.push(this.download);
  });
  const { user } = await show(serverOf(OBJECT));
  const [, text] = await code("Manifest");
  await user.click(screen.getByRole("button", { name: "Download" }));
  expect(names).toEqual(["bert.yaml"]);
  const downloaded = await blobs[0]!.text();
  expect(downloaded.trimEnd().split("\n").map(visible).join("\n")).toBe(text?.textContent);
  expect(parse(downloaded)).toEqual({ ...OBJECT, status: undefined });
});

test("is read again when asked", async () => {
  const server = serverOf(OBJECT);
  const { user } = await show(server);
  await code("Manifest");
  server.on("GET", API, () => ({ ...OBJECT, spec: { roles: { worker: { replicas: 9 } } } }));
  await user.click(screen.getByRole("button", { name: "Read it again" }));
  await waitFor(async () => {
    const [, text] = await code("Manifest");
    expect(text?.textContent).toContain("replicas: 9");
  });
});

test("is read again when the stream says that the job has changed", async () => {
  const server = serverOf(OBJECT);
  await show(server);
  await code("Manifest");
  server.on("GET", API, () => ({ ...OBJECT, spec: { suspend: true } }));
  await server.send("job", { job: jobOf({ suspended: true }) });
  await waitFor(async () => {
    const [, text] = await code("Manifest");
    expect(text?.textContent).toContain("suspend: true");
  });
});

test("that may not be read says so and can be tried again", async () => {
  const server = new FakeServer();
  server.on("GET", API, () => problem(403, "Forbidden", "ada cannot get trainingjobs"));
  const { user } = await show(server);
  await screen.findByText("The object cannot be read");
  expect(screen.getByText("ada cannot get trainingjobs")).toBeTruthy();
  server.on("GET", API, () => OBJECT);
  const panel = screen.getByRole("region", { name: "YAML" });
  await user.click(within(panel).getByRole("button", { name: "Try again" }));
  expect(await code("Manifest")).toHaveLength(2);
});

// Symptom: the YAML of each job began with two lines that ran out of sight.
test("what programs keep in it shows when it is asked for", async () => {
  const annotations = { "taas.dev/ledger": "{...}" };
  const { user } = await show(
    serverOf({ ...OBJECT, metadata: { name: "bert", namespace: "ml", annotations } }),
  );
  const [, text] = await code("Manifest");
  expect(text?.textContent).not.toContain("taas.dev/ledger");
  await user.click(screen.getByRole("checkbox", { name: "Also what programs keep" }));
  const [, all] = await code("Manifest");
  expect(all?.textContent).toContain("taas.dev/ledger");
});
