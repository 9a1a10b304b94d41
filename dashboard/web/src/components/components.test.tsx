import { render, screen } from "@testing-library/react";
import { Component, type ReactNode } from "react";
import { describe, expect, test, vi } from "vitest";
import type { ErrorReason } from "../api/problem";
import { ApiError } from "../api/problem";
import { ErrorBoundary } from "../app/ErrorBoundary";
import { TextProvider } from "../i18n";
import { en } from "../i18n/en";
import { ErrorPanel } from "./ErrorPanel";
import { RolesSummary } from "./Roles";
import { HealthTag, StateTag } from "./Tags";

function inEnglish(children: ReactNode): void {
  render(<TextProvider language="en">{children}</TextProvider>);
}

// Symptom: of a job that had ended the command line said READY 0/1, and the page worker 1/1.
test("replicas that have ended well are not ready, and not missed", () => {
  const roles = [
    { role: "worker" as const, desired: 2, ready: 0, succeeded: 2, failed: 0 },
    { role: "ps" as const, desired: 2, ready: 1, succeeded: 0, failed: 0 },
  ];
  inEnglish(<RolesSummary roles={roles} />);
  const summary = screen.getByTitle("worker 0/2 (2 succeeded) · ps 1/2");
  expect(summary.textContent).toBe("ps 1/2 · worker 0/2");
  expect(screen.getByText("1/2").className).toContain("roles-short");
  expect(screen.getByText("0/2").className).not.toContain("roles-short");
});

describe("an error's panel", () => {
  const reasons = Object.keys(en.errors.title) as ErrorReason[];

  test.each(reasons)("of %s says what happened, what to do and what the server said", (reason) => {
    inEnglish(<ErrorPanel error={new ApiError(reason, "the pods of ml: quota exceeded")} />);
    const alert = screen.getByRole("alert");
    expect(alert.textContent).toContain(en.errors.title[reason]);
    expect(alert.textContent).toContain(en.errors.advice[reason]);
    expect(alert.textContent).toContain("the pods of ml: quota exceeded");
  });

  test("of a refused manifest names the fields", () => {
    const causes = [{ field: "spec.roles.worker", message: "must be at least 1" }];
    inEnglish(<ErrorPanel error={new ApiError("Invalid", "refused", { causes })} />);
    expect(screen.getByRole("listitem").textContent).toBe("spec.roles.worker: must be at least 1");
  });

  test("of a reason that this page does not know still shows what the server said", () => {
    inEnglish(<ErrorPanel error={new ApiError("Teapot" as ErrorReason, "short and stout")} />);
    expect(screen.getByRole("alert").textContent).toContain("short and stout");
  });

  test("of anything that was thrown shows its message", () => {
    inEnglish(<ErrorPanel error={new Error("out of cheese")} />);
    expect(screen.getByRole("alert").textContent).toContain("out of cheese");
  });
});

describe("health and state", () => {
  test("have different pictures and a word each", () => {
    const pictures = new Set<string>();
    for (const health of ["ok", "warning", "critical"] as const) {
      const { container, unmount } = render(
        <TextProvider language="en">
          <HealthTag health={health} />
        </TextProvider>,
      );
      expect(container.textContent).toBe(en.common.health[health]);
      pictures.add(container.querySelector("path")?.getAttribute("d") ?? "");
      unmount();
    }
    expect(pictures.size).toBe(3);
  });

  test("that are newer than this page show as the server names them", () => {
    inEnglish(
      <>
        <HealthTag health={"constructor" as "ok"} />
        <StateTag state={"Paused" as "Running"} />
      </>,
    );
    expect(screen.getByText("constructor")).toBeTruthy();
    expect(screen.getByText("Paused")).toBeTruthy();
  });

  test("of a job that is being deleted say that", () => {
    inEnglish(<StateTag state="Running" deleting />);
    expect(screen.getByText("Deleting")).toBeTruthy();
  });
});

describe("the boundary of errors", () => {
  class Broken extends Component {
    override render(): ReactNode {
      throw new Error("Failed to fetch dynamically imported module: x.js");
    }
  }

  test("shows what to do instead of a blank page, and lets the next page show", () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const at = (resetKey: string, children: ReactNode): ReactNode => (
      <TextProvider language="en">
        <ErrorBoundary resetKey={resetKey}>{children}</ErrorBoundary>
      </TextProvider>
    );
    const { rerender } = render(at("/jobs", <Broken />));
    expect(screen.getByRole("alert").textContent).toContain("could not be loaded");
    expect(screen.getByRole("button", { name: "Reload" })).toBeTruthy();
    rerender(at("/gpus", <p>fine</p>));
    expect(screen.getByText("fine")).toBeTruthy();
  });
});
