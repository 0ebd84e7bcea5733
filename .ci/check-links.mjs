import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import GithubSlugger from 'github-slugger';
import { marked } from 'marked';

/**
 * Finds broken links without network access: relative links of all Markdown files, and mentions of pages under docs in
 * comments, code and text. Headings have the anchors that GitHub gives them. Prints a line for each broken link and
 * then exits with 1.
 *
 * Usage: node .ci/check-links.mjs [FOLDER], a git repository; by default the current one.
 */
const root = process.argv[2] ?? '.';
const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
const files = new Set(
  listed
    .toString()
    .split('\0')
    .filter((file) => file !== '' && statSync(join(root, file), { throwIfNoEntry: false })?.isFile() === true),
);
const folders = new Set(['.', ...[...files].flatMap(listParentFolders)]);
/** Prefixes of mentions of pages. Other text, such as an API URL below its documentation, is not a mention. */
const sections = new Set([...files].flatMap((file) => /^(docs\/[^/]+?)(?:\.md)?(?:\/|$)/.exec(file)?.[1] ?? []));

const headings = new Map();
const broken = new Set();
for (const file of files) {
  const bytes = readFileSync(join(root, file));
  if (bytes.includes(0) || file.endsWith('package-lock.json')) continue;
  const text = bytes.toString();
  const targets = [...findMentions(text), ...(file.endsWith('.md') ? findLinks(text, dirname(file)) : [])];
  for (const { written, path, heading } of targets) {
    const fault = findFault(path === '' ? file : path, heading);
    const line = text.slice(0, text.indexOf(written)).split('\n').length;
    if (fault !== undefined) broken.add(`${file}:${line}: ${written}: ${fault}`);
  }
}
for (const each of broken) console.error(each);
process.exitCode = broken.size === 0 ? 0 : 1;

function listParentFolders(file) {
  const folder = dirname(file);
  return folder === '.' ? [] : [folder, ...listParentFolders(folder)];
}

/**
 * A mention such as `docs/adr/README.md#architecture-decisions` is relative to the root of the repository; a link is
 * relative to its page.
 */
function findMentions(text) {
  return [...text.matchAll(/(?<![\w:/.-]|\]\()(?:\.\.?\/)*(docs\/[\w./-]*\w)(?:#([\w-]+))?/g)]
    .filter(([, path]) => path.endsWith('.md') || sections.has(path.split('/', 2).join('/')))
    .map(([written, path, heading]) => ({ written, path: normalize(path), heading }));
}

function findLinks(text, folder) {
  const found = [];
  marked.walkTokens(marked.lexer(text), (token) => {
    if (token.type === 'link' || token.type === 'image') found.push(token.href);
    if (token.type === 'html') found.push(...[...token.text.matchAll(/\b(?:href|src)="([^"]+)"/g)].map(([, to]) => to));
  });
  const isElsewhere = (href) => /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(href);
  return found
    .filter((href) => !isElsewhere(href))
    .map((href) => {
      const [before, heading] = href.split('#', 2);
      const path = decodeURIComponent(before);
      const from = path.startsWith('/') ? path.slice(1) : join(folder, path);
      return { written: href, path: path === '' ? '' : normalize(from).replace(/\/$/, ''), heading };
    });
}

function findFault(path, heading) {
  if (!files.has(path) && !folders.has(path)) return 'no such file in the repository';
  if (heading === undefined || heading === '') return undefined;
  if (!files.has(path) || !path.endsWith('.md')) return 'only Markdown files have headings';
  return listHeadings(path).has(heading) ? undefined : `no heading #${heading} in ${path}`;
}

function listHeadings(file) {
  const known = headings.get(file);
  if (known !== undefined) return known;
  const slugger = new GithubSlugger();
  const found = new Set();
  headings.set(file, found);
  marked.walkTokens(marked.lexer(readFileSync(join(root, file), 'utf8')), (token) => {
    if (token.type === 'heading') found.add(slugger.slug(toText(token)));
    if (token.type === 'html') for (const [, id] of token.text.matchAll(/\b(?:id|name)="([^"]+)"/g)) found.add(id);
  });
  return found;
}

function toText({ tokens, text, type }) {
  if (tokens !== undefined) return tokens.map(toText).join('');
  return type === 'html' ? '' : text;
}
