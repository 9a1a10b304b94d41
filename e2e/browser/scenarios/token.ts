// A token that ends while a page is open: the page asks for another one above what it shows, and
// goes on with it.

import { act } from "../src/acts";
import type { Visit } from "../src/visit";

/** jobs.steady is there; "end" ends the token, "renew" returns another, "come" makes jobs.new. */
export async function tokenEnds({ page, t, task, trouble }: Visit): Promise<void> {
  const row = (which: string) =>
    page.getByRole("row").filter({ hasText: task.jobs[which] ?? "" });
  await row("steady").waitFor();
  trouble.expect(401, /\/api\//);
  await act("end");
  const again = page.getByRole("dialog", { name: t.login.again });
  await again.getByText(t.login.againWhy).waitFor();
  // Behind it, where the pointer does not get to.
  await page.getByText(task.jobs["steady"] ?? "").first().waitFor();
  await again.getByLabel(t.login.token).fill(String(await act("renew")));
  await again.getByRole("button", { name: t.login.submit }).click();
  await again.waitFor({ state: "detached" });
  await page.getByText(t.shell.phase.live, { exact: true }).waitFor();
  await act("come");
  await row("new").waitFor();
}
