// What the operator (operator/plan), schedulers and kubelets say, in Chinese.
//
//   chineseOf("worker-1 (and 2 more) waits for a node")
//   chineseOf("my program's own words")   // undefined
//   chineseCode("ImagePullBackOff")
//
// In patterns {n} is a number, {w} a word, {c} a code of letters, {*} any text, and what stands in
// [] may be missing. Each of them is a part that the words get; "": it is missing.

type Words = (...parts: string[]) => string;
type Rule = readonly [pattern: RegExp, words: Words];

// Nobody's sentence is longer; a text of somebody with bad intentions may be.
const LENGTH_MAX = 2_000;

/** undefined: this is no sentence that is known. */
export function chineseOf(text: string): string | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  return (
    firstOf(WHOLE, text) ??
    firstOf(OF_TFJOBS, text) ??
    firstOf(ENDINGS, text) ??
    firstOf(OF_REPLICAS, text) ??
    firstOf(OF_CLUSTERS, text)
  );
}

export function chineseCode(code: string): string | undefined {
  return Object.hasOwn(CODES, code) ? CODES[code] : undefined;
}

const PLACES: Record<string, string> = {
  "{n}": "(\\d+)",
  "{w}": "(\\S+?)",
  "{c}": "(\\w+)",
  "{*}": "(.+)",
  "[": "(?:",
  "]": ")?",
};

function ruleOf([like, words]: [like: string, words: Words]): Rule {
  const pattern = like.replace(
    /\{.\}|[[\]]|[.*+?^${}()|\\/]/g,
    (sign) => PLACES[sign] ?? `\\${sign}`,
  );
  return [new RegExp(`^${pattern}$`, "is"), words];
}

function rulesOf(rules: [like: string, words: Words][]): Rule[] {
  return rules.map(ruleOf);
}

function firstOf(rules: readonly Rule[], text: string): string | undefined {
  for (const [pattern, words] of rules) {
    const found = pattern.exec(text);
    if (!found) continue;
    // A rule whose main part is not known gives nothing: half a sentence helps nobody.
    const said = words(...found.slice(1).map((part: string | undefined) => part ?? ""));
    if (said !== "") return said;
  }
  return undefined;
}

/** What is known of a detail, else the detail. */
function part(text: string): string {
  return chineseOf(text) ?? text;
}

/** "Reason: words", of which the reason stays: people search for it. */
function detail(text: string): string {
  const [, reason, words] = /^(\w+): (.+)$/s.exec(text) ?? [];
  return reason !== undefined && words !== undefined ? `${reason}：${part(words)}` : part(text);
}

/** A sentence and what it ends with; "": the sentence is not known. */
function ending(sentence: string, words: string): string {
  const known = chineseOf(sentence);
  return known === undefined ? "" : known + words;
}

const RENAME = "请删除它或为作业改名";

function inBrackets(text: string): string {
  return text && `（${text}）`;
}

function inQueue(queue: string): string {
  return queue && `（队列 ${queue}）`;
}

function owner(text: string): string {
  return inBrackets(`所有者：${text === "none" ? "无" : text.replace("unknown", "未知")}`);
}

/** Which replicas, and of them what `finding` says. */
function ofReplicas(names: string, finding: string): string {
  const said = firstOf(FINDINGS, finding);
  return said === undefined ? "" : names + said;
}

function crashing(words: string, last: string): string {
  return `${words}：CrashLoopBackOff${last && `，最后一次：${part(last)}`}`;
}

function restarting(time = "", name = ""): string {
  return `失败的容器${name && ` ${name} `}将在退避${time && ` ${time} `}后重启`;
}

const CAUSES: Record<string, string> = {
  userError: "程序出错",
  outOfMemory: "内存不足",
  killed: "被终止",
  preempted: "被抢占或驱逐",
  nodeLost: "节点丢失",
  badNode: "节点故障",
};

// What kube-scheduler ends with: that taking the place of other pods would not help either. Where
// it looks after claims to devices, it says of them first that there is nothing to gain.
function withoutPreemption(sentence: string): string {
  const before = sentence.replace(/(^|, )preemption: .*$/s, "");
  return before === "no new claims to deallocate" ? "" : before;
}

