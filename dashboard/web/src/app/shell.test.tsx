import { screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { renderAt } from "../testing/render";

test("every page of the navigation opens, with its own title", async () => {
  const { user } = renderAt("/");
  const titles = new Set<string>();
  for (const name of ["Jobs", "GPUs", "Queues", "Submit", "History"]) {
    await user.click(await screen.findByRole("link", { name }));
    await screen.findByRole("link", { name, current: "page" });
    await waitFor(() => {
      const heading = screen.getByRole("heading", { level: 1 });
      expect(document.title).toBe(`${heading.textContent} · TaaS`);
      expect(titles).not.toContain(document.title);
    });
    titles.add(document.title);
  }
});

test("the first stop of the tab key leads to the content, without leaving the page", async () => {
  const { user, router } = renderAt("/jobs?ns=ml");
  await screen.findByRole("main");
  await user.tab();
  expect(document.activeElement).toBe(screen.getByText("Skip to the content"));
  await user.keyboard("{Enter}");
  expect(document.activeElement).toBe(screen.getByRole("main"));
  expect(router.state.location.pathname).toBe("/jobs");
});
