// Paths that many parts of the page name.

import type { Path } from "../manifest/path";

export const NAME: Path = ["metadata", "name"];
export const NAMESPACE: Path = ["metadata", "namespace"];
/** Whose job it is: an annotation that the dashboard shows, and that anybody may write. */
export const OWNER: Path = ["metadata", "annotations", "taas.dev/owner"];
