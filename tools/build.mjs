// Builds `dist` from `src` in all projects, or in those whose folders are given. Compiles everything, which takes a
// fraction of a second, and writes only changed files, so that servers that run from unchanged files are not affected.
import { randomUUID } from 'node:crypto';
import { globSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { transform } from '@swc/core';

const root = join(import.meta.dirname, '..');
const { exclude, ...swc } = JSON.parse(await readFile(join(root, '.swcrc'), 'utf8'));
/** Suffix of files that are being written, possibly by another build. */
const DRAFT_SUFFIX = '.draft';
const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);
const isExcluded = (path) => exclude.some((pattern) => new RegExp(pattern).test(path));
const listFiles = (folder) =>
  globSync('**', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));

/** Contents of a project's `dist`, by path. */
async function compileProject(project) {
  const [from, to] = [join(project, 'src'), join(project, 'dist')];
  const sources = listFiles(from).filter((path) => !isExcluded(path));
  const outputs = sources.map(async (path) => {
    const source = await readFile(join(from, path));
    if (!path.endsWith('.ts')) return [[path, source]];
    const target = path.replace(/ts$/, 'js');
    const { code, map } = await transform(source.toString(), {
      ...swc,
      swcrc: false,
      filename: join(from, path),
      sourceFileName: relative(dirname(join(to, target)), join(from, path)),
    });
    const mapName = `${target}.map`;
    return [
      [target, Buffer.from(`${code}\n//# sourceMappingURL=${basename(mapName)}`)],
      [mapName, Buffer.from(map)],
    ];
  });
  return new Map((await Promise.all(outputs)).flat());
}

/** Replaces a file atomically: concurrent readers find either the old or the new one. */
async function write(path, content) {
  const draft = `${path}.${randomUUID()}${DRAFT_SUFFIX}`;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(draft, content);
  await rename(draft, path);
}

/** @returns the number of files written or removed */
async function updateFolder(folder, outputs) {
  const written = [...outputs].map(async ([path, content]) => {
    const existing = await readFile(join(folder, path)).catch(() => undefined);
    if (existing?.equals(content)) return 0;
    await write(join(folder, path), content);
    return 1;
  });
  const removed = listFiles(folder)
    .filter((path) => !outputs.has(path) && !path.endsWith(DRAFT_SUFFIX))
    .map(async (path) => {
      await rm(join(folder, path), { force: true });
      return 1;
    });
  return sum(await Promise.all([...written, ...removed]));
}

const { workspaces } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const givenFolders = process.argv.slice(2);
const patterns = (givenFolders.length > 0 ? givenFolders : workspaces).map((folder) => `${folder}/src`);
// The web application is bundled by build-web.mjs.
const projects = globSync(patterns, { cwd: root })
  .map((src) => join(root, dirname(src)))
  .filter((project) => project !== join(root, 'apps/web'));
const compiled = await Promise.allSettled(projects.map(compileProject));

// The rest of a syntax error's report is the compiler's own backtrace.
const reports = compiled.flatMap(({ reason }) => (reason ? [reason.message.split('\n\nCaused by:')[0]] : []));
if (reports.length > 0) {
  process.stderr.write(`${reports.join('\n')}\n`);
  process.exit(1);
}
const counts = await Promise.all(
  projects.map((project, at) => updateFolder(join(project, 'dist'), compiled[at].value)),
);
const count = sum(counts);
if (count > 0) process.stderr.write(`built ${count} files\n`);
