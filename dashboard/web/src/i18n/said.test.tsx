import { render } from "@testing-library/react";
import { expect, test } from "vitest";
import { TextProvider } from ".";
import { Said, SaidCode } from "./said";
import { chineseCode, chineseOf } from "./said_zh";

// Symptom: on a Chinese page the largest letters, the sentence on what is the matter, were English.
test.each([
  ["worker-1 waits for a node", "worker-1 正在等待节点"],
  ["worker-1 (and 2 more) is starting", "worker-1（以及另外 2 个）正在启动"],
  [
    "worker-0 (and 1 more) cannot be scheduled: Unschedulable: 0/3 nodes are available: " +
      "1 Insufficient cpu, 2 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: " +
      "3 No preemption victims found for incoming pod.",
    "worker-0（以及另外 1 个）无法调度：Unschedulable：3 个节点中有 0 个可用：1 个节点的 cpu 不足，" +
      "2 个节点的 nvidia.com/gpu 不足。",
  ],
  [
    "worker-0 cannot be scheduled: Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. " +
      "It asks for 2.5 cpu, and no node has more than 2. Its pod is of the template before the " +
      "last change: `kubectl delete pod a-worker-0` has it made anew",
    "worker-0 无法调度：Unschedulable：1 个节点中有 0 个可用：1 个节点的 cpu 不足。" +
      "它请求 2.5 cpu，而没有节点多于 2。它的 Pod 来自修改前的模板：" +
      "用 `kubectl delete pod a-worker-0` 让它重建。",
  ],
  // Symptom: what a replica that ran out of memory needs, and who took a pod away, was not said.
  [
    "worker-0 failed 5 times in a row and starts again at 2027-01-15T08:00:02Z; the last time: " +
      "exit code 137 (OOMKilled): limit 40Mi: raise spec.roles.worker.resources.limits.memory",
    "worker-0 已连续失败 5 次，将于 2027-01-15T08:00:02Z 再次启动；上一次：退出码 137（OOMKilled）：" +
      "限制为 40Mi：请调高 spec.roles.worker.resources.limits.memory",
  ],
  [
    "worker-0 gets pod 2 (preempted): its pod was preempted by the scheduler for one of higher " +
      "priority",
    "worker-0 获得第 2 个 Pod（被抢占或驱逐）：它的 Pod 被调度器抢占，让位给优先级更高的 Pod",
  ],
  [
    "worker-0 gets pod 2 (preempted): its pod was taken away: EvictionByEvictionAPI: Eviction " +
      "API: evicting",
    "worker-0 获得第 2 个 Pod（被抢占或驱逐）：它的 Pod 被移走：" +
      "EvictionByEvictionAPI：Eviction API: evicting",
  ],
  // Symptom: behind the scheduler's words on preemption the operator's own were dropped.
  [
    "worker-2 cannot be scheduled: Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. " +
      "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod. 2 " +
      "pods of the job still hold what the template before the last change asked for: " +
      "`kubectl delete pod` has them made anew",
    "worker-2 无法调度：Unschedulable：1 个节点中有 0 个可用：1 个节点的 cpu 不足。" +
      "作业还有 2 个 Pod 占着修改前的模板所请求的资源：用 `kubectl delete pod` 让它们重建。",
  ],
  // Symptom: the form of newer schedulers stood there in English, behind the Chinese sentence.
  [
    "worker-0 cannot be scheduled: Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. " +
      "no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not " +
      "helpful for scheduling. Its pod is of the template before the last change: " +
      "`kubectl delete pod a-worker-0` has it made anew",
    "worker-0 无法调度：Unschedulable：1 个节点中有 0 个可用：1 个节点的 cpu 不足。" +
      "它的 Pod 来自修改前的模板：用 `kubectl delete pod a-worker-0` 让它重建。",
  ],
  [
    "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 " +
      "nodes are available: 1 No preemption victims found for incoming pod..",
    "1 个节点中有 0 个可用：1 个节点的 cpu 不足。",
  ],
  [
    'ps-0 cannot start: ImagePullBackOff: Back-off pulling image "nowhere/none:1". Its pod is of ' +
      "the template before the last change: `kubectl delete pod a-ps-0` has it made anew",
    "ps-0 无法启动：ImagePullBackOff：镜像 nowhere/none:1 的拉取正在退避。它的 Pod 来自修改前的模板：" +
      "用 `kubectl delete pod a-ps-0` 让它重建。",
  ],
  [
    'ps-0 cannot start: ImagePullBackOff: Back-off pulling image "nowhere/none:1"',
    "ps-0 无法启动：ImagePullBackOff：镜像 nowhere/none:1 的拉取正在退避",
  ],
  [
    "chief-0 fails again and again: CrashLoopBackOff after 3 restarts, the last exit code 1: boom",
    "chief-0 反复失败（已重启 3 次）：CrashLoopBackOff，最后一次：退出码 1：boom",
  ],
  [
    "evaluator-0 failed for good: exit code 2; training goes on without it",
    "evaluator-0 彻底失败：退出码 2；训练会在没有它的情况下继续",
  ],
  [
    "worker-1 failed 3 times in a row and starts again at 2026-11-20T10:00:00Z; the last time: " +
      "exit code 137 (OOMKilled)",
    "worker-1 已连续失败 3 次，将于 2026-11-20T10:00:00Z 再次启动；上一次：退出码 137（OOMKilled）",
  ],
  [
    "worker-1 failed again after 2 restarts by user error, and backoffLimit is 2: exit code 1: x",
    "worker-1 重启 2 次后再次失败，而 backoffLimit 为 2：退出码 1：x",
  ],
  [
    "worker-1 gets pod 2 (user error, not counted): exit code 1",
    "worker-1 获得第 2 个 Pod（程序出错，不计入重启次数）：退出码 1",
  ],
  [
    "the job is suspended; it goes on when spec.suspend is false",
    "作业已暂停；spec.suspend 为 false 时继续",
  ],
  [
    "2 of 3 replicas have no node yet, the first is worker-1",
    "3 个副本中有 2 个还没有节点，第一个是 worker-1",
  ],
  ["3/5 replicas run", "5 个副本中有 3 个正在运行"],
  ["The job was accepted", "作业已被接受"],
  [
    "the service bert does not belong to this job (owner: none), so the job's pods could not " +
      "find each other; delete it or rename the job",
    "Service bert 不属于该作业（所有者：无），作业的 Pod 将无法找到彼此；请删除它或为作业改名",
  ],
  [
    "ps-0 is being created; spec.trainer.checkpoint.dir is not set, so training starts from the " +
      "beginning",
    "ps-0 正在创建；未设置 spec.trainer.checkpoint.dir，因此训练从头开始",
  ],
  [
    "worker-0 (and 1 more) waits for a node; training goes on without worker-0 and worker-1",
    "worker-0（以及另外 1 个）正在等待节点；训练会在没有 worker-0、worker-1 的情况下继续",
  ],
  [
    "trained without worker-0, worker-1 and 6 more, which never ran: no node",
    "训练时没有 worker-0、worker-1、另外 6 个，它们从未运行：no node",
  ],
  [
    "2 replicas hold GPUs and compute on processors: the operator has no image for GPUs " +
      "(trainer.cudaImage.repository of its chart)",
    "2 个副本占用 GPU，却在处理器上计算：operator 没有用于 GPU 的镜像" +
      "（其 chart 的 trainer.cudaImage.repository）",
  ],
  ["chief-0 and 2 more completed", "chief-0 以及另外 2 个已完成"],
  ["created 3 pods (1 chief, 2 workers)", "已创建 3 个 Pod（1 chief, 2 workers）"],
  [
    'worker-0 failed for good: exit code 1: no file (image "a:1" is not pulled: the command of ' +
      "container trainer runs with the programs of this machine)",
    "worker-0 彻底失败：退出码 1：no file（没有拉取镜像 a:1：容器 trainer 的命令用本机的程序运行）",
  ],
  ["TFJob ml/bert is running.", "TFJob ml/bert 正在运行。"],
  ["Successfully assigned ml/bert-ps-0 to node-1", "已将 ml/bert-ps-0 分配到 node-1"],
  ["Created container: trainer", "已创建容器 trainer"],
  [
    "Back-off restarting failed container trainer in pod bert-ps-0_ml(1)",
    "失败的容器 trainer 将在退避后重启",
  ],
])("%s", (text, chinese) => {
  expect(chineseOf(text)).toBe(chinese);
});

