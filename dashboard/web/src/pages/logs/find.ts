// The search in one piece of text; also runs in the worker.

export interface Query {
  text: string;
  regex: boolean;
  matchCase: boolean;
}

export const NO_QUERY: Query = { text: "", regex: false, matchCase: false };

export function sameQuery(a: Query, b: Query): boolean {
  return a.text === b.text && a.regex === b.regex && a.matchCase === b.matchCase;
}

/** As a global expression; null: it searches nothing; a string: why it is no expression. */
export function compile({ text, regex, matchCase }: Query): RegExp | null | string {
  if (text === "") return null;
  const source = regex ? text : text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  try {
    // With "m", since many lines are searched as one text.
    return new RegExp(source, matchCase ? "gm" : "gim");
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Places of the lines that match. `text`: lines joined by line ends; `starts`: of each. */
export function matchingLines(expression: RegExp, text: string, starts: Uint32Array): number[] {
  const found: number[] = [];
  const alone = new RegExp(expression.source, expression.flags.replace("g", ""));
  let line = 0;
  expression.lastIndex = 0;
  while (line < starts.length) {
    const match = expression.exec(text);
    if (!match) return found;
    line = lineAt(starts, match.index, line);
    const end = (starts[line + 1] ?? text.length + 1) - 1;
    // One that goes beyond its line may have hidden a shorter one within it.
    const within = match.index + match[0].length <= end;
    if (within || alone.test(text.slice(starts[line], end))) found.push(line);
    line += 1;
    expression.lastIndex = starts[line] ?? 0;
  }
  return found;
}

/** Of a line's start that is at `at` or before, the last; from `low` on. */
function lineAt(starts: Uint32Array, at: number, low: number): number {
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle;
  }
  return low;
}

export interface Range {
  from: number;
  to: number;
}

// Of one line; nobody counts more.
const MAX_MARKS = 500;

/** What to mark in one line. */
export function marksIn(expression: RegExp, text: string): Range[] {
  const marks: Range[] = [];
  expression.lastIndex = 0;
  while (marks.length < MAX_MARKS) {
    const match = expression.exec(text);
    if (!match) break;
    if (match[0] === "") expression.lastIndex += 1;
    else marks.push({ from: match.index, to: match.index + match[0].length });
  }
  return marks;
}
