// Is a part of the page on the screen, or nearly?

import type { RefObject } from "react";
import { useEffect, useRef, useState } from "react";

// What is so close comes with the next turn of the wheel.
const MARGIN = "200px";

export function useInView(): [RefObject<HTMLElement | null>, boolean] {
  const ref = useRef<HTMLElement>(null);
  const [inView, setInView] = useState(false);
  useEffect(() => {
    if (!ref.current) return undefined;
    const observer = new IntersectionObserver(
      // Of several the last one is how it is now.
      (entries) => setInView(entries.at(-1)?.isIntersecting ?? false),
      { rootMargin: MARGIN },
    );
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, inView];
}
