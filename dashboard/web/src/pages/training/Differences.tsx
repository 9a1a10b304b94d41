// What the manifests of the compared jobs have that is not the same in all of them.

import type { ReactNode } from "react";
import { useId, useMemo } from "react";
import type { JobRef } from "../../api/paths";
import { visible } from "../../components/visible";
import { useText } from "../../i18n";
import type { Run } from "./curves";
import { differences } from "./spec_diff";
import { useSpecs } from "./use_specs";

interface Props {
  job: JobRef;
  /** The page's own first. */
  runs: readonly Run[];
}

// Jobs that have little in common differ in hundreds of fields, which nobody reads.
const ROWS_MAX = 100;
// A program's text in a field would push all others out of sight.
const VALUE_MAX = 200;

export function Differences({ job, runs }: Props): ReactNode {
  const { t } = useText();
  const words = t.training;
  const title = useId();
  const keys = useMemo(() => runs.slice(1).map(({ key }) => key), [runs]);
  const specs = useSpecs(job, keys);
  const rows = useMemo(() => differences(specs.map(({ spec }) => spec)), [specs]);
  if (specs.length === 0) return null;
  const unknown = runs.filter((_, index) => specs[index]?.failed);
  const complete = specs.every(({ spec, failed }) => spec !== undefined || failed);
  return (
    <section className="training-numbers">
      <h2 id={title}>{words.differences}</h2>
      {unknown.map(({ key, label }) => (
        <p key={key} className="muted">
          <bdi>{words.specUnknown(label)}</bdi>
        </p>
      ))}
      {rows.length === 0 && complete && unknown.length + 1 < runs.length && (
        <p className="muted">{words.noDifferences}</p>
      )}
      {rows.length > 0 && (
        // Scrolls by the keyboard, too.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <div className="training-scroll" role="region" aria-labelledby={title} tabIndex={0}>
          <table className="curve-data training-differences">
            <thead>
              <tr>
                <th scope="col">{words.field}</th>
                {runs.map(({ key, label }) => (
                  <th key={key} scope="col">
                    <bdi>{label}</bdi>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, ROWS_MAX).map(({ path, values }) => (
                <tr key={path}>
                  <th scope="row">
                    <code>{visible(path)}</code>
                  </th>
                  {values.map((value, index) => (
                    <td key={runs[index]?.key ?? index}>
                      {value === undefined ? "–" : <code>{shown(value)}</code>}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > ROWS_MAX && (
        <p className="muted">{words.moreDifferences(rows.length - ROWS_MAX)}</p>
      )}
    </section>
  );
}

function shown(value: string): string {
  const characters = [...value.slice(0, 2 * VALUE_MAX)];
  const cut = characters.length > VALUE_MAX || value.length > 2 * VALUE_MAX;
  return visible(cut ? `${characters.slice(0, VALUE_MAX).join("")}…` : value);
}