/** The scheduler's sentences but that on preemption, and what others say behind them. */
function nodesOf(some: string, all: string, why: string): string {
  const [first = "", ...more] = why.split(". ");
  const reasons = first
    .replace(/\.$/, "")
    .split(", ")
    .map((reason) => firstOf(WHY_NO_NODE, reason) ?? reason);
  const rest = more
    .map(withoutPreemption)
    .filter((one) => one !== "")
    .map((one) => firstOf(TOO_LARGE, one.replace(/\.$/, "")) ?? one);
  return `${all} 个节点中有 ${some} 个可用：${reasons.join("，")}。${rest.join("")}`;
}

/** "user error, not counted" */
function cause(text: string): string {
  const [name = "", ...more] = text.split(", ");
  const camel = name.replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase());
  const word = CAUSES[camel] ?? name;
  return more.includes("not counted") ? `${word}，不计入重启次数` : word;
}

const GONE_POD = "waits until the pod of an earlier job of this name is gone";
const GONE_SERVICE = "waits until the service of an earlier job of this name is gone";
const NOT_OURS = "does not belong to this job (owner: {*})";

// Sentences about the job as a whole: its headline, its conditions and their events.
const WHOLE = rulesOf([
  [
    "trained without {*}, which never ran[ in this attempt][: {*}]",
    (names, why) => `训练时没有 ${listOf(names)}，它们从未运行${why && `：${detail(why)}`}`,
  ],
  [
    "{n} replica[s] hold[s] GPUs and compute[s] on processors: the operator has no image for " +
      "GPUs ({w} of its chart)",
    (count, field) =>
      `${count} 个副本占用 GPU，却在处理器上计算：operator 没有用于 GPU 的镜像（其 chart 的 ${field}）`,
  ],
  [
    "the job is suspended; it goes on when {w} is false",
    (field) => `作业已暂停；${field} 为 false 时继续`,
  ],
  ["the job is suspended", () => "作业已暂停"],
  ["the job was accepted", () => "作业已被接受"],
  ["the job was resumed", () => "作业已恢复"],
  ["the job has ended", () => "作业已结束"],
  ["the job can be planned again", () => "作业可以重新规划"],
  ["the job begins its next attempt", () => "作业开始下一次尝试"],
  ["all replicas have a node", () => "所有副本都已有节点"],
  ["all pods are deleted until the job is resumed", () => "作业恢复之前，所有 Pod 都会被删除"],
  ["no replica waits for its next pod", () => "没有副本在等待新的 Pod"],
  ["{n}/{n} replicas run", (some, all) => `${all} 个副本中有 ${some} 个正在运行`],
  [
    "{n} of {n} replicas have no node yet, the first is {w}[ ({*})]",
    (some, all, first, why) =>
      `${all} 个副本中有 ${some} 个还没有节点，第一个是 ${first}${inBrackets(detail(why))}`,
  ],
  [
    "the job ran for activeDeadlineSeconds, {n} s since its start at {w}[; at its end {*}]",
    (seconds, at, why) =>
      `作业已运行满 activeDeadlineSeconds：自 ${at} 启动以来 ${seconds} 秒` +
      (why && `；结束时 ${part(why)}`),
  ],
  [
    "not all replicas that the training needs ran within {n} s, so all are released until {w}: {*}",
    (seconds, at, why) =>
      `训练所需的副本未能在 ${seconds} 秒内全部运行，因此全部释放至 ${at}：${part(why)}`,
  ],
  [
    "all replicas are released until {w}, because not all that the training needs ran within " +
      "{w}: {*}",
    (at, field, why) =>
      `所有副本已释放至 ${at}，因为训练所需的副本未能在 ${field} 内全部运行：${part(why)}`,
  ],
  [
    "the job has {n} replicas instead of {n}, so all start again together when Kueue has " +
      "admitted them",
    (now, before) => `作业的副本数由 ${before} 变为 ${now}，Kueue 准入后全部一起重新启动`,
  ],
  [
    "training is done; {w} still evaluates the last checkpoint, until {w} at the latest",
    (name, at) => `训练已完成；${name} 仍在评估最后的检查点，最迟到 ${at}`,
  ],
  [
    "training is done; {w}, which has until {w} to evaluate the last checkpoint, {*}",
    (name, at, finding) =>
      `训练已完成；${name} 须在 ${at} 之前评估最后的检查点，目前` +
      (firstOf(FINDINGS, finding) ?? finding),
  ],
  [
    "training is done; the other replicas have {n} s to end",
    (seconds) => `训练已完成；其余副本有 ${seconds} 秒时间结束`,
  ],
  [
    `the service {w} ${NOT_OURS}, so the job's pods could not find each other; delete it or ` +
      "rename the job",
    (name, of) =>
      `Service ${name} 不属于该作业${owner(of)}，作业的 Pod 将无法找到彼此；${RENAME}`,
  ],
  [
    `the PodGroup {w} ${NOT_OURS}, so its pods could not be placed together; delete it or rename ` +
      "the job",
    (name, of) => `PodGroup ${name} 不属于该作业${owner(of)}，其 Pod 无法一起调度；${RENAME}`,
  ],
  [
    "spec.schedulingPolicy.gang is Required and the operator has no gang scheduler: start it " +
      "with --gang-scheduler, or suspend the job and make it Auto",
    () =>
      "spec.schedulingPolicy.gang 为 Required，但 operator 没有成组调度器：" +
      "请以 --gang-scheduler 启动它，或暂停作业并改为 Auto",
  ],
  [
    "spec.schedulingPolicy.gang is Required and spec.schedulingPolicy.queue is empty, but Kueue " +
      "admits the jobs of a queue only: suspend the job and name one",
    () =>
      "spec.schedulingPolicy.gang 为 Required 而 spec.schedulingPolicy.queue 为空，" +
      "但 Kueue 只准入某个队列的作业：请暂停作业并指定队列",
  ],
  [
    "waits until its PodGroup {w}[ in queue {w}] is made",
    (name, queue) => `正在等待创建其 PodGroup ${name}${inQueue(queue)}`,
  ],
  ["waits until its last PodGroup is gone", () => "正在等待上一个 PodGroup 消失"],
  [
    "waits until the PodGroup of an earlier job of this name is gone",
    () => "正在等待先前同名作业的 PodGroup 消失",
  ],
  [
    "waits for {w}: its PodGroup {w}[ in queue {w}] is {c}[ ({*})]",
    (who, name, queue, phase, why) =>
      `正在等待 ${who}：其 PodGroup ${name}${inQueue(queue)}处于 ${phase}${inBrackets(part(why))}`,
  ],
  [GONE_POD, () => "正在等待先前同名作业的 Pod 消失"],
  [GONE_SERVICE, () => "正在等待先前同名作业的 Service 消失"],
  [
    "the job has neither a chief nor a worker, so nothing would train: add one",
    () => "作业既没有 chief 也没有 worker，无法训练：请添加一个",
  ],
  [
    "the pod name {w} has {n} characters and a hostname has at most {n}: give the job a shorter " +
      "name",
    (name, has, most) => `Pod 名称 ${name} 有 ${has} 个字符，主机名最多 ${most} 个：请缩短作业名称`,
  ],
]);

