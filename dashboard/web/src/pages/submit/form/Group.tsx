// Fields that belong together, under a heading.

import type { ReactNode } from "react";
import { useId } from "react";

interface Props {
  title: string;
  note?: ReactNode;
  children: ReactNode;
}

export function Group({ title, note, children }: Props): ReactNode {
  const id = useId();
  return (
    <section className="submit-group" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {note && <div className="submit-note">{note}</div>}
      <div className="submit-grid">{children}</div>
    </section>
  );
}
