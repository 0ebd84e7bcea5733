import GithubSlugger from 'github-slugger';
import { Marked } from 'marked';

/** Paths of this server that pages mention as code, such as `/docs/errors#not_found`. */
const DOCUMENTATION_PATH_PATTERN = /^\/(?:docs(?:\/[\w/.-]*)?(?:#[\w-]+)?|openapi\.json|llms(?:-full)?\.txt)$/;

interface DocumentationPageOptions {
  /** Path of the page relative to the root of the server, such as `docs/errors`. */
  readonly path?: string;
  /** Converts the target of a link into its URL. Returns undefined if the target is not published. */
  readonly resolveLink?: (href: string) => string | undefined;
}

/**
 * Renders Markdown as a page below /docs, without scripts and with one style sheet. HTML in the Markdown is kept,
 * because all Markdown comes from this repository. Headings have the anchors that GitHub gives them. A link whose target
 * is not published becomes plain text. A path of this server that is written as code becomes a link.
 */
export function renderDocumentationPage(
  title: string,
  markdown: string,
  options: DocumentationPageOptions = {},
): string {
  const { path = 'docs/page' } = options;
  const root = '../'.repeat(path.split('/').length - 1);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title} — Shipment Tracking API</title>
    <link rel="icon" href="${root}docs/assets/favicon-32x32.png">
    <link rel="stylesheet" href="${root}docs/pages.css">
  </head>
  <body>
    ${renderNavigation(root)}
    <main>
      <h1>${title}</h1>
      ${renderMarkdown(markdown, root, options)}
    </main>
  </body>
</html>
`;
}

/** Returns the navigation bar of all pages. @param root relative URL of the root of the server, such as `../` */
export function renderNavigation(root: string): string {
  const links = Object.entries(DOCS_NAVIGATION_LABELS).map(([path, label]) => `<a href="${root}${path}">${label}</a>`);
  return `<nav><strong>Shipment Tracking API</strong> ${links.join(' ')}</nav>`;
}

const DOCS_NAVIGATION_LABELS = {
  docs: 'Operations',
  'docs/guides': 'Guides',
  'docs/reference': 'Reference',
  'docs/errors': 'Errors',
  'docs/webhooks': 'Webhooks',
};

function renderMarkdown(
  markdown: string,
  root: string,
  { resolveLink = (href) => href }: DocumentationPageOptions,
): string {
  const slugger = new GithubSlugger();
  const renderer = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const id = slugger.slug(this.parser.parseInline(tokens, this.parser.textRenderer));
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens);
        const url = resolveLink(href);
        return url === undefined ? content : `<a href="${escapeHtml(url)}">${content}</a>`;
      },
      codespan({ text }) {
        return DOCUMENTATION_PATH_PATTERN.test(text) && `<a href="${root}${text.slice(1)}"><code>${text}</code></a>`;
      },
    },
  });
  const html = renderer.parse(markdown, { async: false });
  // Wide tables scroll on their own.
  return html.replaceAll('<table>', '<div class="table"><table>').replaceAll('</table>', '</table></div>');
}

/** Escapes text for the content of an element or for an attribute in double quotation marks. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** Returns a fenced code block of formatted JSON. */
export function renderJsonBlock(value: object): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
}

/** Style sheet of the navigation bar on all pages below /docs. */
export const NAV_STYLE = `body { margin: 0; }
nav { font: 16px/1.55 system-ui, sans-serif; display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; padding: 0.9rem 1.5rem; background: #1b2b3a; color: #ffffff; }
nav a { color: #cfe3f7; text-decoration: none; }
nav a:hover { text-decoration: underline; }
`;

/** Style sheet of the pages other than the operations page; light or dark, following the reader's system. */
export const DOCS_PAGE_STYLE = `${NAV_STYLE}:root {
  color-scheme: light dark;
  --text: #1c2733;
  --quiet: #5a6b7b;
  --line: #d9e0e7;
  --back: #ffffff;
  --raised: #f5f7f9;
  --link: #0b5cad;
  --mark: #fff6d6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #dbe3ea;
    --quiet: #93a3b2;
    --line: #33404c;
    --back: #14191e;
    --raised: #1d242b;
    --link: #7db8f2;
    --mark: #3a3212;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { background: var(--back); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem 1.5rem 6rem; }
h1 { font-size: 2rem; margin: 1.5rem 0 1rem; }
h2 { font-size: 1.4rem; margin: 3rem 0 0.75rem; padding-bottom: 0.3rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.1rem; margin: 2rem 0 0.5rem; }
h2 a, h3 a { color: inherit; }
article h3 { font-size: 1rem; margin: 0; }
a { color: var(--link); }
code, pre { font: 0.875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
:not(pre) > code { padding: 0.1em 0.3em; border-radius: 3px; background: var(--raised); overflow-wrap: anywhere; }
blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--quiet); }
pre { margin: 0.75rem 0; padding: 0.75rem 1rem; overflow: auto; border: 1px solid var(--line); border-radius: 6px; background: var(--raised); }
.table { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.45rem 0.75rem 0.45rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--quiet); font-weight: 600; }
article { margin: 1rem 0; padding: 1rem 1.25rem; border: 1px solid var(--line); border-radius: 8px; }
article:target { border-color: var(--link); background: var(--mark); }
article h3 a { color: inherit; text-decoration: none; }
article h3 code { padding: 0; background: none; font-size: 1.05rem; }
article h3 small { margin-left: 0.75rem; color: var(--quiet); font-weight: 400; }
article p { margin: 0.5rem 0; }
.index { columns: 15rem; padding: 0; list-style: none; }
details { margin: 0.5rem 0; border: 1px solid var(--line); border-radius: 6px; }
summary { padding: 0.5rem 1rem; cursor: pointer; }
details pre { margin: 0; border: 0; border-top: 1px solid var(--line); border-radius: 0 0 6px 6px; }
`;
