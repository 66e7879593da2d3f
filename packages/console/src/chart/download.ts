/** Has the browser save a file. */
export function download(fileName: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = fileName;
  link.click();
  // The browser reads the content after this turn.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
