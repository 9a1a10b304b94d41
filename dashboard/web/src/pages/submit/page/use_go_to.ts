// Leads from a problem to the control that is for it: opens the tab and the section that it is in,
// and gives it the focus; where there is no such control, it leads to the line of the YAML.

import { useState } from "react";
import type { Path } from "../manifest/path";
import { idOf } from "../form/editing";
import type { Section } from "../form/advanced/sections";
import { isSimple, sectionOf } from "../form/advanced/sections";
import type { PlacedIssue } from "./ProblemList";

export type Tab = "simple" | "advanced";

export interface FormView {
  tab: Tab;
  open: Section[];
  setTab: (tab: Tab) => void;
  setOpen: (open: Section[]) => void;
  goTo: (issue: PlacedIssue) => void;
}

/** The innermost thing on the page that edits `path` or what it is in. */
function elementOf(path: Path): HTMLElement | undefined {
  // Above the parts of spec and metadata there are no controls.
  for (let length = path.length; length >= 2; --length) {
    const found = document.getElementById(idOf(path.slice(0, length)));
    if (found) return found;
  }
  return undefined;
}

function focusOn(element: HTMLElement): void {
  element.scrollIntoView?.({ block: "center" });
  element.focus();
}

// A tab and a section open within a few frames; what has not come by then is not on the form.
const FRAMES_MAX = 30;

function whenThere(path: Path, then: (element: HTMLElement | undefined) => void): void {
  let frames = 0;
  const look = (): void => {
    const element = elementOf(path);
    frames += 1;
    if (element || frames > FRAMES_MAX) then(element);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

export function useFormView(onText: (issue: PlacedIssue) => void): FormView {
  const [tab, setTab] = useState<Tab>("simple");
  const [open, setOpen] = useState<Section[]>(["roles"]);
  const goTo = (issue: PlacedIssue): void => {
    const element = elementOf(issue.path);
    if (element) return focusOn(element);
    const section = sectionOf(issue.path);
    const simple = isSimple(issue.path);
    if (issue.span || (!section && !simple)) return onText(issue);
    setTab(simple ? "simple" : "advanced");
    if (section && !simple) setOpen((before) => [...new Set([...before, section])]);
    whenThere(issue.path, (found) => (found ? focusOn(found) : onText(issue)));
  };
  return { tab, open, setTab, setOpen, goTo };
}
