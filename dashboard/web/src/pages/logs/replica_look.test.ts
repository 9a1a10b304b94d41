import { expect, test } from "vitest";
import { DARK, LIGHT } from "../../app/palette";
import {
  colourOfReplica,
  compareReplicas,
  partsOfReplica,
  REPLICA_DARK,
  REPLICA_LIGHT,
} from "./replica_look";

function luminance(colour: string): number {
  const parts = [1, 3, 5].map((at) => {
    const value = parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (parts[0] ?? 0) + 0.7152 * (parts[1] ?? 0) + 0.0722 * (parts[2] ?? 0);
}

function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

test("every colour of a replica is legible on every ground that a line has", () => {
  for (const [colours, palette] of [
    [REPLICA_LIGHT, LIGHT],
    [REPLICA_DARK, DARK],
  ] as const) {
    for (const colour of colours) {
      for (const ground of ["surface", "hover", "selected", "infoSoft"] as const) {
        const ratio = contrast(colour, palette[ground]);
        expect(ratio, `${colour} on ${ground}`).toBeGreaterThanOrEqual(4.5);
      }
    }
    expect(new Set(colours).size).toBe(12);
  }
});

test("replicas of a usual job differ, and the same name has the same colour", () => {
  const names = ["chief-0", "ps-0", "ps-1", "worker-0", "worker-1", "evaluator-0"];
  expect(new Set(names.map(colourOfReplica)).size).toBe(names.length);
  expect(colourOfReplica("worker-12")).toBe(colourOfReplica("worker-0"));
});

test("names are in the order of roles and indexes", () => {
  const names = ["worker-10", "evaluator-0", "worker-2", "ps-1", "chief-0", "ps-0"];
  expect(names.sort(compareReplicas)).toEqual([
    "chief-0",
    "ps-0",
    "ps-1",
    "worker-2",
    "worker-10",
    "evaluator-0",
  ]);
  expect(partsOfReplica("odd")).toEqual(["odd", 0]);
});
