// The page's one heading and the tab's title: in a frame the chart alone shows.

import type { ReactNode } from "react";
import { useEffect } from "react";

export function EmbedTitle({ title }: { title: string }): ReactNode {
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <h1 className="visually-hidden">
      <bdi>{title}</bdi>
    </h1>
  );
}
