// "I need four workers with two GPUs each: where is room now, or else when?"

import { Button, InputNumber, Select } from "antd";
import type { ReactNode } from "react";
import { useMemo, useState } from "react";
import { jobKey } from "../../api/paths";
import { useLiveJobs } from "../../api/use_stream";
import { Glyph } from "../../components/Glyph";
import { JobLink } from "../../components/JobLink";
import { productName } from "../../components/product";
import { useText } from "../../i18n";
import type { NodeCells } from "./cells";
import type { Finding, Wish } from "./finder";
import { find } from "./finder";
import { optionsOf } from "./view";
import { GPUS_MAX, WORKERS_MAX } from "./wish";

// Of nodes and jobs in one line.
const NAMED_MAX = 6;

interface Props {
  nodes: readonly NodeCells[];
  /** What is asked first; the user may change it. */
  first: Wish | undefined;
  onIdle: () => void;
}

const USUAL: Wish = { workers: 4, gpus: 1, product: "" };

export function Finder({ nodes, first = USUAL, onIdle }: Props): ReactNode {
  const { t } = useText();
  const [wish, setWish] = useState<Wish>(first);
  const etas = useEtas();
  const findings = useMemo(() => find(nodes, wish, (job) => etas.get(job)), [nodes, wish, etas]);
  const { products } = useMemo(() => optionsOf(nodes), [nodes]);
  const words = t.gpus.finder;
  return (
    <section className="gpus-finder" aria-label={words.title}>
      <div className="gpus-finder-wish">
        <h2>{words.title}</h2>
        <Amount
          label={words.workers}
          value={wish.workers}
          max={WORKERS_MAX}
          onChange={(workers) => setWish({ ...wish, workers })}
        />
        <Amount
          label={words.each}
          value={wish.gpus}
          max={GPUS_MAX}
          onChange={(gpus) => setWish({ ...wish, gpus })}
        />
        {products.length > 1 && (
          <Select
            aria-label={words.product}
            value={wish.product}
            options={[
              { value: "", label: words.any },
              ...products.filter(Boolean).map((value) => ({
                value,
                label: productName(value, t),
              })),
            ]}
            onChange={(product) => setWish({ ...wish, product })}
            popupMatchSelectWidth={false}
          />
        )}
        <span className="muted">{words.note}</span>
      </div>
      <ul className="gpus-findings" aria-live="polite">
        {findings.map((finding) => (
          <li key={finding.product}>
            <Answer finding={finding} wish={wish} onIdle={onIdle} />
          </li>
        ))}
        {findings.length === 0 && <li>{words.noNodes}</li>}
      </ul>
    </section>
  );
}

/** When trainers expect to be done, by job, in seconds from now. */
function useEtas(): Map<string, number> {
  const { rows } = useLiveJobs();
  return useMemo(() => {
    const etas = new Map<string, number>();
    for (const row of rows) {
      const eta = row.state === "Running" ? row.progress?.etaSeconds : undefined;
      if (eta !== undefined && eta >= 0) etas.set(jobKey(row), eta);
    }
    return etas;
  }, [rows]);
}

interface AmountProps {
  label: string;
  value: number;
  max: number;
  onChange: (value: number) => void;
}

function Amount({ label, value, max, onChange }: AmountProps): ReactNode {
  return (
    <label className="gpus-amount">
      {label}
      <InputNumber
        aria-label={label}
        min={1}
        max={max}
        precision={0}
        value={value}
        onChange={(next) => {
          // While it is empty the last number counts.
          if (next !== null) onChange(next);
        }}
      />
    </label>
  );
}

interface AnswerProps {
  finding: Finding;
  wish: Wish;
  onIdle: () => void;
}

function Answer({ finding, wish, onIdle }: AnswerProps): ReactNode {
  const { t } = useText();
  const words = t.gpus.finder;
  const { product, fits, places, nodeSize, largest } = finding;
  const enough = fits >= wish.workers;
  const never = nodeSize < wish.gpus;
  return (
    <>
      <p className="gpus-finding">
        <Glyph name={enough ? "ok" : never ? "critical" : "pending"} tone={tone(enough, never)} />
        <b>
          <bdi>{product === "" ? words.unlabelled : productName(product, t)}</bdi>
        </b>
        <span>
          {enough ? words.fits(wish.workers) : !never && words.fitsSome(fits, wish.workers)}
          {never && words.never(nodeSize)}
        </span>
      </p>
      {places.length > 0 && (
        <p className="gpus-finding-more">
          {places.slice(0, NAMED_MAX).map(({ node, workers }) => (
            <span key={node} className="gpus-place">
              <bdi>{words.place(node, workers)}</bdi>
            </span>
          ))}
          {places.length > NAMED_MAX && words.placesMore(places.length - NAMED_MAX)}
        </p>
      )}
      {!enough && !never && (
        <>
          {fits === 0 && <p className="gpus-finding-more">{words.largest(largest)}</p>}
          <Later finding={finding} onIdle={onIdle} />
        </>
      )}
    </>
  );
}

function tone(enough: boolean, never: boolean): string {
  return enough ? "ok" : never ? "critical" : "muted";
}

function Later({ finding, onIdle }: { finding: Finding; onIdle: () => void }): ReactNode {
  const { t, format } = useText();
  const words = t.gpus.finder;
  const { wait, fitsWithoutIdle } = finding;
  return (
    <>
      {wait ? (
        <p className="gpus-finding-more">
          {words.wait(format.span(wait.seconds))}{" "}
          {wait.jobs.slice(0, NAMED_MAX).map((job) => (
            <span key={jobKey(job)} className="gpus-place">
              <JobLink job={job} full />
            </span>
          ))}
          {wait.jobs.length > NAMED_MAX && words.waitMore(wait.jobs.length - NAMED_MAX)}
        </p>
      ) : (
        <p className="gpus-finding-more">{words.unknown}</p>
      )}
      {fitsWithoutIdle && (
        <p className="gpus-finding-more">
          {words.withoutIdle}{" "}
          <Button size="small" onClick={onIdle}>
            {words.showIdle}
          </Button>
        </p>
      )}
    </>
  );
}
