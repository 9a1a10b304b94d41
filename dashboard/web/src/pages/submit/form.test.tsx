import { act, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, test } from "vitest";
import { gpuMap, node } from "../gpus/fixture";
import EXAMPLES from "./templates/examples.json";
import {
  accepted,
  acceptingServer,
  openSubmit,
  posts,
  stubLayout,
  typeYaml,
  yaml,
} from "./testing";

beforeEach(() => {
  sessionStorage.clear();
  stubLayout();
});

const ADDED = "  namespace: ml\n  annotations: {taas.dev/owner: ada}\n";
const FIRST = EXAMPLES.mnist
  .replace("  name: mnist\n", `  name: mnist\n${ADDED}`)
  .replace("dir: /out/checkpoints}", "dir: /out/checkpoints/mnist}");

function field(name: string): HTMLInputElement {
  return screen.getByRole("textbox", { name });
}

describe("the form", () => {
  test("begins with the MNIST example, with which the server is asked", async () => {
    const server = acceptingServer();
    await openSubmit(server);
    expect(yaml()).toBe(FIRST);
    expect(field("Name")).toHaveProperty("value", "mnist");
    await accepted();
    expect(posts(server)).toHaveLength(1);
    expect(posts(server)[0]?.body).toBe(FIRST);
    expect(posts(server)[0]?.query.get("dryRun")).toBe("true");
    expect(posts(server)[0]?.query.get("namespace")).toBe("ml");
  });

  test("changes one value of the text, and no other byte", async () => {
    const { user } = await openSubmit(acceptingServer());
    await user.clear(field("Name"));
    await user.type(field("Name"), "first");
    const named = FIRST.replace("name: mnist\n", "name: first\n");
    expect(yaml()).toBe(named.replace("/out/checkpoints/mnist", "/out/checkpoints/first"));
    const workers = screen.getByRole("spinbutton", { name: "Workers" });
    await user.clear(workers);
    await user.type(workers, "5");
    expect(yaml()).toContain("    worker: {replicas: 5}\n");
    await user.click(screen.getByRole("switch", { name: "Use GPUs" }));
    expect(yaml()).toContain("    worker: {replicas: 5, gpus: 1}\n");
    expect(screen.getByText(/8 pods, 5 GPUs/)).toBeTruthy();
    await user.click(screen.getByRole("switch", { name: "Use GPUs" }));
    expect(yaml()).toContain("    worker: {replicas: 5}\n");
  });

  // Symptom: of the small GPT-2 the form had no file, no size and no context, and its hint of data
  // was "taas data fetch mnist" for a text.
  test("has a text's files and a transformer's sizes, and says how to get a text", async () => {
    const { user } = await openSubmit(acceptingServer({ local: true }));
    act(() => typeYaml(EXAMPLES.gpt2));
    const context = await screen.findByRole("spinbutton", { name: "Context" });
    const sizes = ["Blocks", "Heads of attention", "Width"].map((name) =>
      screen.getByRole("spinbutton", { name }),
    );
    expect([...sizes, context].map((one) => (one as HTMLInputElement).value)).toEqual([
      ...["2", "4", "64", "64"],
    ]);
    expect(field("Test files").value).toBe("/data/test.txt");
    await user.type(field("Training files"), ", /data/more.txt");
    expect(yaml()).toContain("train: {files: [/data/train.txt, /data/more.txt]}");
    screen.getByText(/“taas data fetch text PATH” gets data/);
    expect(screen.queryByText(/fetch mnist/)).toBeNull();
    act(() => typeYaml(EXAMPLES.mnist));
    await screen.findByText(/“taas data fetch mnist PATH” gets data/);
    expect(screen.queryByRole("spinbutton", { name: "Width" })).toBeNull();
  });

  test("says how long a model trains, and lets one change it", async () => {
    const { user } = await openSubmit(acceptingServer());
    expect(screen.getByText("Trains for 2,000 steps.")).toBeTruthy();
    expect(screen.queryByRole("spinbutton", { name: "Steps" })).toBeNull();
    await user.click(screen.getByRole("button", { name: "Change the steps" }));
    const steps = screen.getByRole("spinbutton", { name: "Steps" });
    expect(document.activeElement).toBe(steps);
    await user.clear(steps);
    await user.type(steps, "30000");
    expect(yaml()).toBe(FIRST.replace("maxSteps: 2000", "maxSteps: 30000"));
  });

  test("says where a job goes on from, and offers a directory of its own", async () => {
    const { user } = await openSubmit(acceptingServer());
    expect(screen.getByText(/^Checkpoints go to \/out\/checkpoints\/mnist\./)).toBeTruthy();
    const own = { name: "Use a directory of its own" };
    expect(screen.queryByRole("button", own)).toBeNull();
    act(() => typeYaml(FIRST.replace("/out/checkpoints/mnist", "/out/shared")));
    await user.click(await screen.findByRole("button", own));
    expect(yaml()).toBe(FIRST.replace("/out/checkpoints/mnist", "/out/shared/mnist"));
  });

  test("warns of more GPUs than any node has, as far as nodes may be seen", async () => {
    const server = acceptingServer();
    server.on("GET", "api/gpus", () => gpuMap([node("a", { allocatable: 2 }), node("b")]));
    const { user } = await openSubmit(server);
    await user.click(screen.getByRole("switch", { name: "Use GPUs" }));
    const gpus = screen.getByRole("spinbutton", { name: "GPUs per worker" });
    await user.clear(gpus);
    await user.type(gpus, "8");
    await screen.findByText("worker 2", { exact: false });
    expect(screen.queryByText(/largest node/)).toBeNull();
    await user.clear(gpus);
    await user.type(gpus, "9");
    await screen.findByText(/^The largest node has 8 GPUs/);
  });

  test("warns of more GPUs in all than the nodes have together", async () => {
    const server = acceptingServer();
    server.on("GET", "api/gpus", () => gpuMap([node("a", { allocatable: 4 }), node("b")]));
    const { user } = await openSubmit(server);
    await user.click(screen.getByRole("switch", { name: "Use GPUs" }));
    const gpus = screen.getByRole("spinbutton", { name: "GPUs per worker" });
    await user.clear(gpus);
    await user.type(gpus, "6");
    await screen.findByText(/12 GPUs/);
    expect(screen.queryByText(/^The nodes have/)).toBeNull();
    await user.clear(gpus);
    await user.type(gpus, "7");
    await screen.findByText(
      "The nodes have 12 GPUs in all and this job asks for 14: its pods can never run at once.",
    );
    expect(screen.queryByText(/largest node/)).toBeNull();
  });

  test("does not judge nodes that the user may not see", async () => {
    const server = acceptingServer();
    server.on("GET", "api/gpus", () => gpuMap([], { nodesVisible: false }));
    const { user } = await openSubmit(server);
    await user.click(screen.getByRole("switch", { name: "Use GPUs" }));
    await waitFor(() => expect(server.asked.some(({ path }) => path === "api/gpus")).toBe(true));
    await accepted();
    expect(screen.queryByText(/No node of this cluster/)).toBeNull();
  });

  test("has the steps open where they are wrong", async () => {
    await openSubmit(acceptingServer());
    act(() => typeYaml(FIRST.replace("    maxSteps: 2000\n", "")));
    await screen.findByRole("spinbutton", { name: "Steps" });
  });

  test("starts an image of one's own in workers alone, with an example of a script", async () => {
    const server = acceptingServer();
    const { user } = await openSubmit(server);
    await user.click(screen.getByText("My own image"));
    const command = await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Command" });
    expect(screen.getByText("worker 1")).toBeTruthy();
    expect(screen.getByText("1 pod, no GPUs")).toBeTruthy();
    expect(yaml()).not.toContain("ps:");
    expect(command.placeholder).toBe("e.g. sh\n-c");
    const args = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Arguments" });
    expect(args.placeholder).toMatch(/^e\.g\. cd .* && python /);
    await accepted();
    expect(posts(server).at(-1)?.body).toBe(yaml());
  });

  test("follows the text", async () => {
    await openSubmit(acceptingServer());
    act(() => typeYaml(FIRST.replace("name: mnist\n", "name: other\n")));
    expect(field("Name").value).toBe("other");
    expect(field("Training images").value).toBe("/data/train-images.gz");
  });

  test("keeps its last state while the text cannot be read, and says where that is", async () => {
    const server = acceptingServer();
    await openSubmit(server);
    await accepted();
    act(() => typeYaml(FIRST.replace("[500]", "[500")));
    expect(field("Name").value).toBe("mnist");
    await waitFor(() => expect(field("Name").disabled).toBe(true));
    expect(screen.getByText("The YAML cannot be read")).toBeTruthy();
    const problem = await screen.findAllByRole("button", { name: /\(line 13\)/ });
    expect(problem.length).toBeGreaterThan(0);
    expect(screen.getByRole("button", { name: "Submit" })).toHaveProperty("disabled", true);
    act(() => typeYaml(FIRST));
    expect(field("Name").disabled).toBe(false);
    await accepted();
  });

  test("takes a list of numbers as it is typed", async () => {
    const { user } = await openSubmit(acceptingServer());
    const hidden = field("Hidden layers");
    await user.clear(hidden);
    await user.type(hidden, "300，100,");
    expect(hidden.value).toBe("300，100,");
    expect(yaml()).toContain("hidden: [300, 100]}");
    await user.type(hidden, "x");
    expect(screen.getByText("Whole numbers with commas between them.")).toBeTruthy();
    expect(yaml()).toContain("hidden: [300, 100]}");
    await user.tab();
    expect(hidden.value).toBe("300, 100");
  });

  test("has all roles under advanced, and a role that is taken away comes back", async () => {
    const { user } = await openSubmit(acceptingServer());
    await user.click(screen.getByRole("tab", { name: "Advanced" }));
    const evaluator = await screen.findByRole("region", { name: "evaluator" });
    expect(within(evaluator).queryByRole("spinbutton")).toBe(null);
    await user.click(within(evaluator).getByRole("switch"));
    expect(yaml()).toContain("    evaluator: {replicas: 1}\n");
    const worker = screen.getByRole("region", { name: "worker" });
    await user.type(within(worker).getByRole("textbox", { name: "Memory limit" }), "8Gi");
    expect(yaml()).toContain("memory: 8Gi");
    await user.type(within(worker).getByLabelText("Environment: name of the new one"), "A");
    await user.type(within(worker).getByLabelText("Environment: value of the new one"), "1{Enter}");
    expect(yaml()).toContain('env: [{name: A, value: "1"}]');
    await user.click(within(worker).getByRole("button", { name: "Remove A" }));
    expect(yaml()).not.toContain("env");
    await user.click(within(evaluator).getByRole("switch"));
    expect(yaml()).not.toContain("evaluator");
  });

  test("lets the workers of an all-reduce be elastic, and no others", async () => {
    const { user } = await openSubmit(acceptingServer());
    await user.click(screen.getByRole("tab", { name: "Advanced" }));
    const worker = await screen.findByRole("region", { name: "worker" });
    expect(within(worker).queryByRole("switch", { name: "Elastic" })).toBe(null);
    act(() => typeYaml(EXAMPLES["all-reduce"]));
    await user.click(await within(worker).findByRole("switch", { name: "Elastic" }));
    expect(yaml()).toContain("worker: {replicas: 2, elastic: {minReplicas: 1, maxReplicas: 2}}");
    const most = within(worker).getByRole("spinbutton", { name: "At most" });
    await user.clear(most);
    await user.type(most, "8");
    expect(yaml()).toContain("elastic: {minReplicas: 1, maxReplicas: 8}");
    await user.click(screen.getByRole("button", { name: /^Training/ }));
    await user.type(await screen.findByRole("spinbutton", { name: "Heartbeat (s)" }), "30");
    expect(yaml()).toContain("strategy: {type: AllReduce, heartbeatSeconds: 30}");
    await user.click(screen.getByRole("combobox", { name: "Gradients between replicas" }));
    await user.click(await screen.findByTitle("bfloat16"));
    expect(yaml()).toContain(
      "strategy: {type: AllReduce, heartbeatSeconds: 30, gradientPrecision: bfloat16}",
    );
    await user.click(within(worker).getByRole("switch", { name: "Elastic" }));
    expect(yaml()).not.toContain("elastic");
  });

  test("shows a program of one's own, and changes it in all roles", async () => {
    const { user } = await openSubmit(acceptingServer());
    act(() => typeYaml(EXAMPLES["own-image"]));
    const image = await screen.findByRole("textbox", { name: "Image" });
    await user.clear(image);
    await user.type(image, "me/train:1");
    expect(yaml()).toBe(EXAMPLES["own-image"].replace("busybox:1.37", "me/train:1"));
    await user.type(screen.getByRole("textbox", { name: "Command" }), "{Enter}-x");
    expect(yaml()).toContain("command: [sh, -c, -x]");
  });

  test("warns of a command line that is taken as one name, and splits it", async () => {
    const { user } = await openSubmit(acceptingServer());
    act(() => typeYaml(EXAMPLES["own-image"]));
    const command = await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Command" });
    expect(screen.queryByText(/has a space/)).toBeNull();
    await user.clear(command);
    await user.type(command, "sh -c");
    expect(screen.getByText(/^“sh -c” has a space and is taken as the name of one/)).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Split it into lines" }));
    expect(yaml()).not.toContain("sh -c");
    expect(command.value).toBe("sh\n-c");
    expect(screen.queryByText(/has a space/)).toBeNull();
  });

  test("says of an image on the local cluster that it is not pulled", async () => {
    await openSubmit(acceptingServer({ local: true }));
    act(() => typeYaml(EXAMPLES["own-image"]));
    expect(await screen.findByText(/The local cluster pulls no images/)).toBeTruthy();
  });

  test("gives a TFJob's workers GPUs by the limits of their container", async () => {
    const { user } = await openSubmit(acceptingServer({ gpuResource: "amd.com/gpu" }));
    act(() => typeYaml(EXAMPLES.tfjob));
    await screen.findByRole("textbox", { name: "Image" });
    await user.click(screen.getByRole("switch", { name: "Use GPUs" }));
    expect(yaml()).toContain("resources: {limits: {amd.com/gpu: 1}}");
    expect(screen.getByText(/4 pods, 2 GPUs/)).toBeTruthy();
  });

  test("has nothing to show for another kind of object", async () => {
    await openSubmit(acceptingServer());
    act(() => typeYaml("kind: Pod\n"));
    expect(screen.getByText(/neither a TrainingJob nor a TFJob/)).toBeTruthy();
    expect(await screen.findByText('Must be one of: "TrainingJob", "TFJob".')).toBeTruthy();
  });
});

test("in Chinese all of it is Chinese", async () => {
  const { user } = await openSubmit(acceptingServer(), "", "zh");
  expect(screen.getByRole("heading", { level: 1, name: "提交作业" })).toBeTruthy();
  expect(screen.getByRole("button", { name: "提交" })).toBeTruthy();
  await user.clear(screen.getByRole("textbox", { name: "名称" }));
  await waitFor(() => expect(screen.getAllByText("必须填写。").length).toBeGreaterThan(0));
  await user.click(screen.getByRole("tab", { name: /高级/ }));
  expect(await screen.findByRole("button", { name: /期限与重启/ })).toBeTruthy();
});
