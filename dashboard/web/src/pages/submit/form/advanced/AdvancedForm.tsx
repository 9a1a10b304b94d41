// All the rest of a job, in sections that open.

import { Badge, Collapse } from "antd";
import type { ReactNode } from "react";
import { useText } from "../../../../i18n";
import { OPTIMIZERS } from "../../checks/trainer_findings";
import type { Path } from "../../manifest/path";
import { SuggestField } from "../controls";
import { useEditing } from "../editing";
import type { FieldSpec } from "../ScalarField";
import { Fields, ScalarField } from "../ScalarField";
import { MetadataSection } from "./MetadataSection";
import { RolesSection } from "./RolesSection";
import { SchedulingSection } from "./SchedulingSection";
import type { Section } from "./sections";
import { isSimple, lifetimeFields, savingFields, sectionOf, sectionsOf } from "./sections";
import { trainingFields } from "./sections";
import { VolumesSection } from "./VolumesSection";

interface Props {
  open: Section[];
  onOpen: (open: Section[]) => void;
}

export function AdvancedForm({ open, onOpen }: Props): ReactNode {
  const { t } = useText();
  const { kind, manifest, issues, isOnForm } = useEditing();
  const wrong = (section: Section): number =>
    issues.filter(
      ({ path }) => isOnForm(path) && !isSimple(path) && sectionOf(path) === section,
    ).length;
  return (
    <Collapse
      className="submit-sections"
      activeKey={open}
      onChange={(keys) => onOpen(keys as Section[])}
      destroyOnHidden
      items={sectionsOf(kind, manifest.value).map((section) => ({
        key: section,
        label: <h2>{t.submit.section[section]}</h2>,
        extra: <Wrong count={wrong(section)} />,
        children: <SectionBody section={section} />,
      }))}
    />
  );
}

export function Wrong({ count }: { count: number }): ReactNode {
  const { t } = useText();
  if (count === 0) return null;
  return <Badge count={count} size="small" title={t.submit.status.problems(count)} />;
}

function SectionBody({ section }: { section: Section }): ReactNode {
  const { t } = useText();
  const { kind, manifest } = useEditing();
  switch (section) {
    case "roles":
      return <RolesSection />;
    case "training":
      return <TrainingFields specs={trainingFields(manifest.value)} />;
    case "saving":
      return <Fields specs={savingFields(manifest.value)} />;
    case "volumes":
      return <VolumesSection />;
    case "lifetime":
      return <Fields specs={lifetimeFields(kind, manifest.value, t.submit)} />;
    case "scheduling":
      return <SchedulingSection />;
    case "metadata":
      return <MetadataSection />;
  }
}

const OPTIMIZER: Path = ["spec", "trainer", "optimizer", "name"];

function TrainingFields({ specs }: { specs: FieldSpec[] }): ReactNode {
  const { t } = useText();
  const rate = specs.findIndex(({ label }) => label === "learningRate");
  const parts = [specs.slice(0, rate), specs.slice(rate)];
  return (
    <>
      <Fields specs={parts[0] ?? []} />
      <div className="submit-grid">
        {/* An open set: another release of the trainer may have more. */}
        <SuggestField
          path={OPTIMIZER}
          keep={2}
          label={t.submit.field.optimizer}
          options={OPTIMIZERS.map((value) => ({
            value,
            label: `${value} – ${t.submit.optimizer[value]}`,
          }))}
        />
        {(parts[1] ?? []).map((spec) => (
          <ScalarField key={spec.path.join(".")} {...spec} />
        ))}
      </div>
    </>
  );
}
