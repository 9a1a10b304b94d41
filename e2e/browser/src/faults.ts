// What no page may be, whatever it shows. Each returns what is wrong, in words.

import type { Page } from "playwright-core";

/** Wider than its window: one would have to scroll sideways to read. */
export async function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const parts = [document.documentElement, document.querySelector("main")];
    const wide = parts.some((part) => part !== null && part.scrollWidth > part.clientWidth);
    return wide ? ["the page is wider than its window"] : [];
  });
}

/** Something that was to be shown has been taken for markup, or has run: see nonsense.py. */
export async function taken(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const markup = document.querySelectorAll("[onerror], script:not([src]), img[src='x']");
    const found = [...markup].map((one) => `taken for markup: ${one.outerHTML.slice(0, 200)}`);
    return "hurt" in window ? [...found, "a script of a job has run"] : found;
  });
}

/**
 * A mark that turns the direction of writing turns more than the text that it belongs to: between
 * it and what stands beside that text there is no element that keeps it in.
 */
export async function turned(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode.textContent ?? "";
      const mark = text.indexOf("\u202e");
      if (mark < 0) continue;
      // Out of the inline elements that let it through, to the one at whose end it must end.
      let around = texts.currentNode.parentElement;
      let inside = text;
      while (around && getComputedStyle(around).display === "inline") {
        if (/isolate|plaintext/.test(getComputedStyle(around).unicodeBidi)) break;
        inside = around.textContent;
        around = around.parentElement;
      }
      if (!around || around.textContent.trim() === inside.trim()) continue;
      if (/isolate|plaintext/.test(getComputedStyle(around).unicodeBidi)) continue;
      const near = text.slice(Math.max(0, mark - 30), mark);
      found.push(`turns what stands beside it, in <${around.className}>: …${near}`);
    }
    return [...new Set(found)];
  });
}
