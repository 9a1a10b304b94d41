// What the tests of this page share: a server that takes every job, and ways to read and write
// what is in the editor.

import { EditorView } from "@codemirror/view";
import { screen, waitFor } from "@testing-library/react";
import { vi } from "vitest";
import type { Created, KubeObject, Session } from "../../api/types";
import type { Asked } from "../../testing/fake_server";
import { FakeServer, session } from "../../testing/fake_server";
import type { Rendered } from "../../testing/render";
import { renderAt } from "../../testing/render";
import { readManifest } from "./manifest/read";

/** jsdom lays nothing out; the editor asks where its text is. */
export function stubLayout(): void {
  const none = (): DOMRectList => [] as unknown as DOMRectList;
  Object.defineProperty(Range.prototype, "getClientRects", { configurable: true, value: none });
  Object.defineProperty(Element.prototype, "scrollIntoView", {
    configurable: true,
    value: vi.fn(),
  });
}

/** As the server makes it of a manifest. */
export function objectOf(text: string): KubeObject {
  const reading = readManifest(text);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.manifest.value as unknown as KubeObject;
}

export function created({ body, query }: Asked): Created {
  const object = objectOf(body);
  const namespace = object.metadata.namespace ?? query.get("namespace");
  return { object: { ...object, metadata: { ...object.metadata, namespace } }, warnings: [] };
}

export function acceptingServer(of: Partial<Session> = {}): FakeServer {
  const server = new FakeServer(session(of));
  server.on("POST", "api/jobs", created);
  server.on("GET", "api/access", ({ query }) => ({
    namespace: query.get("namespace"),
    create: { TrainingJob: true, TFJob: true },
  }));
  return server;
}

export function posts(server: FakeServer): Asked[] {
  return server.asked.filter(({ method }) => method === "POST");
}

// The first test of a file loads it.
const EDITOR_MS = 15_000;

/** With the editor there. */
export async function openSubmit(
  server: FakeServer,
  search = "",
  language: "en" | "zh" = "en",
): Promise<Rendered> {
  const rendered = renderAt(`/submit${search}`, { server, language });
  await waitFor(() => editor(), { timeout: EDITOR_MS });
  return rendered;
}

export function editor(): EditorView {
  const found = document.querySelector<HTMLElement>(".cm-editor");
  const view = found && EditorView.findFromDOM(found);
  if (!view) throw new Error("the editor is not there yet");
  return view;
}

export function yaml(): string {
  return editor().state.doc.toString();
}

/** As if it had been typed there. */
export function typeYaml(text: string): void {
  const view = editor();
  view.dispatch({
    changes: { from: 0, to: view.state.doc.length, insert: view.state.toText(text) },
  });
}

export async function accepted(): Promise<void> {
  await screen.findByText("The server would accept this job");
}
