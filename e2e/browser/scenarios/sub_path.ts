// Behind a proxy that serves the dashboard under a path of its own and takes that path away: the
// page finds its parts, its links stay below the path, and a link to a page deep inside works.

import http from "node:http";
import type { AddressInfo } from "node:net";
import type { Task } from "../src/task";
import { heading, openJob, openTab } from "../src/steps";
import { begin } from "../src/visit";

const PREFIX = "/tools/taas/";

export async function underSubPath(task: Task): Promise<void> {
  const proxy = http.createServer((request, response) => forward(task.url, request, response));
  await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done));
  const { port } = proxy.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}${PREFIX}`;
  const visit = await begin({ ...task, url }, { language: task.language });
  const name = task.jobs["tfjob"] ?? "";
  try {
    await visit.login();
    await openJob(visit, name);
    await openTab(visit, "logs");
    await visit.page.getByRole("log").locator(".logs-text").nth(3).waitFor();
    if (!visit.page.url().startsWith(url)) throw new Error(`a link led to ${visit.page.url()}`);
    await visit.page.reload();
    await visit.page.getByRole("log").locator(".logs-text").nth(3).waitFor();
    await visit.open(`jobs/${task.namespace}/tfjobs/${name}`);
    await heading(visit, name).waitFor();
    await visit.end();
  } catch (error) {
    await visit.abandon(`${task.scenario}-${task.language}`);
    throw error;
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
}

function forward(server: string, from: http.IncomingMessage, to: http.ServerResponse): void {
  const path = from.url ?? "";
  if (!path.startsWith(PREFIX)) {
    to.writeHead(404).end();
    return;
  }
  const { hostname, port } = new URL(server);
  const { method, headers } = from;
  const onward = http.request(
    { hostname, port, method, headers, path: path.slice(PREFIX.length - 1) },
    (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(to);
    },
  );
  onward.on("error", () => to.destroy());
  to.on("close", () => onward.destroy());
  from.pipe(onward);
}
