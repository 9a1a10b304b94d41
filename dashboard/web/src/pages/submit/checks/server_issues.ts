// What the server said to a job, as places in the manifest.
//
// A refusal has causes with fields (422), or a sentence that names fields (400 of strict
// decoding, which comes before causes are made), or neither: then it is about the job as a whole.

import type { ApiError } from "../../../api/problem";
import type { Json, Path } from "../manifest/path";
import { readFieldPath } from "../manifest/path";

export interface ServerFinding {
  path: Path;
  message: string;
}

/** Empty: the error as a whole is all that there is to say. */
export function findingsOf(error: ApiError, value: Json): ServerFinding[] {
  if (error.reason === "Conflict") return [{ path: ["metadata", "name"], message: error.message }];
  if (error.causes.length > 0) {
    return error.causes.map(({ field, message }) => ({
      path: readFieldPath(field, value),
      message: readable(message),
    }));
  }
  if (error.reason === "BadRequest") return strictFindings(error.message, value);
  // A namespace that does not exist: nothing else is looked for when a job is made.
  if (error.reason === "NotFound" && error.message.includes("namespaces")) {
    return [{ path: ["metadata", "namespace"], message: error.message }];
  }
  return [];
}

const STRICT = /(?:unknown|duplicate) field "([^"]+)"/g;

function strictFindings(message: string, value: Json): ServerFinding[] {
  return [...message.matchAll(STRICT)].map(([text, field]) => ({
    path: readFieldPath(field ?? "", value),
    message: text,
  }));
}

/** A rule on an object repeats all of it, or says that it is one: the sentence is behind that. */
function readable(message: string): string {
  return message.replace(/^Invalid value: (?:"?(?:object|array|null)"?|[{[].*[}\]]): (?=\S)/s, "");
}
