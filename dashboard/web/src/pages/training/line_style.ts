// How lines differ: a colour for each job, and a dash as well, so that colour is never all.

// At least 3 : 1 on the surface of their theme; line_style.test.ts computes it.
const LIGHT = [
  ...["#2b4fb8", "#b8480b", "#1b7a3d", "#8e2a8b", "#0b7285"],
  ...["#a11d4d", "#6b5a00", "#5c4a3a", "#4a5568"],
];
const DARK = [
  ...["#8fb0ff", "#ffab70", "#6cc98a", "#e39be0", "#5fd0e0"],
  ...["#ff9dbb", "#d9c65a", "#d4b59a", "#b0bac6"],
];

const TRAINING: number[][] = [
  [],
  [10, 4],
  [4, 3],
  [12, 4, 3, 4],
  [2, 3],
  [18, 4],
  [8, 3, 2, 3, 2, 3],
  [7, 7],
  [14, 3, 6, 3],
];
const TEST: number[][] = [
  [6, 5],
  [6, 5, 1, 5],
  [1, 5],
  [12, 6, 1, 6],
  [3, 6],
  [18, 7],
  [6, 5, 1, 5, 1, 5],
  [9, 9],
  [3, 3, 9, 3],
];

/** Jobs that can be told apart. */
export const RUNS_MAX = TRAINING.length;

export interface LineStyle {
  colour: string;
  dash: number[];
  /** The evaluator has few points: each has a dot. */
  dots: boolean;
}

export function lineStyle(line: { run: number; ofTest: boolean }, dark: boolean): LineStyle {
  const index = line.run % RUNS_MAX;
  return {
    colour: (dark ? DARK : LIGHT)[index] ?? "",
    dash: (line.ofTest ? TEST : TRAINING)[index] ?? [],
    dots: line.ofTest,
  };
}
