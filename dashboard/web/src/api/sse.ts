// Parses server-sent events out of chunks that may be cut anywhere, by the rules of the HTML
// standard. EventSource cannot do it for us: it sends no headers, does not say when a comment came
// (which is how a dead connection is found), and hides the status of a refusal.
//
//   const parser = new EventParser((event) => ...);
//   parser.push(decoder.decode(bytes, { stream: true }));

export interface ServerEvent {
  name: string;
  data: string;
  /** The last id that the stream has given so far. */
  id: string;
}

// 5,000 rows are about 4 MB; more than this is not our server.
export const MAX_EVENT_CHARS = 64 * 1024 * 1024;

export class EventParser {
  /** What to resume after. */
  lastId = "";
  readonly #emit: (event: ServerEvent) => void;
  #rest: string[] = [];
  #restChars = 0;
  #name = "";
  #data: string[] = [];
  #dataChars = 0;
  #id = "";
  #skipLineFeed = false;
  #atStart = true;

  constructor(emit: (event: ServerEvent) => void) {
    this.#emit = emit;
  }

  /** Throws RangeError when an event exceeds MAX_EVENT_CHARS. */
  push(chunk: string): void {
    let from = 0;
    if (this.#atStart && chunk.length > 0) {
      this.#atStart = false;
      if (chunk.charCodeAt(0) === 0xfeff) from = 1;
    }
    // A CR at the end of the chunk before has ended a line: its LF is no second end.
    if (this.#skipLineFeed && from < chunk.length) {
      this.#skipLineFeed = false;
      if (chunk[from] === "\n") from += 1;
    }
    const ends = /\r\n|\r|\n/g;
    ends.lastIndex = from;
    for (let end = ends.exec(chunk); end; end = ends.exec(chunk)) {
      this.#line(this.#take(chunk.slice(from, end.index)));
      from = ends.lastIndex;
      if (end[0] === "\r" && from === chunk.length) this.#skipLineFeed = true;
    }
    this.#keep(chunk.slice(from));
  }

  #keep(text: string): void {
    if (text === "") return;
    this.#rest.push(text);
    this.#restChars += text.length;
    this.#check();
  }

  #take(text: string): string {
    if (this.#rest.length === 0) return text;
    this.#rest.push(text);
    const line = this.#rest.join("");
    this.#rest = [];
    this.#restChars = 0;
    return line;
  }

  #check(): void {
    if (this.#restChars + this.#dataChars > MAX_EVENT_CHARS) {
      throw new RangeError(`an event of the stream exceeds ${MAX_EVENT_CHARS} characters`);
    }
  }

  #line(line: string): void {
    if (line === "") {
      this.#dispatch();
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") {
      this.#data.push(value);
      this.#dataChars += value.length;
      this.#check();
    } else if (field === "event") {
      this.#name = value;
    } else if (field === "id" && !value.includes("\0")) {
      this.#id = value;
    }
  }

  #dispatch(): void {
    this.lastId = this.#id;
    const data = this.#data;
    const name = this.#name === "" ? "message" : this.#name;
    this.#data = [];
    this.#dataChars = 0;
    this.#name = "";
    if (data.length > 0) this.#emit({ name, data: data.join("\n"), id: this.lastId });
  }
}
