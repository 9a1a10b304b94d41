// Last, least and most of each curve of each job.

import type { ReactNode } from "react";
import { useId } from "react";
import { useTheme } from "../../app/theme";
import { useText, wordFor } from "../../i18n";
import { valueText } from "./axis_text";
import type { Chart } from "./curves";
import { rangeOf } from "./curves";
import { Swatch } from "./Legend";
import { lineStyle } from "./line_style";

export function NumbersTable({ charts }: { charts: readonly Chart[] }): ReactNode {
  const { t, format } = useText();
  const { dark } = useTheme();
  const words = t.training;
  // Two numbers of one name would be taken for one.
  const names = {
    ofTest: { ...words.tags, ...words.tagsOfTest },
    ofTraining: { ...words.tags, ...words.tagsOfTraining },
  };
  const title = useId();
  return (
    <section className="training-numbers">
      <h2 id={title}>{words.inNumbers}</h2>
      {/* Scrolls by the keyboard, too. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="training-scroll" role="region" aria-labelledby={title} tabIndex={0}>
        <table className="curve-data">
          <thead>
            <tr>
              <th scope="col">{words.curve}</th>
              <th scope="col">{words.job}</th>
              <th scope="col">{words.last}</th>
              <th scope="col">{words.min}</th>
              <th scope="col">{words.max}</th>
              <th scope="col">{words.lastStep}</th>
            </tr>
          </thead>
          <tbody>
            {charts.flatMap(({ tag, lines }) =>
              lines.map((line) => {
                const range = rangeOf(line.points);
                return (
                  <tr key={`${tag}\n${line.id}`}>
                    <th scope="row">
                      <bdi>{wordFor(names[line.ofTest ? "ofTest" : "ofTraining"], tag)}</bdi>
                    </th>
                    <td>
                      <Swatch style={lineStyle(line, dark)} /> <bdi>{line.label}</bdi> ·{" "}
                      {line.ofTest ? words.test : words.train}
                    </td>
                    <td className="numeric">{valueText(range?.last)}</td>
                    <td className="numeric">{valueText(range?.min)}</td>
                    <td className="numeric">{valueText(range?.max)}</td>
                    <td className="numeric">{range ? format.number(range.step) : "–"}</td>
                  </tr>
                );
              }),
            )}
          </tbody>
        </table>
      </div>
    </section>
  );
}
