// Hands a text, or what was read from the server, to the browser as a file.

// Browsers start to read the file after the click has been handled.
const READ_MS = 10_000;

export function download(name: string, content: string | Blob): void {
  const blob = typeof content === "string" ? new Blob([content]) : content;
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), READ_MS);
}
