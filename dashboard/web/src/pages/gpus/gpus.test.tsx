import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { GpuMap } from "../../api/types";
import { FakeServer, session } from "../../testing/fake_server";
import type { Rendered } from "../../testing/render";
import { renderAt } from "../../testing/render";
import { row } from "../../testing/rows";
import { device, gpuMap, holder, known, node } from "./fixture";
// Loaded with the test: the page's route would load it while the first test waits.
import "./index";

const MAP = gpuMap(
  [
    node("gpu-1", {
      memoryMiB: 81_559,
      holders: [
        known("mnist", ["GPU-1"], { count: 2 }),
        holder("bert", { owner: "grace", idle: true, idleReason: "JobSuspended" }),
      ],
      devices: [device("GPU-1", { utilization: 0.41, memoryUsedMiB: 1024 })],
      hidden: 1,
    }),
    node("gpu-2", { product: "L4", capacity: 2, allocatable: 2, schedulable: false }),
  ],
  {
    pending: [holder("late", { state: "Pending", count: 4 })],
    hiddenPending: 3,
  },
);

async function show(path: string, map: GpuMap = MAP, language?: "zh"): Promise<Rendered> {
  const server = new FakeServer();
  const rendered = renderAt(path, { server, ...(language ? { language } : {}) });
  await screen.findByRole("heading", { level: 1 });
  await waitFor(() => expect(server.streams.at(-1)?.query.get("gpus")).toBe("1"));
  await act(() => server.send("gpus", map));
  return rendered;
}

const squares = (): HTMLElement[] => screen.queryAllByRole("gridcell");
const labels = (): (string | null)[] => squares().map((one) => one.getAttribute("aria-label"));

test("each GPU says who holds it, how busy it is, and where that is known from", async () => {
  await show("/gpus");
  expect(labels()).toEqual([
    "gpu-1, GPU GPU-1; held; ml/mnist worker-0; ada; used 41%",
    "gpu-1, a GPU, device unknown; held; ml/mnist worker-0; ada; not measured; " +
      "count only: nobody says which device",
    "gpu-1, a GPU, device unknown; held; ml/bert worker-0; grace; " +
      "holds GPUs though its job is suspended; not measured; count only: nobody says which device",
    "gpu-1, GPU (4 of this node); held by a pod that you may not see",
    ...[5, 6, 7, 8].map((at) => `gpu-1, GPU (${at} of this node); free`),
    "gpu-2, GPU (1 of this node); free",
    "gpu-2, GPU (2 of this node); free",
  ]);
  expect(screen.getByRole("rowheader", { name: "gpu-1: 4 of 8 held, 4 free" })).toBeDefined();
  expect(screen.getByText("cordoned")).toBeDefined();
});

test("allocated and used stand apart, and what nobody measures is no zero", async () => {
  const { server } = await show("/gpus");
  const summary = screen.getByRole("region", { name: "All GPUs of the cluster" });
  expect(summary.textContent).toContain("40%Allocated4 of 10");
  expect(summary.textContent).toContain("41%Usedaverage of 1 device");
  expect(summary.textContent).toContain("6Free4 on nodes that take pods");
  expect(summary.textContent).toContain("1Held, not working");
  expect(summary.textContent).toContain("7Pending requestsby 1 pod without a node");
  await act(() => server.send("gpus", gpuMap([node("gpu-1", { holders: [holder("a")] })])));
  expect(summary.textContent).toContain("—Usednot measured");
  expect(summary.textContent).not.toMatch(/\b0%Used/);
});

test("the map follows the cluster", async () => {
  const { server } = await show("/gpus", gpuMap([node("gpu-1", { capacity: 1, allocatable: 1 })]));
  expect(labels()).toEqual(["gpu-1, GPU (1 of this node); free"]);
  const held = node("gpu-1", { capacity: 1, allocatable: 1, holders: [holder("a")] });
  await act(() => server.send("gpus", gpuMap([held])));
  expect(labels()[0]).toContain("ml/a worker-0");
});

