// Characters that would not show, or would turn what is around them, and what stands for them.

/** All control characters but tab; ends of lines that are none; those that turn a text around. */
const CONTROLS = "\\u0000-\\u0008\\u000a-\\u001f\\u007f-\\u009f";
const TURNS = "\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069";
const HIDDEN = new RegExp(`[${CONTROLS}${TURNS}]`);
const ALL_HIDDEN = new RegExp(HIDDEN, "g");

/** One of Unicode's "control pictures", so that one sees that there is something; or its number. */
function picture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `⟨${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

export function hidesSomething(text: string): boolean {
  return HIDDEN.test(text);
}

export function visible(text: string): string {
  return text.replace(ALL_HIDDEN, picture);
}
