// What a line of a terminal shows at last: bars of progress go back to its start, by carriage
// returns or backspaces, and write over what stood there.
//
//   overwritten("  0%|\r 50%|\r100%|")   // "100%|"

// A character, or an escape sequence with what it takes; one that only colours stays before the
// character that follows it.
const PIECE = /\u001b\[([0-9;:]*)[ -/]*([@-~])|\u001b[^[]|[\s\S]/gu;
const GOES_BACK = /[\r\b]|\u001b\[[0-9]*G/;

/** The text itself, where nothing goes back in it. */
export function overwritten(text: string): string {
  if (!GOES_BACK.test(text)) return text;
  const line = new Cells();
  // Some bars leave blanks when they are done: what was to be seen is what stood there before.
  let seen = "";
  for (const [piece, parameters, command] of text.matchAll(PIECE)) {
    if (piece === "\r") {
      seen = line.isBlank ? seen : line.text;
      line.at = 0;
    } else if (piece === "\b") line.at = Math.max(0, line.at - 1);
    else if (command === undefined) line.write(piece);
    else if (command === "K") line.erase(parameters ?? "");
    else if (command === "G") line.at = Math.max(0, Number(parameters || 1) - 1);
    else line.keep(piece);
  }
  return line.isBlank ? seen : line.text;
}

class Cells {
  at = 0;
  #cells: string[] = [];
  #before = "";

  get text(): string {
    return this.#cells.join("") + this.#before;
  }

  get isBlank(): boolean {
    return this.#cells.every((cell) => cell.endsWith(" "));
  }

  write(piece: string): void {
    // A jump to the right of the end leaves blanks.
    while (this.#cells.length < this.at && this.#cells.length < MOST) this.#cells.push(" ");
    if (this.at >= MOST) return;
    this.#cells[this.at] = this.#before + piece;
    this.#before = "";
    this.at += 1;
  }

  /** A colour, or another sequence: it stands before what is written next. */
  keep(piece: string): void {
    this.#before += piece;
  }

  erase(parameters: string): void {
    const toTheEnd = parameters === "" || parameters === "0";
    if (parameters === "2") this.#cells = [];
    else if (toTheEnd) this.#cells.length = Math.min(this.at, this.#cells.length);
  }
}

// A node cuts lines at 16 KB; who writes more writes no bar.
const MOST = 1_000_000;