// What training-operator says of TFJobs, and what is added.
const OF_TFJOBS = rulesOf([
  ["TFJob {w} is created.", (name) => `TFJob ${name} 已创建。`],
  ["TFJob {w} is running.", (name) => `TFJob ${name} 正在运行。`],
  ["TFJob {w} is suspended.", (name) => `TFJob ${name} 已暂停。`],
  ["TFJob {w} is resumed.", (name) => `TFJob ${name} 已恢复。`],
  [
    "TFJob {w} successfully completed.[ {*}]",
    (name, remark) => `TFJob ${name} 已成功完成。${part(remark)}`,
  ],
  [
    "job {w} is restarting because {c} replica(s) failed.",
    (name, role) => `作业 ${name} 正在重启，因为 ${role} 副本失败。`,
  ],
  [
    'job "{w}" is failing because "{c}" replica(s) failed.[ {*}]',
    (name, role, why) => `作业 ${name} 因 ${role} 副本失败而失败。${part(why)}`,
  ],
  [
    "TFJob {w} has failed because {n} {c} replica(s) failed.[ {*}]",
    (name, count, role, why) =>
      `TFJob ${name} 因 ${count} 个 ${role} 副本失败而失败。${part(why)}`,
  ],
  [
    "Job {w} has failed because it has reached the specified backoff limit[: {*}]",
    (name, why) => `作业 ${name} 因达到指定的重试上限而失败${why && `：${part(why)}`}`,
  ],
  [
    "Job {w} has failed because it was active longer than specified deadline[: {*}]",
    (name, why) => `作业 ${name} 因超过指定的期限而失败${why && `：${part(why)}`}`,
  ],
  [
    "TFJob {w} has failed because the spec is invalid: {*}",
    (name, why) => `TFJob ${name} 因规格无效而失败：${part(why)}`,
  ],
  ["TFJob {w} has failed: {*}", (name, why) => `TFJob ${name} 已失败：${part(why)}`],
]);

