// Another server of the same host, at another port: a tenant's TensorBoard beside a dashboard that
// is forwarded, or another user's page on the same machine. Cookies know no ports, so a browser
// sends it those of the dashboard; what it gets by them, and by all that its own page can read,
// must be worth nothing.

import http from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { act } from "../src/acts";
import type { Visit } from "../src/visit";

const HALF = "x-taas-session";
const COOKIE = "taas_session";

/** "token" returns what the person who is logged in has logged in with. */
export async function otherPort(visit: Visit): Promise<void> {
  const { page, task, trouble, t } = visit;
  const token = String(await act("token"));
  const half = await halfOf(page);
  const stranger = await listen();
  trouble.leaveAlone(stranger.origin);
  // The dashboard answers no page of another port.
  trouble.expect(403, /\/api\/session$/);
  try {
    const tab = await page.context().newPage();
    await tab.goto(stranger.origin);
    const read = await tab.evaluate(grab, new URL("api/session", task.url).href);
    await tab.close();
    const all = [...stranger.heard, read].join("\n");
    for (const [name, secret] of Object.entries({ token, half })) {
      if (all.includes(secret)) throw new Error(`another port of the host has the ${name}`);
    }
    const cookie = cookieIn(stranger.heard);
    await expectClosed(task.url, cookie, half);
  } finally {
    stranger.close();
  }
  await page.reload();
  await page.getByRole("heading", { level: 1, name: t.jobs.title }).waitFor();
}

/** What a page of the dashboard keeps and sends with its requests. */
async function halfOf(page: Page): Promise<string> {
  const kept = await page.evaluate(() => Object.entries(localStorage));
  const half = kept.find(([key]) => key.startsWith("taas.session"))?.[1] ?? "";
  if (half === "") throw new Error("the page keeps nothing of its session");
  return half;
}

interface Stranger {
  origin: string;
  /** The head and the body of each request. */
  heard: string[];
  close: () => void;
}

async function listen(): Promise<Stranger> {
  const heard: string[] = [];
  const server = http.createServer((request, response) => {
    heard.push([request.url, ...request.rawHeaders].join("\n"));
    request.on("data", (part: Buffer) => heard.push(part.toString()));
    response.writeHead(200, { "content-type": "text/html" }).end("<title>TensorBoard</title>");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { origin: `http://127.0.0.1:${port}`, heard, close };
}

/** In the stranger's page: all that it can find out, also by asking the dashboard. */
async function grab(session: string): Promise<string> {
  await fetch("/api/x", { method: "POST", credentials: "include", body: document.cookie });
  const asked = await fetch(session, { credentials: "include" }).then(
    (answer) => answer.text(),
    () => "",
  );
  const kept = [localStorage, sessionStorage].flatMap((one) => Object.entries(one).flat());
  return [document.cookie, asked, ...kept].join("\n");
}

/** Without it this would show nothing: the browser has sent what it sends to each port. */
function cookieIn(heard: string[]): string {
  const cookie = heard.join("\n").split("\n").find((line) => line.startsWith(COOKIE)) ?? "";
  if (cookie === "") throw new Error(`the browser has sent no ${COOKIE} to the other port`);
  return cookie;
}

/** With the cookie alone nobody gets in, in whatever place it is shown. */
async function expectClosed(url: string, cookie: string, half: string): Promise<void> {
  const value = cookie.split(";")[0]?.split("=")[1] ?? "";
  const asks = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(new URL("api/session", url), { headers })).status;
  const tries: Record<string, string>[] = [
    { cookie },
    { cookie, [HALF]: value },
    { authorization: `Bearer ${value}` },
  ];
  for (const headers of tries) {
    const status = await asks(headers);
    if (status !== 401) throw new Error(`what another port was sent is answered with ${status}`);
  }
  // Both halves together are the session: that it is the half that lacks above.
  const status = await asks({ cookie, [HALF]: half });
  if (status !== 200) throw new Error(`the session itself is answered with ${status}`);
}
