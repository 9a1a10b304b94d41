// Where the data comes from.

import { Button } from "antd";
import type { ReactNode } from "react";
import { useSession } from "../../../app/session";
import { useText } from "../../../i18n";
import { NAMESPACE } from "../model/fields";
import type { Path } from "../manifest/path";
import { textOf, valueAt } from "../manifest/path";
import { DATA, dataVolume, FILES, formatOps, volumeOps } from "../model/data";
import { CHECKPOINT_DIR, isOwn, ownDirectoryOps } from "../model/directories";
import { listOps } from "../model/lists";
import { programOf } from "../model/roles";
import { ChoiceField, ListField, NumberField, PartField, TextField } from "./controls";
import { useEditing } from "./editing";
import { Group } from "./Group";

export function DataGroup(): ReactNode {
  const { t } = useText();
  const { kind, manifest } = useEditing();
  const bundled = programOf(kind, manifest.value) === "bundled";
  const format = valueAt(manifest.value, [...DATA, "format"]);
  return (
    <Group title={t.submit.group.data}>
      {bundled && <FormatField />}
      {bundled && format === "generated" ? (
        <GeneratedFields />
      ) : (
        <>
          <VolumeFields />
          {/* Of the other formats the files are among the other fields. */}
          {bundled && (format === undefined || format === "idx") && <FileFields />}
          {bundled && format === "text" && <TextFields />}
        </>
      )}
      {bundled && <CheckpointNote />}
    </Group>
  );
}

function FormatField(): ReactNode {
  const { t } = useText();
  const { manifest } = useEditing();
  const { data } = t.submit;
  const format = valueAt(manifest.value, [...DATA, "format"]);
  const generated = format === "generated";
  // A format of another template is kept until one of these is chosen.
  const others = typeof format === "string" && !FORMATS.includes(format) ? [format] : [];
  return (
    <ChoiceField
      path={[...DATA, "format"]}
      label={data.format}
      hint={generated ? data.generatedHint : data.idxHint}
      values={[...FORMATS, ...others]}
      meaning={(value) => data.formats[value]}
      ops={(value) => formatOps(manifest.value, value)}
    />
  );
}

const FORMATS = ["idx", "generated"];

/** What a model of texts reads, and how much of it at once. */
function TextFields(): ReactNode {
  const { t } = useText();
  const { data, field, hint } = t.submit;
  return (
    <>
      <PathsField path={[...DATA, "train", "files"]} label={data.trainFiles} />
      <PathsField path={[...DATA, "test", "files"]} label={data.testFiles} />
      <NumberField
        path={[...DATA, "text", "context"]}
        label={field.context}
        hint={hint.context}
      />
    </>
  );
}

function PathsField({ path, label }: { path: Path; label: string }): ReactNode {
  const { t } = useText();
  const { manifest, apply } = useEditing();
  return (
    <ListField
      path={path}
      label={label}
      hint={t.submit.data.filesHint}
      wrong=""
      parse={(text) => text.split(/[,，\s]+/).filter((part) => part !== "")}
      join={(values) => values.map(textOf).join(", ")}
      change={(next) => apply(listOps(path, valueAt(manifest.value, path), next))}
    />
  );
}

function FileFields(): ReactNode {
  const { t } = useText();
  const { manifest } = useEditing();
  const { data } = t.submit;
  const test = [...DATA, "test"];
  return (
    <>
      <TextField path={[...DATA, "train", "images"]} label={data.trainImages} />
      <TextField path={[...DATA, "train", "labels"]} label={data.trainLabels} />
      <PartField path={test} label={data.test} fresh={FILES.test} wide />
      {valueAt(manifest.value, test) !== undefined && (
        <>
          <TextField path={[...test, "images"]} label={data.testImages} />
          <TextField path={[...test, "labels"]} label={data.testLabels} />
        </>
      )}
    </>
  );
}

function GeneratedFields(): ReactNode {
  const { t } = useText();
  const { field, hint } = t.submit;
  const around = [...DATA, "generated"];
  return (
    <>
      <NumberField path={[...around, "examples"]} label={field.examples} />
      <NumberField path={[...around, "testExamples"]} label={field.testExamples} />
      <NumberField path={[...around, "features"]} label={field.features} />
      <NumberField path={[...around, "classes"]} label={field.classes} hint={hint.classes} />
    </>
  );
}

// What `taas data fetch` gets of a format.
const FETCHED: Partial<Record<string, string>> = { idx: "mnist", text: "text", cifar10: "cifar10" };

// The claim that a form proposes is called as its volume is.
const NEW_CLAIM = "data";

function VolumeFields(): ReactNode {
  const { t } = useText();
  const { local } = useSession();
  const { kind, manifest, namespace, disabled, apply } = useEditing();
  const { value } = manifest;
  const { data } = t.submit;
  const volume = dataVolume(kind, value);
  if (!volume) {
    return (
      <div className="submit-field-wide submit-inline">
        <span className="muted">{data.none}</span>
        <Button disabled={disabled} onClick={() => apply(volumeOps(kind, value, NEW_CLAIM))}>
          {data.mount}
        </Button>
      </div>
    );
  }
  const place = valueAt(value, NAMESPACE);
  const claim = volume.claim && valueAt(value, volume.claim);
  const where = typeof place === "string" ? place : namespace;
  const format = valueAt(value, [...DATA, "format"]);
  const fetches = programOf(kind, value) === "bundled" ? FETCHED[textOf(format ?? "idx")] : "mnist";
  const hint = local ? data.localHint(where, textOf(claim ?? NEW_CLAIM), fetches) : data.claimHint;
  return (
    <>
      {volume.claim ? (
        <TextField path={volume.claim} label={data.claim} />
      ) : (
        <div className="submit-field muted">{data.otherSort(volume.sort)}</div>
      )}
      {/* Of the bundled trainer's data the files say it. */}
      {volume.mountPath && programOf(kind, value) !== "bundled" && (
        <TextField path={volume.mountPath} label={data.mountPath} />
      )}
      {volume.claim && <p className="submit-field-wide submit-hint">{hint}</p>}
    </>
  );
}

/** Where the job goes on from, and who else would. */
function CheckpointNote(): ReactNode {
  const { t } = useText();
  const { manifest, disabled, apply } = useEditing();
  const { value } = manifest;
  const { data } = t.submit;
  const dir = valueAt(value, CHECKPOINT_DIR);
  if (typeof dir !== "string" || dir === "") return null;
  return (
    <div className="submit-field-wide submit-hint">
      <bdi>{data.checkpoints(dir)}</bdi>
      {!isOwn(value, CHECKPOINT_DIR) && (
        <>
          {" "}
          {data.sharedCheckpoints}
          <Button
            type="link"
            size="small"
            disabled={disabled}
            onClick={() => apply(ownDirectoryOps(value))}
          >
            {data.ownCheckpoints}
          </Button>
        </>
      )}
    </div>
  );
}