test("a link from a job shows its GPUs alone, and leads back", async () => {
  const { user } = await show("/gpus?job=ml/trainingjobs/mnist");
  expect(screen.getByRole("alert").textContent).toContain("Held by ml/mnist");
  expect(screen.getByText("2 GPUs match on 1 node")).toBeDefined();
  const dimmed = squares().filter((one) => one.classList.contains("gpus-dimmed"));
  expect(squares().length - dimmed.length).toBe(2);
  const link = screen.getByRole("link", { name: "mnist" });
  expect(link.getAttribute("href")).toBe("/jobs/ml/trainingjobs/mnist");
  await user.click(screen.getByRole("button", { name: "Show all GPUs" }));
  expect(squares()).toHaveLength(10);
});

test("a job that holds nothing says so", async () => {
  await show("/gpus?job=ml/trainingjobs/other");
  expect(screen.getByRole("alert").textContent).toContain("ml/other holds no GPU");
  expect(squares()).toHaveLength(0);
});

test("the keyboard moves over squares, filters by their job and opens it", async () => {
  const { user, router } = await show("/gpus");
  const [first] = squares();
  act(() => first?.focus());
  await user.keyboard("{ArrowRight}{ArrowRight}");
  expect(document.activeElement?.getAttribute("aria-label")).toMatch(/ml\/bert/);
  expect(squares().filter((one) => one.tabIndex === 0)).toHaveLength(1);
  await user.keyboard(" ");
  expect(router.state.location.search).toBe("?job=ml%2Ftrainingjobs%2Fbert");
  await user.keyboard("{Enter}");
  expect(router.state.location.pathname).toBe("/jobs/ml/trainingjobs/bert");
});

test("a click opens the job, a touch shows its card with a link", async () => {
  const { user, router } = await show("/gpus");
  const [first] = squares();
  if (!first) throw new Error("no square");
  fireEvent(first, new PointerEvent("click", { bubbles: true, pointerType: "touch" }));
  expect(router.state.location.pathname).toBe("/gpus");
  expect(screen.getByRole("link", { name: "ml/mnist" })).toBeDefined();
  await user.click(first);
  expect(router.state.location.pathname).toBe("/jobs/ml/trainingjobs/mnist");
});

test("the card leads to pod, job and owner, and Escape closes it", async () => {
  const { user } = await show("/gpus");
  const [first] = squares();
  if (!first) throw new Error("no square");
  await user.hover(first);
  const link = screen.getByRole("link", { name: "ml/mnist" });
  const card = link.closest<HTMLElement>(".gpus-card");
  if (!card) throw new Error("no card");
  for (const fact of ["ml/mnist-worker-0", "ada", "device known from the kubelet", "41%"]) {
    expect(within(card).getByText(fact, { exact: false })).toBeDefined();
  }
  expect(card.textContent).toContain("Memory1 GiB of 79.6 GiB");
  expect(card.textContent).toContain("of 2 GPUs of this pod");
  await user.click(within(card).getByRole("button", { name: "All GPUs of this job" }));
  expect(screen.getByRole("alert").textContent).toContain("Held by ml/mnist");
  act(() => squares()[0]?.focus());
  await user.keyboard("{Escape}");
  expect(document.querySelector(".gpus-card")).toBeNull();
});