// What the local cluster adds to failures of images: it pulls none.
const NOT_PULLED =
  'image "{w}" is not pulled: the command of container {w} runs with the programs of this machine';

function notPulled(image: string, name: string): string {
  return `没有拉取镜像 ${image}：容器 ${name} 的命令用本机的程序运行`;
}

// "worker-0, worker-1 and 6 more"
function listOf(names: string): string {
  return names.replace(/, | and /g, "、").replace(/(\d+) more$/, "另外 $1 个");
}

// What may follow a sentence.
const ENDINGS = rulesOf([
  ["{*}; training does not wait for it", (text) => ending(text, "；训练不会等待它")],
  [
    "{*}; spec.trainer.checkpoint.dir is not set, so training starts from the beginning",
    (text) => ending(text, "；未设置 spec.trainer.checkpoint.dir，因此训练从头开始"),
  ],
  ["{*}; training goes on without it", (text) => ending(text, "；训练会在没有它的情况下继续")],
  [
    "{*}; training goes on without {*}",
    (text, names) => ending(text, `；训练会在没有 ${listOf(names)} 的情况下继续`),
  ],
  ["{*}; the job goes on without it", (text) => ending(text, "；作业会在没有它的情况下继续")],
  ["{*} (it gets other ports)", (text) => ending(text, "（它会得到其他端口）")],
  [
    "{*} (it waited for the main replica, which does not run)",
    (text) => ending(text, "（它在等待没有运行的主副本）"),
  ],
  ["{*}; the last time: {*}", (text, why) => ending(text, `；上一次：${part(why)}`)],
  ["{*} (image {w})", (text, image) => ending(text, `（镜像 ${image}）`)],
  [`{*} (${NOT_PULLED})`, (text, image, name) => ending(text, inBrackets(notPulled(image, name)))],
]);

// "worker-1 (and 2 more) …", "worker-1 …"
const OF_REPLICAS = rulesOf([
  ["{c}-{n} completed", (role, index) => `${role}-${index} 已完成`],
  [
    "{c}-{n} and {n} more completed",
    (role, index, more) => `${role}-${index} 以及另外 ${more} 个已完成`,
  ],
  [
    "{c}-{n} (and {n} more) {*}",
    (role, index, more, finding) =>
      ofReplicas(`${role}-${index}（以及另外 ${more} 个）`, finding),
  ],
  ["{c}-{n} {*}", (role, index, finding) => ofReplicas(`${role}-${index} `, finding)],
]);

