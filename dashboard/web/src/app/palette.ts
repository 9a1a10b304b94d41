// All colours. They become CSS variables (`surface` → --surface) and Ant Design's tokens, so that
// our own parts and theirs agree. Texts on their backgrounds have at least 4.5 : 1, marks 3 : 1;
// palette.test.ts computes it.

export interface Palette {
  page: string;
  surface: string;
  /** Head of a table, code. */
  sunken: string;
  hover: string;
  selected: string;
  line: string;
  /** Around what can be operated. */
  edge: string;
  text: string;
  muted: string;
  accent: string;
  onAccent: string;
  ok: string;
  warning: string;
  critical: string;
  info: string;
  okSoft: string;
  warningSoft: string;
  criticalSoft: string;
  infoSoft: string;
}

export const LIGHT: Palette = {
  page: "#f4f5f7",
  surface: "#ffffff",
  sunken: "#eef0f3",
  hover: "#f3f6fb",
  selected: "#e6edfb",
  line: "#dde1e6",
  edge: "#7c8591",
  text: "#1a2027",
  muted: "#59636f",
  accent: "#2b4fb8",
  onAccent: "#ffffff",
  ok: "#1b7a3d",
  warning: "#8f5a00",
  critical: "#b3261e",
  info: "#2b5f8f",
  okSoft: "#e3f3e8",
  warningSoft: "#fdf1d8",
  criticalSoft: "#fbe6e4",
  infoSoft: "#e3edf6",
};

export const DARK: Palette = {
  page: "#0f1216",
  surface: "#171b21",
  sunken: "#1e232a",
  hover: "#1f252d",
  selected: "#22304d",
  line: "#2b323b",
  edge: "#737e8b",
  text: "#e3e7ec",
  muted: "#9aa5b1",
  accent: "#8fb0ff",
  onAccent: "#0d1630",
  ok: "#6cc98a",
  warning: "#e5b25a",
  critical: "#ff8a80",
  info: "#8ab9e6",
  okSoft: "#16301f",
  warningSoft: "#352a12",
  criticalSoft: "#3c1b1a",
  infoSoft: "#17293a",
};

export const MONO =
  'ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", Menlo, Consolas, monospace';
export const SANS =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "PingFang SC", ' +
  '"Hiragino Sans GB", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", sans-serif';
