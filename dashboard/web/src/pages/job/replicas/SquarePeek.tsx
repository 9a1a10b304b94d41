// What a square stands for, beside it: for the pointer that rests on it and for the keyboard.
// Escape and scrolling close it.

import type { ReactNode } from "react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Replica } from "../../../api/types";
import { HealthTag, StateTag } from "../../../components/Tags";
import { useText } from "../../../i18n";
import { Said } from "../../../i18n/said";
import { replicaName } from "../names";
import { whyOf } from "./square_label";

// A pointer that only passes opens nothing.
const REST_MS = 120;
// As in the CSS.
const WIDTH = 340;
const MARGIN = 8;

export interface Peek {
  name: string;
  /** Of the square, in the window. */
  box: DOMRect | undefined;
  show: (square: HTMLElement) => void;
  over: (square: HTMLElement | undefined) => void;
  hide: () => void;
}

export function usePeek(): Peek {
  const [shown, setShown] = useState<{ name: string; box: DOMRect }>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const show = useCallback((square: HTMLElement) => {
    clearTimeout(timer.current);
    // The grid may have been drawn anew since the pointer came: what is gone is nowhere.
    if (!square.isConnected) return setShown(undefined);
    setShown({ name: square.dataset.replica ?? "", box: square.getBoundingClientRect() });
  }, []);
  const hide = useCallback(() => {
    clearTimeout(timer.current);
    setShown(undefined);
  }, []);
  const over = useCallback(
    (square: HTMLElement | undefined) => {
      clearTimeout(timer.current);
      if (square) timer.current = setTimeout(() => show(square), REST_MS);
      else setShown(undefined);
    },
    [show],
  );
  const { name = "", box } = shown ?? {};
  return useMemo(() => ({ name, box, show, over, hide }), [name, box, show, over, hide]);
}

export function SquarePeek({ replica, box }: { replica: Replica; box: DOMRect }): ReactNode {
  const { t } = useText();
  const left = Math.max(MARGIN, Math.min(box.left, window.innerWidth - WIDTH - MARGIN));
  const below = box.bottom < window.innerHeight / 2;
  const place = below
    ? { top: box.bottom + MARGIN }
    : { bottom: window.innerHeight - box.top + MARGIN };
  // Screen readers have it as the name of the square.
  return (
    <div className="job-peek" style={{ left, ...place }} aria-hidden="true">
      <div className="job-peek-head">
        <b>{replicaName(replica)}</b>
        <StateTag state={replica.state} />
        <HealthTag health={replica.health} />
      </div>
      {replica.pod !== undefined && (
        <div>
          <span className="muted">{t.job.columns.pod}</span> <bdi>{replica.pod}</bdi>
        </div>
      )}
      <div>
        <span className="muted">{t.job.columns.node}</span>{" "}
        <bdi>{replica.node ?? t.job.noNode}</bdi>
      </div>
      {whyOf(replica, t) !== "" && (
        <div className="job-peek-why">
          <Said text={whyOf(replica, t)} />
        </div>
      )}
    </div>
  );
}