test("the card says how well a device is, and nothing of what nobody measures", async () => {
  const well = device("GPU-1", {
    powerWatts: 412.5,
    powerLimitWatts: 700,
    temperatureC: 64,
    throttle: ["PowerCap", "Heat"],
    eccUncorrected: 2,
  });
  const map = gpuMap([
    node("n1", { holders: [known("mnist", ["GPU-1", "GPU-2"])], devices: [well, device("GPU-2")] }),
  ]);
  const { user } = await show("/gpus", map);
  const [first, second] = squares();
  if (!first || !second) throw new Error("no squares");
  const troubles = "memory errors: 2; slowed down by its power limit, heat";
  expect(first.getAttribute("aria-label")).toContain(troubles);
  expect(second.getAttribute("aria-label")).not.toMatch(/memory errors|slowed/);
  await user.hover(first);
  const cardOf = (): string => document.querySelector(".gpus-card")?.textContent ?? "";
  expect(cardOf()).toContain("Power413 W of 700 W");
  expect(cardOf()).toContain("Temperature64 °C");
  expect(cardOf()).toContain("Slowed down byits power limit, heat");
  expect(cardOf()).toContain("memory errors: 2. They could not be corrected");
  await user.hover(second);
  await waitFor(() => expect(cardOf()).toContain("GPU-2"));
  expect(cardOf()).not.toMatch(/Power|Temperature|Slowed|memory errors/);
});

test("what is wrong with a device is said in Chinese, too", async () => {
  const ill = device("GPU-1", { throttle: ["Heat"], eccUncorrected: 2 });
  const map = gpuMap([node("n1", { holders: [known("mnist", ["GPU-1"])], devices: [ill] })]);
  await show("/gpus", map, "zh");
  expect(labels()[0]).toContain("显存错误：2 个; 因温度过高而降频");
});

test("the table says what is wrong with a device", async () => {
  const map = gpuMap([
    node("n1", {
      holders: [known("mnist", ["GPU-1", "GPU-2"])],
      devices: [
        device("GPU-1", { throttle: ["HardwareHeat"], eccUncorrected: 0 }),
        device("GPU-2", { throttle: [], eccUncorrected: 0 }),
      ],
    }),
  ]);
  await show("/gpus?view=table", map);
  const lines = screen.getAllByRole("row").map((line) => line.textContent ?? "");
  expect(lines.find((line) => line.includes("GPU-1"))).toContain(
    "healthy · slowed down by heat (its hardware)",
  );
  expect(lines.find((line) => line.includes("GPU-2"))).not.toContain("·");
});

test("a device that two pods claim names both and says that one is old", async () => {
  const { user } = await show(
    "/gpus",
    gpuMap([
      node("gpu-1", {
        holders: [known("old", ["x"]), known("new", ["x"])],
        devices: [device("x", { claims: 2 })],
      }),
    ]),
  );
  const [first] = squares();
  if (!first) throw new Error("no square");
  expect(first.getAttribute("aria-label")).toMatch(/ml\/old .*ml\/new .*2 pods claim this device/);
  await user.hover(first);
  expect(screen.getByRole("link", { name: "ml/old" })).toBeDefined();
  expect(screen.getByRole("link", { name: "ml/new" })).toBeDefined();
});

test("the table has the same facts, sorted by any column", async () => {
  const { user } = await show("/gpus?view=table");
  const table = screen.getByRole("table");
  const lines = (): string[] =>
    within(table)
      .getAllByRole("row")
      .slice(1)
      .map((line) => line.textContent);
  expect(lines()).toHaveLength(10);
  expect(lines()[0]).toMatch(/^gpu-1GPU-1H100heldml\/mnistworker-0ada41%1 GiBhealthykubelet/);
  expect(lines()[1]).toMatch(/^gpu-1count onlyH100held.*worker-0adanot measured——count only/);
  expect(lines()[2]).toContain("not working");
  expect(lines()[3]).toContain("held by a pod that you may not see");
  await user.click(within(table).getByRole("button", { name: "Owner" }));
  await user.click(within(table).getByRole("button", { name: "Owner" }));
  expect(lines()[0]).toContain("grace");
  const head = within(table).getByRole("columnheader", { name: "Owner" });
  expect(head.getAttribute("aria-sort")).toBe("descending");
});

