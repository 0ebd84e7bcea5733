import { Marked } from 'marked';

const marked = new Marked({
  renderer: {
    /** Anchors as GitHub makes them: `## Dead letters` is `#dead-letters`. */
    heading({ tokens, depth, text }) {
      const content = this.parser.parseInline(tokens);
      return depth === 2
        ? `<h2 id="${text.toLowerCase().replaceAll(/[^\w]+/g, '-')}">${content}</h2>\n`
        : `<h${depth}>${content}</h${depth}>\n`;
    },
  },
});

/**
 * A page below /docs made of Markdown, without scripts and with one style sheet. HTML in the Markdown is kept: it is
 * this repository's own.
 */
export function documentationPage(title: string, markdown: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title} — Shipment Tracking API</title>
    <link rel="icon" href="assets/favicon-32x32.png">
    <link rel="stylesheet" href="pages.css">
  </head>
  <body>
    <nav><strong>Shipment Tracking API</strong> <a href="../docs">Operations</a> <a href="errors">Errors</a> <a href="webhooks">Webhooks</a></nav>
    <main>
      <h1>${title}</h1>
      ${marked.parse(markdown, { async: false })}
    </main>
  </body>
</html>
`;
}

/** A fenced block of formatted JSON. */
export function jsonBlock(value: object): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
}