const FINDINGS = rulesOf([
  ["is starting[, the last: {*}]", (last) => `正在启动${last && `，上一次：${part(last)}`}`],
  ["is being created", () => "正在创建"],
  ["is started again", () => "正在重新启动"],
  ["waits for a node", () => "正在等待节点"],
  ["waits until Kueue admits the job", () => "正在等待 Kueue 准入该作业"],
  ["waits behind a scheduling gate", () => "被调度门控挡住"],
  ["is on node {w}, which does not answer", (node) => `所在的节点 ${node} 没有响应`],
  ["waits until its last pod is gone", () => "正在等待它的上一个 Pod 消失"],
  [
    "waits until its last pod is gone from node {w}, which does not answer",
    (node) => `正在等待它的上一个 Pod 从没有响应的节点 ${node} 上消失`,
  ],
  [GONE_POD, () => "正在等待先前同名作业的 Pod 消失"],
  [GONE_SERVICE, () => "正在等待先前同名作业的 Service 消失"],
  ["cannot be scheduled: {*}", (why) => `无法调度：${detail(why)}`],
  [
    "cannot start its init container {w}: {*}",
    (name, why) => `无法启动初始化容器 ${name}：${detail(why)}`,
  ],
  ["cannot start: {*}", (why) => `无法启动：${detail(why)}`],
  [
    "runs its init container {w}[, the last: {*}]",
    (name, last) => `正在运行初始化容器 ${name}${last && `，上一次：${part(last)}`}`,
  ],
  ["failed: CrashLoopBackOff[, the last[:] {*}]", (last) => crashing("失败", last)],
  [
    "failed again: CrashLoopBackOff after 1 restart[, the last[:] {*}]",
    (last) => crashing("重启 1 次后再次失败", last),
  ],
  [
    "fails again and again: CrashLoopBackOff after {n} restarts[, the last[:] {*}]",
    (times, last) => crashing(`反复失败（已重启 ${times} 次）`, last),
  ],
  [
    "failed at least {n} times in a row and starts again at {w}",
    (times, at) => `已连续失败至少 ${times} 次，将于 ${at} 再次启动`,
  ],
  [
    "failed {n} times in a row and starts again at {w}",
    (times, at) => `已连续失败 ${times} 次，将于 ${at} 再次启动`,
  ],
  ["failed for good[: {*}]", (why) => `彻底失败${why && `：${part(why)}`}`],
  [
    "failed, and backoffLimit is {n}: {*}",
    (limit, why) => `失败，而 backoffLimit 为 ${limit}：${part(why)}`,
  ],
  [
    "failed again after {n} restart[s] by {*}, and backoffLimit is {n}: {*}",
    (times, _, limit, why) =>
      `重启 ${times} 次后再次失败，而 backoffLimit 为 ${limit}：${part(why)}`,
  ],
  ["ran out of memory: {*}", (why) => `内存不足：${part(why)}`],
  [
    "gets pod {n} ({*}): {*}",
    (number, why, said) => `获得第 ${number} 个 Pod（${cause(why)}）：${part(said)}`,
  ],
  [
    "was started again by its node ({*}): {*}",
    (why, said) => `由所在节点重新启动（${cause(why)}）：${part(said)}`,
  ],
  ["did not evaluate the last checkpoint: {*}", (why) => `没有评估最后的检查点：${part(why)}`],
  ["did not end within {n} minutes after that", (minutes) => `此后 ${minutes} 分钟内没有结束`],
  [
    `cannot be made: the pod {w} ${NOT_OURS}; delete it or rename the job`,
    (name, of) => `无法创建：Pod ${name} 不属于该作业${owner(of)}；${RENAME}`,
  ],
  [
    `cannot be made: the service {w} ${NOT_OURS}; delete it or rename the job`,
    (name, of) => `无法创建：Service ${name} 不属于该作业${owner(of)}；${RENAME}`,
  ],
  [
    "cannot be made: the pod {w} has lost the label {w}; delete it, or give it the job's name " +
      "again",
    (name, label) => `无法创建：Pod ${name} 失去了标签 ${label}；请删除它，或重新填上作业名称`,
  ],
  [
    "cannot be made: another controller made the pod {w} for this job; stop it and start this " +
      "operator with --adopt",
    (name) =>
      `无法创建：另一个控制器已为该作业创建 Pod ${name}；请停止它，并以 --adopt 启动此 operator`,
  ],
]);

