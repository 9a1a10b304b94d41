// Is this the page for frames? For what is outside of the router, as the login is.

export function isEmbedded(href: string, base: string): boolean {
  return href.startsWith(new URL("embed/", base).href);
}
