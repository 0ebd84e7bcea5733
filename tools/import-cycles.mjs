// Reports cycles among the imports of all source files and tests, `import type` included.
// Usage: node tools/import-cycles.mjs
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '..');
const AREAS = ['apps', 'libs', 'bench'];
const SKIPPED_FOLDERS = new Set(['node_modules', 'dist']);
const IS_SOURCE = /(?<!\.d)\.tsx?$/;

/** Cycles of a graph, each as a path that ends where it begins; one for each group of nodes that reach each other. */
export function findCycles(importsOf) {
  const state = new Map();
  const path = [];
  const cycles = [];
  const visit = (node) => {
    state.set(node, 'open');
    path.push(node);
    for (const next of importsOf.get(node) ?? []) {
      if (state.get(next) === 'open') cycles.push([...path.slice(path.indexOf(next)), next]);
      else if (!state.has(next)) visit(next);
    }
    path.pop();
    state.set(node, 'done');
  };
  for (const node of importsOf.keys()) if (!state.has(node)) visit(node);
  return cycles;
}

function readImports() {
  const folders = AREAS.map((area) => join(ROOT, area));
  const files = folders.flatMap(listFiles);
  const packages = new Map(files.filter((file) => file.endsWith('/package.json')).flatMap(entryPoints));
  const sources = files.filter((file) => IS_SOURCE.test(file));
  return new Map(
    sources.map((file) => {
      const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'), true, true);
      const imported = importedFiles.map(({ fileName }) =>
        fileName.startsWith('.') ? resolve(dirname(file), fileName) : packages.get(fileName),
      );
      return [file, imported.filter((path) => path !== undefined)];
    }),
  );
}

function listFiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED_FOLDERS.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? listFiles(path) : [path];
  });
}

/** Source files by the names under which other packages import them. */
function entryPoints(manifest) {
  const { name, exports = {} } = JSON.parse(readFileSync(manifest, 'utf8'));
  return Object.entries(exports).flatMap(([subpath, targets]) => {
    const source = targets['@tracking/source'];
    const file = source && join(dirname(manifest), source);
    return file && existsSync(file) ? [[join(name, subpath), file]] : [];
  });
}

if (process.argv[1] === import.meta.filename) {
  const cycles = findCycles(readImports());
  for (const cycle of cycles) {
    process.stderr.write(`import cycle:\n${cycle.map((file) => `  ${relative(ROOT, file)}\n`).join('')}`);
  }
  process.exitCode = cycles.length === 0 ? 0 : 1;
}