// Ends of programs, and what schedulers and kubelets say.
const OF_CLUSTERS = rulesOf([
  [
    "exit code {n}[ ({c})][: {*}]",
    (code, reason, said) => `退出码 ${code}${inBrackets(reason)}${said && `：${part(said)}`}`,
  ],
  ["ended without an exit code[: {*}]", (said) => `结束时没有退出码${said && `：${part(said)}`}`],
  [
    "{c}: {*}",
    (reason, why) => {
      const words = Object.hasOwn(CODES, reason) ? chineseOf(why) : undefined;
      return words === undefined ? "" : `${reason}：${words}`;
    },
  ],
  [NOT_PULLED, notPulled],
  ["created {n} pod[s] ({*})", (count, roles) => `已创建 ${count} 个 Pod（${roles}）`],
  ["init container {w}: {*}", (name, why) => `初始化容器 ${name}：${part(why)}`],
  ["its node {w} is lost", (node) => `它的节点 ${node} 已丢失`],
  ["its pod was deleted or drained", () => "它的 Pod 被删除或驱逐"],
  [
    "its pod was preempted by the scheduler for one of higher priority",
    () => "它的 Pod 被调度器抢占，让位给优先级更高的 Pod",
  ],
  ["its pod was taken away: {*}", (why) => `它的 Pod 被移走：${detail(why)}`],
  ["limit {w}: raise {w}", (limit, field) => `限制为 ${limit}：请调高 ${field}`],
  ["it cannot be scheduled: {*}", (why) => `它无法调度：${detail(why)}`],
  ["{n}/{n} nodes are available: {*}", nodesOf],
  ["Successfully assigned {w} to {w}", (pod, node) => `已将 ${pod} 分配到 ${node}`],
  ['Pulling image "{w}"', (image) => `正在拉取镜像 ${image}`],
  ['Successfully pulled image "{w}"[ {*}]', (image) => `已拉取镜像 ${image}`],
  ['Container image "{w}" already present on machine[ {*}]', (image) => `本机已有镜像 ${image}`],
  ["Created container[:] {w}", (name) => `已创建容器 ${name}`],
  ["Container created", () => "已创建容器"],
  ["Started container[:] {w}", (name) => `已启动容器 ${name}`],
  ["Container started", () => "已启动容器"],
  ["Stopping container {w}", (name) => `正在停止容器 ${name}`],
  ["back-off [{w} ]restarting failed container {w} in pod {*}", restarting],
  ["back-off [{w} ]restarting failed container={w} pod={*}", restarting],
  ["back-off [{w} ]restarting failed container", restarting],
  [
    'Back-off pulling image "{w}"[: {*}]',
    (image, why) => `镜像 ${image} 的拉取正在退避${why && `：${part(why)}`}`,
  ],
  ['Failed to pull image "{w}": {*}', (image, why) => `无法拉取镜像 ${image}：${part(why)}`],
  [
    'Container image "{w}" is not present with pull policy of Never',
    (image) => `没有镜像 ${image}，而拉取策略为 Never`,
  ],
  ['secret "{w}" not found', (name) => `Secret ${name} 不存在`],
  ['configmap "{w}" not found', (name) => `ConfigMap ${name} 不存在`],
  [
    "couldn't find key {w} in {c} {w}",
    (key, kind, name) => `${kind} ${name} 中没有键 ${key}`,
  ],
  [
    "{*}. Its pod is of the template before the last change: `{*}` has it made anew",
    (why, command) => `${part(why)}。它的 Pod 来自修改前的模板：用 \`${command}\` 让它重建。`,
  ],
]);

/** The local cluster's and the operator's, behind the scheduler's. */
const TOO_LARGE = rulesOf([
  [
    "Its pod is of the template before the last change: `{*}` has it made anew",
    (command) => `它的 Pod 来自修改前的模板：用 \`${command}\` 让它重建。`,
  ],
  [
    "{n} pod[s] of the job still hold[s] what the template before the last change asked for: " +
      "`{*}` has them made anew",
    (count, command) =>
      `作业还有 ${count} 个 Pod 占着修改前的模板所请求的资源：用 \`${command}\` 让它们重建。`,
  ],
  [
    "It asks for {*}, and no node has more than {*}",
    (wanted, most) => `它请求 ${wanted}，而没有节点多于 ${most}。`,
  ],
]);

