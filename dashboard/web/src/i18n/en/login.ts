export const login = {
  title: "Log in",
  again: "Log in again",
  againWhy: "Your session has ended. The page below stays as it is.",
  intro: "You act in the cluster with your own rights: those of the token.",
  token: "Bearer token",
  tokenHint: "Of a service account that may see your jobs, one that is good for eight hours:",
  accountHint:
    "Who administers the cluster can take the dashboard's own account: it sees all jobs and " +
    "changes none.",
  oneMachine: "This cluster runs on this machine. A command prints a link that needs no token:",
  tokenKept:
    "It is kept encrypted in this browser, for seven days after you were here last; no script " +
    "reads it, and no other server gets it.",
  submit: "Log in",
  empty: "Paste a token first.",
  withCode: "Logging in with the one-time code…",
  codeFailed:
    "The one-time code of the link is no longer good: it works once and only for a short time. " +
    "Run the command that printed it again, or log in with a token.",
  tokenFailed:
    "The cluster does not accept this token: it may have expired, be cut off, or be of another " +
    "cluster. Make a new one with a command below.",
  reason: "Reason:",
};
