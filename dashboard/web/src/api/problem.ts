// What can go wrong between this page and the server, as one type of error.

import type { Problem, ProblemReason } from "./types";

/** The server's reasons, and two that only the browser can find. */
export type ErrorReason =
  | ProblemReason
  | "Network" // No answer: no connection, or none in time.
  | "BadAnswer"; // An answer that is not ours, as of a proxy between.

export class ApiError extends Error {
  readonly reason: ErrorReason;
  /** 0: there was no answer. */
  readonly status: number;
  readonly causes: { field: string; message: string }[];

  constructor(
    reason: ErrorReason,
    message: string,
    more: { status?: number; causes?: { field: string; message: string }[]; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.name = "ApiError";
    this.reason = reason;
    this.status = more.status ?? 0;
    this.causes = more.causes ?? [];
  }
}

/** Of anything that was thrown. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ApiError("Internal", message, { cause: error });
}

function isProblem(value: unknown): value is Problem {
  if (typeof value !== "object" || value === null || !("error" in value)) return false;
  const { error } = value;
  return (
    typeof error === "object" &&
    error !== null &&
    "reason" in error &&
    typeof error.reason === "string" &&
    "message" in error &&
    typeof error.message === "string"
  );
}

/** Reads the body of an answer that is no 2xx. */
export async function readProblem(response: Response): Promise<ApiError> {
  let body: unknown;
  try {
    body = await response.json();
  } catch {
    body = undefined;
  }
  if (isProblem(body)) {
    const { reason, message, causes } = body.error;
    return new ApiError(reason, message, { status: response.status, causes: causes ?? [] });
  }
  // A proxy in front of the server speaks for itself: its code is all that we know.
  const reason = response.status === 401 ? "Unauthenticated" : "BadAnswer";
  const said = `${response.status} ${response.statusText}`.trim();
  return new ApiError(reason, said, { status: response.status });
}
