// The names of the jobs on the map beside their looks: nobody guesses three letters. A click shows
// one job's GPUs.

import type { ReactNode } from "react";
import { useMemo, useState } from "react";
import type { GpuMap } from "../../api/types";
import { useTheme } from "../../app/theme";
import { useText } from "../../i18n";
import { jobsOnMap } from "./job_keys";
import { Face } from "./Square";

// Two lines of them; the table has all.
const SHOWN_FIRST = 12;

interface Props {
  map: GpuMap;
  /** That the map shows alone; "": none. */
  job: string;
  onJob: (job: string) => void;
}

export function JobKeys({ map, job, onJob }: Props): ReactNode {
  const { t, format } = useText();
  const { dark } = useTheme();
  const [all, setAll] = useState(false);
  const jobs = useMemo(() => jobsOnMap(map), [map]);
  if (jobs.length === 0) return null;
  const shown = all ? jobs : jobs.slice(0, SHOWN_FIRST);
  return (
    <ul className={dark ? "gpus-keys gpus-dark" : "gpus-keys"} aria-label={t.gpus.jobsHere}>
      {shown.map((one) => (
        <li key={one.group}>
          <button
            type="button"
            className="gpus-key"
            disabled={one.job === undefined}
            aria-pressed={one.job !== undefined && one.job === job}
            title={t.gpus.heldOfAsked(one.held, one.asked)}
            onClick={() => one.job !== undefined && onJob(one.job)}
          >
            <span className="gpus-key-face" aria-hidden="true">
              <Face name={one.name} group={one.group} />
            </span>
            <bdi className="gpus-key-name">{one.name}</bdi>
            <span className="numeric muted">
              {one.held === one.asked
                ? format.number(one.held)
                : t.common.of(one.held, one.asked)}
            </span>
          </button>
        </li>
      ))}
      {jobs.length > shown.length && (
        <li>
          <button type="button" className="gpus-key" onClick={() => setAll(true)}>
            {t.gpus.moreJobs(jobs.length - shown.length)}
          </button>
        </li>
      )}
    </ul>
  );
}