test("what is not known stays as it is", () => {
  for (const text of [
    "",
    "the loss is NaN",
    "worker-1 does something new",
    "something new; training does not wait for it",
    "something new (image a:1)",
    "worker-1 ".repeat(1_000),
  ]) {
    expect(chineseOf(text), text).toBeUndefined();
  }
  expect(chineseCode("ImagePullBackOff")).toBe("镜像拉取退避");
  for (const code of ["Novelty", "constructor", "__proto__"]) {
    expect(chineseCode(code)).toBeUndefined();
  }
});

test("no text keeps the page busy", () => {
  const start = performance.now();
  for (const text of ["a ", "worker-1 (and 1 more) ", "exit code 1: ", "; at its end "]) {
    chineseOf(text.repeat(2_000 / text.length));
  }
  expect(performance.now() - start).toBeLessThan(2_000);
});

test("a Chinese page has the original as its tooltip, an English one has it as it is", () => {
  const shown = (language: "en" | "zh") =>
    render(
      <TextProvider language={language}>
        <Said text="worker-1 is starting" />
        <SaidCode text="BackOff" />
        <Said text="my own words" />
      </TextProvider>,
    ).container;
  const [sentence, code, own] = shown("zh").querySelectorAll("bdi");
  expect([sentence?.textContent, sentence?.title]).toEqual([
    "worker-1 正在启动",
    "worker-1 is starting",
  ]);
  expect([code?.textContent, code?.title]).toEqual(["退避", "BackOff"]);
  expect([own?.textContent, own?.title]).toEqual(["my own words", ""]);
  const english = shown("en").querySelectorAll("bdi");
  expect([...english].map(({ textContent, title }) => [textContent, title])).toEqual([
    ["worker-1 is starting", ""],
    ["BackOff", ""],
    ["my own words", ""],
  ]);
});
