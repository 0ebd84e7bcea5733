import { readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path/posix';
import { lexer, type Tokens } from 'marked';
import { escapeHtml, renderDocumentationPage } from './documentation-page.ts';

/** Root of the repository, or of the image: both have `docs` beside `libs`. */
const REPOSITORY_FOLDER = join(import.meta.dirname, '../../../..');
/** Parts of `docs` that are published. */
const PUBLISHED_DOCS_PATHS = ['guides', 'reference', 'adr', 'glossary.md'];
/** Extensions of the programs and test vectors that the guides link to. */
const EXAMPLE_PROGRAM_FILE_EXTENSIONS = new Set(['.cs', '.csproj', '.go', '.java', '.mjs', '.py', '.ts', '.tsv']);

export const PLAIN_TEXT_CONTENT_TYPE = 'text/plain; charset=utf-8';

/** A file that is the same for every request. */
export interface StaticFile {
  /** Path on the server, without the leading slash. */
  readonly path: string;
  readonly type: string;
  /** Returns the content. The server calls this function on the first request for the path. */
  readonly read: () => string;
}

/**
 * Lists the published files of `docs`. A Markdown file is published twice: as a page (`/docs/guides/errors`, and
 * `/docs/guides` for its `README.md`), and unchanged (`/docs/guides/errors.md`). Links between the files work in both.
 */
export function listPublishedDocs(): readonly StaticFile[] {
  const sources = PUBLISHED_DOCS_PATHS.flatMap((part) =>
    part.endsWith('.md') ? [`docs/${part}`] : listPublishableFilesOfFolder(`docs/${part}`),
  );
  const published = new Set(sources);
  return sources.flatMap((source): StaticFile[] => {
    const read = () => readFileSync(join(REPOSITORY_FOLDER, source), 'utf8');
    if (extname(source) !== '.md') return [{ path: source, type: PLAIN_TEXT_CONTENT_TYPE, read }];
    const path = toDocumentationPagePath(source);
    return [
      { path: source, type: 'text/markdown; charset=utf-8', read },
      { path, type: 'text/html; charset=utf-8', read: () => renderPublishedDocPage(source, path, published) },
    ];
  });
}

function listPublishableFilesOfFolder(folder: string): readonly string[] {
  return readdirSync(join(REPOSITORY_FOLDER, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name}`)
    .filter((path) => extname(path) === '.md' || EXAMPLE_PROGRAM_FILE_EXTENSIONS.has(extname(path)))
    .sort();
}

function toDocumentationPagePath(source: string): string {
  return source.replace(/(?:\/README)?\.md$/, '');
}

function renderPublishedDocPage(source: string, path: string, published: ReadonlySet<string>): string {
  const [title = '', ...lines] = readFileSync(join(REPOSITORY_FOLDER, source), 'utf8').split('\n');
  const resolveLink = (href: string): string | undefined => {
    if (/^(?:[a-z]+:|#)/.test(href)) return href;
    const [file = '', anchor] = href.split('#', 2);
    const target = join(dirname(source), file);
    if (!published.has(target) && target !== 'docs/openapi.json' && target !== POSTMAN_COLLECTION_PATH)
      return undefined;
    const url = target === 'docs/openapi.json' ? 'openapi.json' : toDocumentationPagePath(target);
    return `${relative(dirname(path), url)}${anchor === undefined ? '' : `#${anchor}`}`;
  };
  return renderDocumentationPage(escapeHtml(title.replace(/^# /, '')), lines.join('\n'), { path, resolveLink });
}

/** Path of the Postman collection, in this repository and at the server. */
export const POSTMAN_COLLECTION_PATH = 'docs/postman_collection.json';

/** Returns the Postman collection with the address of the server. */
export function readPostmanCollectionWithServerUrl(baseUrl: string): string {
  const collection = JSON.parse(
    readFileSync(join(REPOSITORY_FOLDER, POSTMAN_COLLECTION_PATH), 'utf8'),
  ) as PostmanCollection;
  const variable = collection.variable.map((each) => (each.key === 'baseUrl' ? { ...each, value: baseUrl } : each));
  return JSON.stringify({ ...collection, variable });
}

interface PostmanCollection {
  readonly variable: readonly { readonly key: string; readonly value: string }[];
}

/**
 * Returns `/llms.txt`, which lists the documentation for language models.
 * @see https://llmstxt.org
 */
export function createLlmsText(baseUrl: string): string {
  const link = (name: string, path: string, notes: string) => `- [${name}](${baseUrl}/${path}): ${notes}`;
  return `# Shipment Tracking API

> An HTTP API that tracks freight shipments. Clients create shipments and post milestones. The service derives the status, ETA and exceptions of each shipment, and sends signed webhooks.

- The base URL of all operations is ${baseUrl}/v1. Requests and responses are JSON with names in snake_case.
- Send an API key in the header Authorization: Bearer sk_test_… or sk_live_…. The environments test and live share no data.
- An upsert with an external_id can be repeated safely. Send other POST requests with an Idempotency-Key.
- Clients do not set the status of a shipment. They post milestones, and the service derives the status.
- An error is {"error": {"type", "code", "message", "param", "details", "request_id"}}. Codes are stable.

## API

${link('OpenAPI 3.1 description', 'openapi.json', 'all operations, parameters, fields and events')}
${link('Postman collection', POSTMAN_COLLECTION_PATH, 'all operations with working examples')}
${link('Error codes', 'docs/errors', 'the meaning of each code, an example, and what to do')}
${link('Webhook events', 'docs/webhooks', 'the rules for receivers and an example of each event')}

## Guides

${listLinkedPagesOfReadme('docs/guides')
  .map(({ name, path, notes }) => link(name, path, notes))
  .join('\n')}

## Reference

${listLinkedPagesOfReadme('docs/reference')
  .map(({ name, path, notes }) => link(name, path, notes))
  .join('\n')}

## Optional

${link('Glossary', 'docs/glossary.md', 'terms of freight and of event sourcing')}
${link('All guides and the reference in one file', 'llms-full.txt', 'about 500 kB of Markdown')}
`;
}

/** Returns `/llms-full.txt`: all guides and the reference, each after a line with its address. */
export function createLlmsFullText(baseUrl: string): string {
  return ['docs/guides', 'docs/reference']
    .flatMap((folder) => listLinkedPagesOfReadme(folder))
    .map(({ path }) => `Source: ${baseUrl}/${path}\n\n${readFileSync(join(REPOSITORY_FOLDER, path), 'utf8')}`)
    .join('\n');
}

/** Returns the rows of the tables of a folder's `README.md` whose first column links to a page. */
function listLinkedPagesOfReadme(folder: string) {
  const tokens = lexer(readFileSync(join(REPOSITORY_FOLDER, folder, 'README.md'), 'utf8'));
  const tables = tokens.filter((token): token is Tokens.Table => token.type === 'table');
  return tables
    .flatMap(({ rows }) => rows)
    .flatMap(([page, notes]) => {
      const links = page?.tokens.filter((token): token is Tokens.Link => token.type === 'link') ?? [];
      return links.map(({ text, href }) => ({ name: text, path: join(folder, href), notes: notes?.text ?? '' }));
    });
}
