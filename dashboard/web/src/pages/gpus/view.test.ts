import { expect, test } from "vitest";
import { cellsOf } from "./cells";
import { device, holder, known, node } from "./fixture";
import type { View } from "./view";
import { group, isFiltered, PLAIN, readView, show, writeView } from "./view";

const NODES = [
  node("gpu-1", {
    holders: [
      known("mnist", ["GPU-7"]),
      holder("bert", { namespace: "nlp", owner: "grace", count: 2, idle: true }),
    ],
    devices: [device("GPU-7")],
  }),
  node("gpu-2", { product: "L4", capacity: 4, allocatable: 4 }),
  node("gpu-3", { product: "", holders: [holder("mnist", { count: 8, owner: "grace" })] }),
].map(cellsOf);

function names(view: Partial<View>, namespace = ""): string {
  const shown = show(NODES, { ...PLAIN, ...view }, namespace);
  return `${shown.nodes.map((one) => one.node.name).join(" ")}: ${shown.matching}`;
}

test.each<[string, Partial<View>, string, string]>([
  ["everything", {}, "", "gpu-1 gpu-2 gpu-3: 20"],
  ["a product", { product: ["L4"] }, "", "gpu-2: 4"],
  ["nodes without the label", { product: [""] }, "", "gpu-3: 8"],
  ["room for four", { free: 4 }, "", "gpu-1 gpu-2: 12"],
  ["room for five", { free: 5 }, "", "gpu-1: 8"],
  ["an owner", { owner: ["ada"] }, "", "gpu-1: 1"],
  ["one of two owners", { owner: ["ada", "grace"] }, "", "gpu-1 gpu-3: 11"],
  ["what does not work", { idle: true }, "", "gpu-1: 2"],
  ["a namespace", {}, "nlp", "gpu-1: 2"],
  ["a job", { job: "ml/trainingjobs/mnist" }, "", "gpu-1 gpu-3: 9"],
  ["a job that holds nothing", { job: "ml/tfjobs/mnist" }, "", ": 0"],
  ["the name of a node", { text: "gpu-2" }, "", "gpu-2: 4"],
  ["a device", { text: "gpu-7" }, "", "gpu-1: 1"],
  ["all words", { text: "  GRACE bert " }, "", "gpu-1: 2"],
  ["words of two pods", { text: "ada bert" }, "", ": 0"],
  ["an owner of a job", { owner: ["ada"], job: "ml/trainingjobs/mnist" }, "", "gpu-1: 1"],
])("shows %s", (_, view, namespace, want) => {
  expect(names(view, namespace)).toBe(want);
});

test("a view survives the way through the URL", () => {
  const view: View = {
    text: "a b&c",
    product: ["H100", ""],
    owner: ["ada,b"],
    idle: true,
    free: 3,
    job: "ml/trainingjobs/mnist",
    table: true,
    group: "free",
  };
  const search = writeView(view, new URLSearchParams("ns=ml"));
  expect(search.get("ns")).toBe("ml");
  expect(readView(new URLSearchParams(search.toString()))).toEqual(view);
  expect(writeView(PLAIN, search).toString()).toBe("ns=ml");
});

test.each([
  ["free=-1&group=x&view=y&idle=yes", PLAIN],
  ["free=1e9", { ...PLAIN, free: 1024 }],
  ["free=2.5", PLAIN],
  ["job=%E0%A4%A", { ...PLAIN, job: "�%A" }],
])("nonsense in the URL (%s) does no harm", (query, want) => {
  const view = readView(new URLSearchParams(query));
  expect({ ...view, job: "" }).toEqual({ ...want, job: "" });
});

test("a job in a link may be escaped or not", () => {
  const job = "ml/trainingjobs/a%2Bb";
  expect(readView(new URLSearchParams({ job })).job).toBe(job);
  expect(readView(new URLSearchParams({ job: "ml/trainingjobs/a+b" })).job).toBe(job);
});

test("groups are by product or by what is free", () => {
  const named = (by: View["group"]): string[] =>
    group(NODES, by).map(({ name, nodes }) => `${name}: ${nodes.length}`);
  expect(named("product")).toEqual([": 1", "H100: 1", "L4: 1"]);
  expect(named("free")).toEqual(["5: 1", "4: 1", "0: 1"]);
  expect(named("none")).toEqual([": 3"]);
});

test("the way of showing is no filter", () => {
  expect(isFiltered({ ...PLAIN, table: true, group: "none" })).toBe(false);
  expect(isFiltered({ ...PLAIN, free: 1 })).toBe(true);
  expect(isFiltered({ ...PLAIN, idle: true })).toBe(true);
});