test("filters narrow the map and stay in the URL", async () => {
  const { user, router } = await show("/gpus?ns=ml");
  expect(screen.getByText("3 GPUs match on 1 node")).toBeDefined();
  await user.click(screen.getByRole("button", { name: /Held, not working/ }));
  expect(screen.getByText("1 GPU matches on 1 node")).toBeDefined();
  expect(router.state.location.search).toBe("?ns=ml&idle=1");
  await user.type(screen.getByRole("searchbox"), "nothing like that");
  await waitFor(() => expect(router.state.location.search).toContain("q=nothing+like+that"));
  expect(await screen.findByText("Nothing matches the filter.")).toBeDefined();
  await user.click(screen.getByRole("button", { name: "Clear the filter" }));
  expect(router.state.location.search).toBe("?ns=ml");
});

test("a link opens the finder on what it asks for", async () => {
  await show("/gpus?find=3x4", gpuMap([node("a")]));
  const finder = screen.getByRole("region", { name: "Where is room?" });
  expect(finder.textContent).toContain("room for 2 of 3 workers now");
});

test("the finder says where there is room, and else when", async () => {
  const nodes = [
    node("a", { holders: [holder("mnist", { count: 6 })] }),
    node("b", { holders: [holder("bert", { count: 8, idle: true })] }),
  ];
  const { user, server } = await show("/gpus", gpuMap(nodes));
  await user.click(screen.getByRole("button", { name: "Find free GPUs" }));
  await waitFor(() => expect(server.streams.at(-1)?.query.get("jobs")).toBe("1"));
  const progress = {
    step: 1,
    maxSteps: 2,
    percent: 50,
    examplesPerSecond: 1,
    etaSeconds: 5400,
  };
  const rows = [row("mnist", { progress })];
  await act(() => server.send("jobs", { full: true, rows, gone: [] }));
  const finder = screen.getByRole("region", { name: "Where is room?" });
  expect(finder.textContent).toContain("room for 2 of 4 workers now");
  expect(finder.textContent).toContain("Expected in 1h 30m, when these jobs end: ml/mnist");
  expect(finder.textContent).toContain("It would fit now if the GPUs that are held");
  const workers = within(finder).getByRole("spinbutton", { name: "Workers" });
  await user.clear(workers);
  await user.type(workers, "2");
  expect(finder.textContent).toContain("room for 2 workers now");
  expect(finder.textContent).toContain("a × 2");
  const each = within(finder).getByRole("spinbutton", { name: "GPUs each" });
  await user.clear(each);
  await user.type(each, "16");
  expect(finder.textContent).toContain("Never: no node of this product has more than 8 GPUs.");
});

test("who may not list nodes sees her own pods and learns nothing of what is free", async () => {
  const mine = node("gpu-1", { holders: [known("mnist", ["x"])], product: "" });
  delete mine.capacity;
  delete mine.allocatable;
  await show("/gpus", gpuMap([mine], { nodesVisible: false }));
  expect(screen.getByText(/You may not list nodes/)).toBeDefined();
  expect(labels()).toHaveLength(1);
  expect(screen.getByText("1 held")).toBeDefined();
  expect(screen.queryByText("Free")).toBeNull();
  expect(screen.queryByText("Allocated")).toBeNull();
  expect(screen.queryByRole("button", { name: "Find free GPUs" })).toBeNull();
});

test("pods that wait are listed with their jobs", async () => {
  await show("/gpus");
  const waiting = screen.getByRole("region", { name: "Pods that wait for GPUs" });
  expect(waiting.textContent).toContain("4 GPUsml/late-worker-0ml/late");
  const pod = within(waiting).getByRole("link", { name: "ml/late-worker-0" });
  expect(pod.getAttribute("href")).toBe("/jobs/ml/trainingjobs/late?replica=worker-0");
  expect(waiting.textContent).toContain("3 GPUs more, for pods that you may not see");
  const link = within(waiting).getByRole("link", { name: /Queues/ });
  expect(link.getAttribute("href")).toBe("/queues");
});

