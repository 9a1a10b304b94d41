// Times of lines: read from a log, and written as the user wants them.

// Of a line without a time.
export const NO_TIME = Number.NaN;

/** Milliseconds since 1970, with fractions. Lines of one second are many: the second is kept. */
export class TimeReader {
  #second = "";
  #at = NO_TIME;

  read(text: string): number {
    if (text === "") return NO_TIME;
    if (!text.endsWith("Z")) return Date.parse(text);
    const second = text.slice(0, 19);
    if (second !== this.#second) {
      this.#second = second;
      this.#at = Date.parse(`${second}Z`);
    }
    return text.length > 20 ? this.#at + 1000 * Number(`0${text.slice(19, -1)}`) : this.#at;
  }
}

/** With nine digits of fractions, so that the order of texts is that of times. */
export function normalTime(text: string): string {
  const fraction = text.slice(20, -1);
  return `${text.slice(0, 19)}.${fraction.padEnd(9, "0")}Z`;
}

export type TimeMode = "local" | "utc" | "relative" | "off";
export const TIME_MODES: readonly TimeMode[] = ["local", "utc", "relative", "off"];

const two = (value: number): string => String(value).padStart(2, "0");
const three = (value: number): string => String(value).padStart(3, "0");

/** "11-21 05:54:17.250", or "+1:02:03.250" since `start`; "" where there is nothing to say. */
export function timeText(at: number, mode: TimeMode, start: number): string {
  if (mode === "off" || Number.isNaN(at)) return "";
  if (mode === "relative") return relativeText(at - start);
  const date = new Date(at);
  if (mode === "utc") {
    const day = `${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
    const clock = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two);
    return `${day} ${clock.join(":")}.${three(date.getUTCMilliseconds())}`;
  }
  const day = `${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two);
  return `${day} ${clock.join(":")}.${three(date.getMilliseconds())}`;
}

function relativeText(milliseconds: number): string {
  if (Number.isNaN(milliseconds)) return "";
  const whole = Math.abs(Math.round(milliseconds));
  const seconds = Math.floor(whole / 1000);
  const hours = Math.floor(seconds / 3600);
  const clock = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return `${milliseconds < 0 ? "−" : "+"}${hours}:${clock}.${three(whole % 1000)}`;
}

/** The value of <input type="datetime-local"> for a time, and back. */
export function toInput(at: number, utc: boolean): string {
  const date = new Date(at);
  const shifted = utc ? at : at - date.getTimezoneOffset() * 60_000;
  return new Date(shifted).toISOString().slice(0, 19);
}

export function fromInput(value: string, utc: boolean): number {
  return Date.parse(utc ? `${value}Z` : value);
}
