import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { JobKind } from "../../../api/types";
import { readManifest } from "../manifest/read";
import type { Json, Key, Path } from "../manifest/path";
import {
  isObject,
  isWithin,
  pathText,
  readFieldPath,
  withoutValue,
  withValue,
} from "../manifest/path";
import EXAMPLES from "../templates/examples.json";
import { checkManifest } from "./check";
import { kindOf } from "./schema";

function issuesOf(kind: JobKind, value: Json): string[] {
  return checkManifest(kind, value).map(
    ({ path, finding }) => `${pathText(path)}: ${finding.code}`,
  );
}

describe("a manifest of the examples", () => {
  test.each(Object.entries(EXAMPLES))("%s has nothing wrong", (_, text) => {
    const reading = readManifest(text);
    const value = reading.ok ? reading.manifest.value : null;
    expect(issuesOf(kindOf(value) ?? "TFJob", value)).toEqual([]);
  });
});

// The cases on which operator/api and a real kube-apiserver agree.
interface Case {
  name: string;
  verdict: "accepted" | "undecodable" | "invalid";
  field?: string;
  set?: Record<string, Json>;
  remove?: string[];
  raw?: string;
  before?: unknown;
}

function pointer(text: string, value: Json): Path {
  const path: Key[] = [];
  for (const part of text.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    let at: Json | undefined = value;
    for (const one of path) at = (at as never)?.[one];
    path.push(Array.isArray(at) ? Number(key) : key);
  }
  return path;
}

function objectOf(base: Json, one: Case): Json | undefined {
  if (one.raw !== undefined) {
    try {
      return JSON.parse(one.raw) as Json;
    } catch {
      return undefined;
    }
  }
  let value = base;
  for (const [at, next] of Object.entries(one.set ?? {})) {
    value = withValue(value, pointer(at, value), next);
  }
  for (const at of one.remove ?? []) value = withoutValue(value, pointer(at, value));
  return value;
}

// Rules between fields, in CEL: the server's dry run finds them.
const RULES: Record<JobKind, string> = {
  TrainingJob: `NoTrainer NullTrainer NameTooLong CodeInBothLists PortOfStatus EnvWithTwoValues
    EnvOfTheOperator EnvOfTheTrainer EnvOfElasticWorkers SidecarWithoutImage OwnImageWithoutTemplate
    OwnImageWithoutImage OwnImageWithoutContainers OwnImageWithTwoContainersOfOtherNames
    EvaluatorWithoutCheckpoints GangOfMoreThanAll WorkerPolicyWithoutWorkers
    NameTooLongForTheEvaluator SyncOfOneProcess BackupsOfAsync AggregateOfAsync
    StalenessOfSync StalenessOfOneProcess
    NarrowGradientsOfOneProcess PrecisionOfTowers
    BackupsAndAggregate AllAreBackups TowersOfParameterServers TowersWithPs TowersWithTwoWorkers
    AllReduceWithPs AllReduceInSync HeartbeatOfParameterServers ElasticBelow ElasticAbove
    ElasticUpsideDown ElasticParameterServers ElasticOfManyDigits ElasticOfThreeAndFour
    NameTooLongForItsTenthWorker EmptyRoles OnlyParameterServers NobodyTrains
    ParameterServerStrategyWithoutPs ParameterServerStrategyWithNoPsReplica LocalWithPs
    LocalWithTwoWorkers LocalWithChiefAndWorker IdxWithoutFiles GeneratedWithFiles
    AugmentedTable BytesThatAreNotDecoded CifarOptionsOfIdx CifarWithoutFiles ClassesOfIdx
    CsvOptionsOfIdx CsvWithoutOptions FilesAndImages FilesOfIdx FloatsThatAreDecoded ImagesOfCifar
    ImagesOfCifarTest LabelIsNoFeature NoFilesAtAll NoImages NoLabels NoTestImages
    CrossedWithoutSources CrossedWithASource CrossedWithADefault HashedWithoutBuckets
    NumericWithBuckets BucketizedWithoutBoundaries VocabularyWithoutValues HashedWithOov
    HashedNormalised ColumnsOfImages ColumnsBesideThoseOfTheFile ClicksWithoutColumns
    ColumnsOfCentres
    RawDtypeWithoutDecode RawWithoutOptions RecordsWithoutOptions VarLenWithoutAShape
    StreamedGzip StreamedIdx StreamedTable StreamedWithoutClasses StreamedZlib
    IdxWithOptionsOfGenerated TextWithoutFiles TextOfImages TextOptionsOfIdx TextThatIsAugmented
    MountPathTwice MountPathAboveItself ClipOfNothing ClipTwice
    CosineWithRate CosineWithStaircase CosineWithoutSteps DecayWithoutRate DecayWithoutSteps
    ExponentialWithAlpha ExponentialWithBoundaries StepWithOneRateTooMany StepWithSteps
    StepWithoutRates`,
  TFJob: `UnknownRole TwoKeysOfOneRole ChiefAndMaster TwoChiefs TwoMasters OnlyParameterServers
    NobodyTrains NoContainerNamedTensorflow MinAvailableAboveTotal NameTooLong
    NameTooLongForTheEvaluator NameTooLongForItsEleventhWorker`,
};

const FILES: [JobKind, string][] = [
  ["TrainingJob", "manifests.yaml"],
  ["TFJob", "tfjob_manifests.yaml"],
];

describe.each(FILES)("of the cases for a %s", (kind, file) => {
  const path = `../../operator/api/testdata/${file}`;
  const { base, cases } = parse(readFileSync(path, "utf8"), { merge: true }) as {
    base: Json;
    cases: Case[];
  };
  const created = cases.filter((one) => one.before === undefined);

  test("what a server accepts is accepted", () => {
    for (const one of created.filter(({ verdict }) => verdict === "accepted")) {
      const value = objectOf(base, one);
      if (value !== undefined) expect(issuesOf(kind, value), one.name).toEqual([]);
    }
  });

  test("what a server refuses by the schema is refused, at the same field", () => {
    const unseen: string[] = [];
    for (const one of created.filter(({ verdict }) => verdict !== "accepted")) {
      const value = objectOf(base, one);
      // What is no object or of another kind is not the schema's to say; a key that stands twice is
      // found by the reader of the text.
      if (!isObject(value) || kindOf(value) !== kind || one.name === "KeyTwice") continue;
      const found = checkManifest(kind, value).map((issue) => issue.path);
      const field = readFieldPath(one.field ?? "", value);
      const there = found.some((path) => isWithin(path, field) || isWithin(field, path));
      if (!there) unseen.push(one.name);
    }
    expect(unseen.sort()).toEqual(RULES[kind].split(/\s+/).sort());
  });
});
