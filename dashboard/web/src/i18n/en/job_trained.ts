// What the ranks of an all-reduce do with their time, and the checkpoints of a job.

export const jobTrained = {
  ranks: "Where the time of a step goes",
  ranksAbout:
    "All replicas make a step in the same time, that of the slowest. Shares of the last second.",
  slowest: (name: string) => `${name} is the slowest: the others wait for it.`,
  noneSlow: "No replica is notably slower than the others.",
  compute: "computes",
  wait: "waits for the slowest",
  exchange: "exchanges gradients",
  rest: "updates, and the rest",
  of: (part: string, percent: string) => `${part} ${percent}`,
  hidden: (percent: string) => `${percent} of exchange beside computing`,
  perStep: (amount: string) => `sends ${amount} for each step`,
  isSlowest: "the slowest",

  checkpoints: "Checkpoints",
  onClaim: (dir: string, claim: string) => `${dir} on claim ${claim}`,
  onPath: (dir: string, path: string) => `${dir} on ${path} of its node`,
  onNoVolume: (dir: string) => `${dir}, on no volume that stays: they end with the pod`,
  copyFolder: "Copy the folder",
  onThisMachine: "On this machine",
  step: "Step",
  size: "Size",
  saved: "Saved",
  newest: (count: number) => (count === 1 ? "The newest" : `The newest ${count}`),
  noneYet: "None has been saved yet.",
  unknown: "Which are there is not known: the job does not run, and nobody has seen them.",
  lastSeen: "As they were last seen.",
  byStatus: "The job has succeeded, so it has saved its last step.",
  exportIt: "Export the model for other programs:",
  model: "The trained model",
  modelIs: {
    safetensors: "What the job exported, as safetensors",
    savedModel: "What the job exported: a SavedModel for TensorFlow, as a tar",
    checkpoint: "Its newest checkpoint, as a tar: the job exported nothing else",
  },
  downloadModel: (size: string) => `Download the model (${size})`,
  brokeOff: (got: string, size: string) =>
    `The download broke off at ${got} of ${size}; the file was not kept.`,
  copyCommand: "Copy the command",
};
