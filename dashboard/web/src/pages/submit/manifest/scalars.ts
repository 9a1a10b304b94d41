// What a scalar without quotes means, by the words and numbers that the server's reader knows
// (operator/api/manifest.cc): those of YAML 1.1, as kubectl has them. `yaml`'s own sets of tags
// differ from it in octal numbers, dates and base 60.

import type { ScalarTag } from "yaml";

const NULL = /^(?:~|null|Null|NULL)?$/;
const TRUE = /^(?:y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$/;
const BOOLEAN =
  /^(?:y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON|n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/;
const INTEGER = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const NOT_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** Underscores between digits are for people; those of ".5_0" are not read away. */
function plain(text: string): string {
  if (!/^[-+.0-9]/.test(text)) return "";
  return text.startsWith(".") ? text : text.replaceAll("_", "");
}

function readInteger(text: string): number {
  const digits = plain(text).replace(/^[-+]/, "");
  const sign = text.startsWith("-") ? -1 : 1;
  if (/^0[0-7oO]/.test(digits)) return sign * parseInt(digits.replace(/^0[oO]?/, ""), 8);
  return sign * Number(digits);
}

// `yaml` only ever calls test(): what a RegExp alone cannot say is said by a method of this name.
function testing(test: (text: string) => boolean): RegExp {
  const pattern = /^/;
  pattern.test = test;
  return pattern;
}

export const SCALARS: ScalarTag[] = [
  {
    tag: "tag:yaml.org,2002:null",
    default: true,
    identify: (value) => value === null,
    test: NULL,
    resolve: () => null,
    stringify: () => "null",
  },
  {
    tag: "tag:yaml.org,2002:bool",
    default: true,
    identify: (value) => typeof value === "boolean",
    test: BOOLEAN,
    resolve: (text) => TRUE.test(text),
  },
  {
    tag: "tag:yaml.org,2002:int",
    default: true,
    identify: (value) => Number.isInteger(value),
    test: testing((text) => INTEGER.test(plain(text))),
    resolve: readInteger,
    stringify: ({ value }) => String(value),
  },
  {
    tag: "tag:yaml.org,2002:float",
    default: true,
    identify: (value) => typeof value === "number",
    test: testing((text) => FLOAT.test(plain(text)) || NOT_FINITE.test(text)),
    resolve: (text, onError) => {
      const value = Number(plain(text));
      if (!Number.isFinite(value)) onError(`JSON has no ${text}`);
      return value;
    },
    stringify: ({ value }) => String(value),
  },
];

/** What a person has typed for a number or another scalar, as YAML would read it. */
export function readScalar(text: string): string | number | boolean | null {
  for (const tag of SCALARS) {
    if (tag.test?.test(text)) return tag.resolve(text, () => undefined, {}) as number;
  }
  return text;
}
