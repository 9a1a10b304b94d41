import { fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FakeServer } from "../../testing/fake_server";
import { renderAt } from "../../testing/render";
import { row } from "../../testing/rows";

const MESSAGE = "worker-1 cannot be scheduled: 0/12 nodes are available";

// Nothing is laid out here: each text is wider than its cell.
beforeEach(() => {
  Object.defineProperty(HTMLElement.prototype, "scrollWidth", {
    configurable: true,
    get: () => 10_000,
  });
});

afterEach(() => {
  Reflect.deleteProperty(HTMLElement.prototype, "scrollWidth");
});

async function show() {
  const server = new FakeServer();
  const rendered = renderAt("/jobs", { server });
  const rows = [row("a", { message: MESSAGE }), row("b")];
  await server.send("jobs", { full: true, rows, gone: [] });
  await screen.findByText(MESSAGE);
  return rendered;
}

const copies = (): number => screen.getAllByText(MESSAGE).length;

test("a message that is cut shows whole where the pointer rests, until Escape", async () => {
  const { user } = await show();
  await user.hover(screen.getByText(MESSAGE));
  await waitFor(() => expect(copies()).toBe(2));
  screen.getAllByRole("row")[1]?.focus();
  await user.keyboard("{Escape}");
  await waitFor(() => expect(copies()).toBe(1));
});

test("the pointer may go into the whole message, and closes it elsewhere", async () => {
  const { user } = await show();
  await user.hover(screen.getByText(MESSAGE));
  await waitFor(() => expect(copies()).toBe(2));
  const [cell, peek] = screen.getAllByText(MESSAGE);
  // As a browser tells it: from where to where.
  fireEvent.pointerOver(peek as HTMLElement, { pointerType: "mouse", relatedTarget: cell });
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(copies()).toBe(2);
  await user.hover(screen.getByRole("link", { name: "b" }));
  await waitFor(() => expect(copies()).toBe(1));
});

test("the keyboard's row shows its whole message at once", async () => {
  const { user } = await show();
  screen.getAllByRole("row")[2]?.focus();
  await user.keyboard("{ArrowUp}");
  await waitFor(() => expect(copies()).toBe(2));
  await user.keyboard("{ArrowDown}");
  await waitFor(() => expect(copies()).toBe(1));
});
