// A sentence that ends with what a program said last, taken apart: the operator writes the last
// line first, since it names the error, and behind it "(after: LINE | LINE)", what stood before.
//
//   headlineOf("worker-0 failed: exit code 1: bad (after: Traceback | File a)")
//     // { sentence: "worker-0 failed: exit code 1: bad", before: ["Traceback", "File a"] }

export interface Headline {
  sentence: string;
  before: string[];
}

const BEGINS = " (after: ";

export function headlineOf(text: string): Headline {
  const begin = text.indexOf(BEGINS);
  const end = begin < 0 ? -1 : closing(text, begin + 1);
  if (end < 0) return { sentence: text, before: [] };
  const lines = text.slice(begin + BEGINS.length, end).split(" | ");
  return { sentence: text.slice(0, begin) + text.slice(end + 1), before: lines };
}

// Of the local cluster, behind each failure of an image that it runs without.
const IMAGE_NOTE = / \(image "[^"]*" is not pulled: [^()]*\)/;

/** For one line of a table: without what stands before and behind the cause. */
export function briefOf(text: string): string {
  return headlineOf(text).sentence.replace(IMAGE_NOTE, "");
}

/** Where the bracket at `open` closes; those of a program need not be in pairs. */
function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === "(") depth += 1;
    if (text[at] === ")") depth -= 1;
    if (depth === 0) return at;
  }
  return text.lastIndexOf(")");
}

// Of a short one nobody minds that it stands twice.
const WORTH_LEAVING_OUT = 30;

/** Whether the headline has said this already. */
export function isSaidIn(headline: string, text: string): boolean {
  return text === headline
    ? text !== ""
    : text.length >= WORTH_LEAVING_OUT && headline.includes(text);
}
