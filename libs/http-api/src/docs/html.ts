/** A page of the documentation, seen from /docs/<name>: no script, and the one style sheet. */
export function documentationPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escaped(title)} — Shipment Tracking API</title>
    <link rel="icon" href="assets/favicon-32x32.png">
    <link rel="stylesheet" href="pages.css">
  </head>
  <body>
    <nav><strong>Shipment Tracking API</strong> <a href="../docs">Operations</a> <a href="errors">Errors</a> <a href="webhooks">Webhooks</a></nav>
    <main>
      <h1>${escaped(title)}</h1>
      ${body}
    </main>
  </body>
</html>
`;
}

/** A text as it is, in HTML. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** A text in which what stands in backticks is code. */
export function prose(text: string): string {
  return escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

export function code(text: string): string {
  return `<pre><code>${escaped(text)}</code></pre>`;
}

/** Cells are prose. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (tag: string, texts: readonly string[]) =>
    texts.map((text) => `<${tag}>${prose(text)}</${tag}>`).join('');
  const body = rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('\n');
  return `<div class="table"><table><thead><tr>${cells('th', head)}</tr></thead><tbody>\n${body}\n</tbody></table></div>`;
}

export function list(tag: 'ol' | 'ul', items: readonly string[]): string {
  return `<${tag}>${items.map((item) => `<li>${prose(item)}</li>`).join('\n')}</${tag}>`;
}

export function paragraph(text: string): string {
  return `<p>${prose(text)}</p>`;
}
