// Drafts outlive a reload of the page: in the tab's own storage, one for each thing that the page
// was opened with (nothing, a job to clone, a job of the history).

import type { Draft, Origin } from "./draft";

const PREFIX = "taas.submit.draft:";
const ORIGINS: readonly Origin["from"][] = ["template", "file", "clone", "history"];

export function loadDraft(key: string): Draft | undefined {
  try {
    return readDraft(sessionStorage.getItem(PREFIX + key));
  } catch {
    // Storage is switched off: a draft lives as long as the page.
    return undefined;
  }
}

export function saveDraft(key: string, draft: Draft): void {
  try {
    sessionStorage.setItem(PREFIX + key, JSON.stringify(draft));
  } catch {
    // Switched off, or full: see loadDraft().
  }
}

export function dropDraft(key: string): void {
  try {
    sessionStorage.removeItem(PREFIX + key);
  } catch {
    // See loadDraft().
  }
}

/** Whatever stands there: an older page may have written it. */
function readDraft(stored: string | null): Draft | undefined {
  if (stored === null) return undefined;
  const value: unknown = JSON.parse(stored);
  if (typeof value !== "object" || value === null) return undefined;
  const { text, original, origin } = value as Record<string, unknown>;
  if (typeof text !== "string" || typeof original !== "string") return undefined;
  if (typeof origin !== "object" || origin === null) return undefined;
  const { from, name } = origin as Record<string, unknown>;
  const known = ORIGINS.find((one) => one === from);
  if (!known || typeof name !== "string") return undefined;
  return { text, original, origin: { from: known, name } };
}