const WHY_NO_NODE = rulesOf([
  ["{n} Insufficient {w}", (count, what) => `${count} 个节点的 ${what} 不足`],
  ["{n} Too many pods", (count) => `${count} 个节点的 Pod 已满`],
  ["{n} node(s) had untolerated taint[s]", (count) => `${count} 个节点有不被容忍的污点`],
  [
    "{n} node(s) had untolerated taint {*}",
    (count, taint) => `${count} 个节点有不被容忍的污点 ${taint}`,
  ],
  [
    "{n} node(s) didn't match Pod's node affinity/selector",
    (count) => `${count} 个节点不符合 Pod 的节点亲和性或选择器`,
  ],
  ["{n} node(s) were unschedulable", (count) => `${count} 个节点不可调度`],
  [
    "{n} node(s) didn't satisfy existing pods anti-affinity rules",
    (count) => `${count} 个节点不满足已有 Pod 的反亲和规则`,
  ],
]);

const CODES: Record<string, string> = {
  // Of the operator.
  PodsCreated: "已创建 Pod",
  Completed: "已完成",
  Suspended: "已暂停",
  Resumed: "已恢复",
  NextAttempt: "下一次尝试",
  Restarting: "正在重启",
  DeadlineExceeded: "超过期限",
  InvalidSpec: "规格无效",
  NameTooLong: "名称过长",
  TooManyReplicas: "副本过多",
  ReplicaFailed: "副本失败",
  BackoffLimitExceeded: "超过重试上限",
  PendingDeadlineExceeded: "等待超时",
  NameConflict: "名称冲突",
  Refused: "被拒绝",
  TemplateWarning: "模板警告",
  SetPodTemplateSchedulerName: "模板指定了其他调度器",
  SetPodTemplateRestartPolicy: "模板的重启策略被覆盖",
  InternalError: "内部错误",
  AnotherController: "另一个控制器",
  SuccessfulCreatePod: "已创建 Pod",
  SuccessfulCreateService: "已创建 Service",
  SuccessfulDeletePod: "已删除 Pod",
  ExitedWithCode: "已退出",
  FailedCreatePod: "创建 Pod 失败",
  FailedCreateService: "创建 Service 失败",
  FailedDeletePod: "删除 Pod 失败",
  FailedDeleteService: "删除 Service 失败",
  FailedCreateConfigMap: "创建 ConfigMap 失败",
  FailedCreatePodGroup: "创建 PodGroup 失败",
  FailedDeletePodGroup: "删除 PodGroup 失败",
  TFJobCreated: "TFJob 已创建",
  TFJobRunning: "TFJob 运行中",
  TFJobRestarting: "TFJob 正在重启",
  TFJobSuspended: "TFJob 已暂停",
  TFJobResumed: "TFJob 已恢复",
  TFJobSucceeded: "TFJob 已成功",
  TFJobFailed: "TFJob 已失败",
  TFJobFailedValidation: "TFJob 规格无效",
  // Of schedulers and kubelets.
  Scheduled: "已调度",
  FailedScheduling: "调度失败",
  Unschedulable: "无法调度",
  SchedulerError: "调度器出错",
  Preempted: "被抢占",
  Pulling: "正在拉取镜像",
  Pulled: "镜像已就绪",
  Created: "容器已创建",
  Started: "容器已启动",
  Killing: "正在停止容器",
  BackOff: "退避",
  Failed: "失败",
  FailedMount: "挂载失败",
  FailedAttachVolume: "附加卷失败",
  FailedCreatePodSandBox: "创建 Pod 沙箱失败",
  Unhealthy: "探测失败",
  Evicted: "被驱逐",
  Error: "出错",
  OOMKilled: "内存不足被终止",
  ErrImagePull: "镜像拉取失败",
  ImagePullBackOff: "镜像拉取退避",
  ErrImageNeverPull: "没有镜像且不允许拉取",
  InvalidImageName: "镜像名称无效",
  CrashLoopBackOff: "反复崩溃，退避中",
  CreateContainerConfigError: "容器配置错误",
  CreateContainerError: "创建容器失败",
  RunContainerError: "启动容器失败",
  ContainerCreating: "正在创建容器",
  PodInitializing: "正在初始化 Pod",
  ImageNotPulled: "未拉取镜像",
};
