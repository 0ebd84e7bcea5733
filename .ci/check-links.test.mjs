import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const CHECK = fileURLToPath(new URL('check-links.mjs', import.meta.url));
const PAGE = '# Page\n\n## What is `said` here\n\n## What is `said` here\n\n<a id="by-hand"></a>\n';

/** Split into two parts, so that this line is not a mention itself. */
const DOCS = ['docs', 'guide'].join('/');

/** Output of the check for a repository with these files and a page of documentation. */
function check(files) {
  const folder = mkdtempSync(join(tmpdir(), 'links-'));
  try {
    execFileSync('git', ['init', '--quiet'], { cwd: folder });
    for (const [name, text] of Object.entries({ [`${DOCS}/page.md`]: PAGE, ...files })) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const { status, stderr } = spawnSync(process.execPath, [CHECK, folder], { encoding: 'utf8' });
    return { status, found: stderr.trim() };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const sound = {
  'a link to a file': { 'a.md': `[page](${DOCS}/page.md)` },
  'a link to a heading': { 'a.md': `[page](./${DOCS}/page.md#what-is-said-here)` },
  'a link to the second of two headings alike': { 'a.md': `[page](${DOCS}/page.md#what-is-said-here-1)` },
  'a link to a heading of its own': { 'a.md': '# Of its own\n\n[here](#of-its-own)' },
  'a link to an anchor': { 'a.md': `[page](${DOCS}/page.md#by-hand)` },
  'a link to a folder': { 'a.md': `[guide](${DOCS}/)` },
  'a link from one page to another': { [`${DOCS}/other.md`]: '[page](page.md), [up](../../a.md)', 'a.md': '' },
  'a link to another host': { 'a.md': '<https://example.com/none>, [mail](mailto:a@example.com)' },
  'a link in code': { 'a.md': '```\n[page](none.md)\n```' },
  'a mention in code': { 'src/a.ts': `/** See ${DOCS}/page.md#what-is-said-here. */` },
  'an address of the API': {
    'src/a.ts': `get('/${['docs', 'errors'].join('/')}'); // ${['docs', 'init.js'].join('/')}`,
  },
};
for (const [name, files] of Object.entries(sound)) {
  test(`${name} is accepted`, () => assert.deepEqual(check(files), { status: 0, found: '' }));
}

const broken = {
  'a link to no file': { 'a.md': '\n[page](none.md)' },
  'a link to no heading': { 'a.md': `\n[page](${DOCS}/page.md#none)` },
  'a link to no heading of its own': { 'a.md': '\n[here](#none)' },
  'a link in a table': { 'a.md': '\n| a |\n| - |\n| [page](none.md) |' },
  'a link by a reference': { 'a.md': '\n[page][1]\n\n[1]: none.md' },
  'a link to a file outside': { 'a.md': '\n[page](../none.md)' },
  'a link to a file that is ignored': { '.gitignore': 'dist', 'dist/b.md': '', 'a.md': '\n[page](dist/b.md)' },
  'a link as HTML': { 'a.md': '\n<a href="none.md">page</a>' },
  'a picture': { 'a.md': '\n![page](none.png)' },
  'a mention of no page in code': { 'src/a.ts': `\n// see ${DOCS}/none.md` },
  'a mention of no heading in code': { 'src/a.ts': `\n/** Decided in ${DOCS}/page.md#none. */` },
  'a mention of a page without its ending': { 'src/a.ts': `\n// ${DOCS}/page#by-hand` },
  'a mention in text': { 'a.md': `\nSee \`${DOCS}/none.md\`.` },
};
for (const [name, files] of Object.entries(broken)) {
  test(`${name} is reported with its line`, () => {
    const { status, found } = check(files);
    assert.equal(status, 1);
    assert.match(found, /^(?:a\.md|src\/a\.ts):[2-6]: \S+: no .*$/);
  });
}
