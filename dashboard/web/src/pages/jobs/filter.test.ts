import { describe, expect, test } from "vitest";
import { row } from "../../testing/rows";
import type { Filter } from "./filter";
import {
  DEFAULT_SORT,
  isFiltered,
  matcher,
  NO_FILTER,
  readFilter,
  readSort,
  writeFilter,
  writeSort,
} from "./filter";

const EVERYTHING: Filter = {
  text: "bert & co + 作业",
  health: ["critical", "warning"],
  state: ["Running", "Failed"],
  kind: ["TFJob"],
  owner: ["ada, countess", "li.na"],
  label: ["team=a,b=c", "tier"],
};

/** As the browser does: through the text of an address. */
const reopened = (search: URLSearchParams): URLSearchParams => new URLSearchParams(`${search}`);

describe("the filter in the URL", () => {
  test("comes back as it was written, whatever is in the names", () => {
    const search = reopened(writeFilter(EVERYTHING, new URLSearchParams()));
    expect(readFilter(search)).toEqual(EVERYTHING);
  });

  test("leaves the parameters of others alone, and goes without a trace", () => {
    const others = new URLSearchParams("ns=ml&sort=-age");
    const with_ = writeFilter(EVERYTHING, others);
    expect(with_.get("ns")).toBe("ml");
    expect(`${writeFilter(NO_FILTER, with_)}`).toBe("ns=ml&sort=-age");
  });

  test("ignores words that it does not know", () => {
    const search = new URLSearchParams("health=critical,evil&state=__proto__&kind=&owner=&label=");
    expect(readFilter(search)).toEqual({ ...NO_FILTER, health: ["critical"] });
  });

  test("knows whether it filters", () => {
    expect(isFiltered(NO_FILTER)).toBe(false);
    expect(isFiltered({ ...NO_FILTER, text: "  " })).toBe(false);
    expect(isFiltered({ ...NO_FILTER, owner: ["ada"] })).toBe(true);
  });
});

describe("the order in the URL", () => {
  test("comes back as it was written; the default leaves no trace", () => {
    const sort = { column: "age", descending: true } as const;
    expect(readSort(reopened(writeSort(sort, new URLSearchParams())))).toEqual(sort);
    expect(`${writeSort(DEFAULT_SORT, new URLSearchParams("sort=-age"))}`).toBe("");
  });

  test("is the default for a column that is none", () => {
    for (const wrong of ["", "-", "message", "constructor", "-nothing"]) {
      expect(readSort(new URLSearchParams({ sort: wrong }))).toEqual(DEFAULT_SORT);
    }
  });
});

describe("what a filter lets through", () => {
  const rows = [
    row("bert-1", { owner: "ada", labels: { team: "nlp", tier: "" }, message: "Out of MEMORY" }),
    row("bert-2", { health: "critical", state: "Failed", labels: { team: "cv" } }),
    row("gpt-1", { kind: "TFJob", namespace: "research", queue: "gpu-a100", health: "warning" }),
  ];
  const names = (change: Partial<Filter>): string[] =>
    rows.filter(matcher({ ...NO_FILTER, ...change })).map((one) => one.name);

  test.each<[string, Partial<Filter>, string[]]>([
    ["nothing set: all", {}, ["bert-1", "bert-2", "gpt-1"]],
    ["a text in the name", { text: "BERT" }, ["bert-1", "bert-2"]],
    ["all words, each anywhere", { text: " memory  ada " }, ["bert-1"]],
    ["namespace/name", { text: "research/g" }, ["gpt-1"]],
    ["a text in the queue", { text: "a100" }, ["gpt-1"]],
    ["one of several healths", { health: ["critical", "warning"] }, ["bert-2", "gpt-1"]],
    ["a state", { state: ["Failed"] }, ["bert-2"]],
    ["a kind", { kind: ["TFJob"] }, ["gpt-1"]],
    ["an owner", { owner: ["ada"] }, ["bert-1"]],
    ["a label with a value", { label: ["team=nlp"] }, ["bert-1"]],
    ["a label with an empty value", { label: ["tier="] }, ["bert-1"]],
    ["a label with any value", { label: ["team"] }, ["bert-1", "bert-2"]],
    ["all labels", { label: ["team=cv", "tier"] }, []],
    ["all conditions at once", { text: "bert", health: ["ok"] }, ["bert-1"]],
  ])("%s", (_, change, expected) => {
    expect(names(change)).toEqual(expected);
  });
});
