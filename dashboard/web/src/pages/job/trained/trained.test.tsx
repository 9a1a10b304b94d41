// What a person sees of a job's trainer: where the time goes, and where the checkpoints are.

import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test, vi } from "vitest";
import type { JobDetail, TrainingFacts } from "../../../api/types";
import { en } from "../../../i18n/en";
import type { Language } from "../../../i18n/language";
import { FakeServer, problem } from "../../../testing/fake_server";
import { renderAt } from "../../../testing/render";
import { HOSTILE, jobOf } from "../job_fixture";
import "../patience";
import { partsOf } from "./shares";

const ROUTE = "api/jobs/ml/trainingjobs/bert/training";

const RANKS: NonNullable<TrainingFacts["ranks"]> = [
  {
    replica: "chief-0",
    compute: 0.41,
    wait: 0.38,
    exchange: 0.15,
    hidden: 0.2,
    bytesPerStep: 2_120_044,
  },
  { replica: "worker-1", compute: 0.79, wait: 0.01, exchange: 0.15, hidden: 0, bytesPerStep: 12 },
];

async function show(
  facts: TrainingFacts | Response,
  more: Partial<JobDetail> = {},
  language: Language = "en",
) {
  const server = new FakeServer();
  server.on("GET", ROUTE, () => facts);
  const rendered = renderAt("/jobs/ml/trainingjobs/bert", { server, language });
  await server.send("job", { job: jobOf(more) });
  return rendered;
}

describe("the time of the ranks", () => {
  test("is a bar for each with the same in words, and names the slowest", async () => {
    const { user, router } = await show({ source: "chief-0", ranks: RANKS, slowest: "worker-1" });
    const region = await screen.findByRole("region", { name: "Where the time of a step goes" });
    expect(region.textContent).toContain("worker-1 is the slowest: the others wait for it.");
    const [chief, worker] = within(region).getAllByRole("listitem");
    expect(chief?.textContent).toContain("computes 41%");
    expect(chief?.textContent).toContain("waits for the slowest 38%");
    expect(chief?.textContent).toContain("exchanges gradients 15%");
    expect(chief?.textContent).toContain("20% of exchange beside computing");
    expect(chief?.textContent).toContain("sends 2.12 MB for each step");
    expect(chief?.textContent).not.toContain("the slowest 38%the slowest");
    expect(worker?.querySelector(".job-rank-slowest")?.textContent).toContain("the slowest");
    expect(chief?.querySelector(".job-rank-slowest")).toBeNull();
    const widths = [...(chief?.querySelectorAll<HTMLElement>(".job-rank-bar > span") ?? [])];
    expect(widths.map(({ style }) => Math.round(parseFloat(style.width)))).toEqual([41, 38, 15, 6]);
    await user.click(within(region).getByRole("button", { name: "worker-1" }));
    expect(router.state.location.search).toBe("?replica=worker-1");
  });

  test("says so where none is slower, in Chinese too", async () => {
    await show({ source: "chief-0", ranks: RANKS }, {}, "zh");
    const region = await screen.findByRole("region", { name: "每一步的时间用在哪里" });
    expect(region.textContent).toContain("没有哪个副本明显比其他的慢。");
  });

  test("is not there for other strategies", async () => {
    await show({ source: "chief-0", checkpoints: { dir: "/out", newest: [], from: "trainer" } });
    expect(await screen.findByText("None has been saved yet.")).toBeTruthy();
    expect(screen.queryByText(en.job.trained.ranks)).toBeNull();
  });

  test("is not there of a job of which no replica runs any more", async () => {
    const checkpoints = { dir: "/out", newest: [], from: "trainer" as const };
    const { server } = await show({ source: "chief-0", ranks: RANKS, checkpoints });
    expect(await screen.findByText(en.job.trained.ranks)).toBeTruthy();
    await server.send("job", { job: jobOf({ replicas: [], state: "Succeeded" }) });
    await waitFor(() => expect(screen.queryByText(en.job.trained.ranks)).toBeNull());
  });

  test("shows nothing, and no error, where the server has no such facts", async () => {
    const { server } = await show(problem(404, "NotFound", "no such route"));
    expect(await screen.findByRole("region", { name: "How the job is" })).toBeTruthy();
    await server.send("job", { job: jobOf({ message: "goes on" }) });
    expect(await screen.findByText("goes on")).toBeTruthy();
    expect(screen.queryByText(en.job.trained.checkpoints)).toBeNull();
    expect(screen.queryByRole("alert")).toBeNull();
  });

  test("of shares that are more than all the bar is full and no longer", () => {
    const rank = { ...RANKS[0]!, compute: 0.9, wait: 7, exchange: -3 };
    const parts = partsOf(rank, en.job.trained).map(({ percent }) => Math.round(percent));
    expect(parts).toEqual([47, 53, 0, 0]);
  });
});

