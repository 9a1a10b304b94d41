// Gives each <style> that a script makes the page's nonce.
//
// Ant Design takes the nonce for its themes, but locks scrolling and measures scroll bars with
// styles that have none, and the browser refuses those. This opens nothing: what the policy keeps
// out is style that comes with markup, and a script that runs may style the page anyhow.

export function giveStylesNonce(page: Document, nonce: string): void {
  if (nonce === "") return;
  const create = page.createElement.bind(page);
  page.createElement = (tag: string, options?: ElementCreationOptions) => {
    const element = create(tag, options);
    if (element instanceof HTMLStyleElement) element.nonce = nonce;
    return element;
  };
}