test("an empty cluster says what GPUs would be", async () => {
  await show("/gpus", gpuMap([]));
  expect(screen.getByText("No node has GPUs, and no pod asks for any.")).toBeDefined();
  expect(screen.getByText(/nvidia\.com\/gpu/)).toBeDefined();
});

test("simulated devices are called that", async () => {
  await show("/gpus", gpuMap([node("local-1", { product: "simulated", simulated: true })]));
  expect(screen.getAllByText("simulated").length).toBeGreaterThan(0);
});

test("simulated devices are called that in Chinese, too, and once in a line", async () => {
  const local = node("local-1", { product: "simulated", simulated: true, capacity: 1 });
  const map = gpuMap([{ ...local, allocatable: 1 }]);
  const { user } = await show("/gpus?view=table", map, "zh");
  const table = screen.getByRole("table");
  expect(within(table).getAllByText("模拟")).toHaveLength(1);
  await user.click(screen.getByRole("button", { name: "查找空闲 GPU" }));
  expect(screen.getByRole("region", { name: "哪里有空位？" }).textContent).toContain("模拟");
  expect(document.body.textContent).not.toContain("simulated");
});

test("the largest free block is told in words", async () => {
  const { container } = await show("/gpus", gpuMap([node("a"), node("b")]), "zh");
  const figure = screen.getByText("单节点最多空闲").closest(".gpus-figure");
  expect(figure?.textContent).toBe("8单节点最多空闲2 个节点各有 8 块空闲");
  expect(container.textContent).not.toContain("8×2");
});

test("names of 10 kB with marks of direction and tags stay texts", async () => {
  const evil = "\u202e<b>".repeat(2500);
  const held = known(evil, [evil], { pod: evil, owner: evil });
  const { user } = await show(
    "/gpus",
    gpuMap(
      [node(evil, { capacity: 1, product: evil, holders: [held], devices: [device(evil)] })],
      { pending: [holder(evil)] },
    ),
  );
  expect(squares()).toHaveLength(1);
  await user.click(screen.getByText("Table"));
  expect(screen.getAllByRole("row")).toHaveLength(2);
  expect(document.querySelector("main b b")).toBeNull();
});

test("nonsense numbers and times do not break the page", async () => {
  const held = known("a", ["x"], { count: 1e9, since: "never" });
  const measured = device("x", { utilization: 7, memoryUsedMiB: -1 });
  await show(
    "/gpus",
    gpuMap([
      node("n", {
        capacity: 2e9,
        allocatable: -4,
        hidden: -1,
        holders: [held],
        devices: [measured],
      }),
    ]),
  );
  expect(squares()).toHaveLength(64);
  expect(screen.getByText("+960")).toBeDefined();
});

test("a thousand nodes keep only what is in sight in the document", async () => {
  const nodes = Array.from({ length: 1000 }, (_, i) =>
    node(`gpu-${i}`, { holders: [holder(`job-${i}`, { count: 8 })] }),
  );
  await show("/gpus", gpuMap(nodes));
  expect(squares().length).toBeGreaterThan(100);
  expect(squares().length).toBeLessThan(1000);
});

test("in Chinese allocated and used have the words that people know", async () => {
  await show("/gpus", MAP, "zh");
  const summary = screen.getByRole("region", { name: "集群全部 GPU" });
  expect(summary.textContent).toContain("40%分配率4 / 10");
  expect(summary.textContent).toContain("41%利用率1 块设备的平均值");
  expect(labels()[0]).toBe("gpu-1, GPU GPU-1; 已占用; ml/mnist worker-0; ada; 利用率 41%");
});

test("the name of the resource is the session's", async () => {
  const server = new FakeServer(session({ gpuResource: "amd.com/gpu" }));
  renderAt("/gpus", { server });
  await waitFor(() => expect(server.streams.at(-1)?.query.get("gpus")).toBe("1"));
  await act(() => server.send("gpus", gpuMap([])));
  expect(screen.getByText(/amd\.com\/gpu/)).toBeDefined();
});