describe("the checkpoints", () => {
  const newest = [
    { step: 2000, bytes: 3_183_212, savedAt: "2026-11-20T11:00:00Z" },
    { step: 1000 },
  ];

  test("are listed with step, size and age, the newest first, and where they are", async () => {
    await show(
      { checkpoints: { dir: "/out/ckpt", claim: "bert-out", newest, from: "trainer" } },
      { state: "Succeeded", finished: "2026-11-20T12:00:05Z" },
    );
    const region = await screen.findByRole("region", { name: "Checkpoints" });
    expect(region.textContent).toContain("/out/ckpt on claim bert-out");
    const rows = within(region).getAllByRole("row").slice(1);
    const cells = (row: HTMLElement) =>
      within(row).getAllByRole("cell").map(({ textContent }) => textContent);
    expect(cells(rows[0]!).slice(0, 2)).toEqual(["2,000", "3.18 MB"]);
    expect(rows[0]?.querySelector("time")?.dateTime).toBe("2026-11-20T11:00:00Z");
    expect(cells(rows[1]!)).toEqual(["1,000", "—", "—"]);
    // Symptom: the command to copy lacked the flags without which it does nothing.
    // And it made a lone file, which transformers cannot read.
    expect(region.textContent).toMatch(
      /taas export bert -n ml --format safetensors --to \/out\/ckpt\/export(?![\w./])/,
    );
    expect(within(region).getByRole("button", { name: "Copy the command" })).toBeTruthy();
    expect(region.textContent).not.toContain("On this machine");
  });

  test("of the local cluster have the folder of this machine", async () => {
    await show({
      checkpoints: { dir: "/out", claim: "c", newest, from: "folder", folder: "/home/me/taas/c" },
    });
    const region = await screen.findByRole("region", { name: "Checkpoints" });
    expect(region.textContent).toContain("On this machine: /home/me/taas/c");
    expect(within(region).getByRole("button", { name: "Copy the folder" })).toBeTruthy();
  });

  test("on no volume end with the pod, and there is nothing to export", async () => {
    await show({ checkpoints: { dir: HOSTILE, newest, from: "trainer" } });
    const region = await screen.findByRole("region", { name: "Checkpoints" });
    expect(region.textContent).toContain("on no volume that stays: they end with the pod");
    expect(region.textContent).not.toContain("taas export");
    expect(region.querySelector("img")).toBeNull();
  });

  test("say who knows of them where it is not the trainer", async () => {
    await show({ checkpoints: { dir: "/out", claim: "c", newest: [] } });
    expect(await screen.findByText(en.job.trained.unknown)).toBeTruthy();
  });

  test("that the history has are as they were last seen", async () => {
    await show({ checkpoints: { dir: "/out", claim: "c", newest, from: "history" } });
    expect(await screen.findByText("As they were last seen.")).toBeTruthy();
  });

  test("of which only the job's success is known say so", async () => {
    await show({ checkpoints: { dir: "/out", claim: "c", newest, from: "status" } });
    expect(await screen.findByText(en.job.trained.byStatus)).toBeTruthy();
  });
});

describe("the model of a job that is over", () => {
  const MODEL = "api/jobs/ml/trainingjobs/bert/model";
  const model = { file: "bert.tar", kind: "savedModel" as const, bytes: 5 };
  const over = { state: "Succeeded" as const, finished: "2026-11-20T12:00:05Z" };

  function catchFiles() {
    const files: { name: string; blob: Blob }[] = [];
    const blobs: Blob[] = [];
    class FakeUrl extends URL {
      static override createObjectURL = (blob: Blob): string => (blobs.push(blob), "blob:x");
      static override revokeObjectURL = (): void => undefined;
    }
    vi.stubGlobal("URL", FakeUrl);
    vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (
      this: HTMLAnchorElement,
    ) {
      files.push({ name: this.download, blob: blobs.at(-1)! });
    });
    return files;
  }

  test("is downloaded as a file, and not kept where it broke off", async () => {
    const files = catchFiles();
    const { server, user } = await show({ model }, over);
    const region = await screen.findByRole("region", { name: "The trained model" });
    expect(region.textContent).toContain("a SavedModel for TensorFlow, as a tar");
    server.on("GET", MODEL, () => new Response("12345"));
    const button = within(region).getByRole("button", { name: /Download the model/ });
    await user.click(button);
    await waitFor(() => expect(files.length).toBe(1));
    expect(files[0]?.name).toBe("bert.tar");
    expect(await files[0]?.blob.text()).toBe("12345");
    server.on("GET", MODEL, () => new Response("123"));
    await user.click(button);
    expect(await screen.findByText(/broke off at 3 B of 5 B/)).toBeTruthy();
    server.on("GET", MODEL, () => problem(409, "Conflict", "the job goes on"));
    await user.click(button);
    expect(await screen.findByText(/the job goes on/)).toBeTruthy();
    expect(files.length).toBe(1);
  });

  test("is not there of one that goes on, nor where nobody sees it; in Chinese too", async () => {
    const { server } = await show({ model }, {}, "zh");
    expect(await screen.findByRole("heading", { name: "bert" })).toBeTruthy();
    expect(screen.queryByText("训练好的模型")).toBeNull();
    await server.send("job", { job: jobOf(over) });
    expect(await screen.findByRole("region", { name: "训练好的模型" })).toBeTruthy();
  });
});
