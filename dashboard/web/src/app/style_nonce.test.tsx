import { expect, test } from "vitest";
import { giveStylesNonce } from "./style_nonce";

test("styles that a library makes get the page's nonce, other elements do not", () => {
  const page = document.implementation.createHTMLDocument();
  giveStylesNonce(page, "n-1");
  expect(page.createElement("style").nonce).toBe("n-1");
  expect(page.createElement("script").nonce).toBe("");
  expect(page.createElement("div")).toBeInstanceOf(HTMLDivElement);
});

test("a page without a policy is left as it is", () => {
  const page = document.implementation.createHTMLDocument();
  giveStylesNonce(page, "");
  expect(page.createElement("style").nonce).toBe("");
});
