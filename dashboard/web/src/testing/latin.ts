// Finds words that a Chinese page shows in Latin letters and that are no proper names.

// Names of the field that Chinese engineers write as they are, and what is part of an API.
const ALLOWED = new Set([
  ...["kueue", "operator", "tensorflow", "kubelet"],
  ...["taas", "pod", "pods", "kubectl", "helm", "chart", "cookie", "english", "token", "id"],
  ...["chief", "master", "ps", "worker", "evaluator", "secret", "patch", "create", "get", "log"],
  ...["read", "only", "esc", "tab", "ctrl", "enter", "end", "home"],
  // Fields and values of a manifest, which messages quote.
  ...["name", "kind", "mlp", "softmax", "linear", "sgd", "momentum", "adam", "beta", "epsilon"],
  ...["adamw", "adagrad", "rmsprop", "ftrl", "rho", "nesterov", "shell", "volumes", "layers"],
  ...["lenet", "resnet", "lstm", "gpt", "transformer", "wide", "deep"],
]);

/** Acronyms (GPU, SIGKILL), units (GiB) and names of fields and kinds (TrainingJob, maxSteps). */
function isName(word: string): boolean {
  return /[A-Z]/.test(word.slice(1));
}

// Commands of ours, options, and what holds dots, slashes or signs: nvidia.com/gpu, worker-1, a=b.
const CODE =
  /\btaas( [a-z]+)+|(?<![\w-])--?[a-z]+(-[a-z]+)*|[A-Za-z0-9]+([./=:@_-]+[A-Za-z0-9]+)+/g;

export function latinWords(text: string, more: readonly string[] = []): string[] {
  const allowed = new Set([...ALLOWED, ...more.map((word) => word.toLowerCase())]);
  const words = text.replace(CODE, " ").match(/[A-Za-z]+/g) ?? [];
  // A single letter is a unit or the name of a variable.
  return words.filter(
    (word) => word.length > 1 && !isName(word) && !allowed.has(word.toLowerCase()),
  );
}
