import { expect, test } from "vitest";
import { comparedOf, COMPARED_MAX, PLAIN, readSettings, writeSettings } from "./settings";

const read = (text: string) => readSettings(new URLSearchParams(text));

test("what is set is in the URL, and what is as usual is not", () => {
  expect(writeSettings(PLAIN, new URLSearchParams("ns=ml")).toString()).toBe("ns=ml");
  const settings = {
    ...PLAIN,
    axis: "wall" as const,
    weight: 0,
    log: true,
    outliers: true,
    tags: "loss|acc",
    zoom: [100, 200.5] as const,
    compared: ["ml/tfjobs/b", "history:u-1", "cv/trainingjobs/c"],
    histograms: {
      ...{ mode: "overlay" as const, run: "eval", layers: "hid", height: "count" as const },
      ...{ log: true, step: 300 },
    },
  };
  const search = writeSettings(settings, new URLSearchParams());
  expect(search.get("with")).toBe("ml/tfjobs/b,cv/trainingjobs/c");
  expect(search.get("history")).toBe("u-1");
  expect({ ...readSettings(search), compared: [] }).toEqual({ ...settings, compared: [] });
  expect(readSettings(search).compared.sort()).toEqual([...settings.compared].sort());
});

test("nonsense in the URL is passed over", () => {
  expect(read("smooth=x&axis=up&from=9&to=1&with=a,b/c/d,&history=")).toEqual(PLAIN);
  expect(read("mode=x&height=y&hstep=z")).toEqual(PLAIN);
  expect(read("smooth=7").weight).toBe(0.999);
  expect(read("smooth=-1").weight).toBe(0);
});

test("a job is compared once, and no more jobs than can be told apart", () => {
  expect(read("with=ml/tfjobs/a,ml/tfjobs/a").compared).toEqual(["ml/tfjobs/a"]);
  const many = Array.from({ length: 30 }, (_, index) => `ml/tfjobs/j${index}`).join(",");
  expect(read(`with=${many}`).compared).toHaveLength(COMPARED_MAX);
});

test("keys are jobs or uids of the history", () => {
  const job = { kind: "TFJob", namespace: "ml", name: "a" };
  expect(comparedOf("ml/tfjobs/a")).toEqual({ job });
  expect(comparedOf("history:u")).toEqual({ uid: "u" });
  expect(comparedOf("ml/pods/a")).toBeUndefined();
  expect(comparedOf("ml/tfjobs/%")).toEqual({ job: { ...job, name: "%" } });
});
