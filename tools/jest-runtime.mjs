import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, flushCompileCache, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync, version } from '@swc/core';
import JestRuntime from 'jest-runtime';

const require = createRequire(import.meta.url);
const { jsc, module } = JSON.parse(readFileSync(new URL('../.swcrc', import.meta.url), 'utf8'));
delete jsc.rewriteRelativeImportExtensions;
const SWC = { jsc, module, swcrc: false, sourceMaps: true };

const CACHE = new URL('../node_modules/.cache/test-sources/', import.meta.url);
mkdirSync(CACHE, { recursive: true });
/** Paths of source maps by the URL of the compiled module. */
const sourceMaps = new Map();

const GLOBALS = 'jest-globals:';
const JEST = '@tracking/jest';
// Modules that several suites share use the `jest` object of the running suite.
const GLOBALS_SOURCE = `export const jest = new Proxy({}, {
  get: (_, name) => globalThis['${JEST}'][name],
});`;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals' ? { url: GLOBALS, format: 'module', shortCircuit: true } : next(specifier, context),
  load(url, context, next) {
    if (url === GLOBALS) return { source: GLOBALS_SOURCE, format: 'module', shortCircuit: true };
    const [file] = url.split('?');
    if (!file.startsWith('file:') || !file.endsWith('.ts') || file.includes('/node_modules/'))
      return next(url, context);
    return { source: compiled(url, fileURLToPath(file)), format: 'module', shortCircuit: true };
  },
});

/** Compiles a TypeScript source, once for all processes and runs. */
function compiled(url, filename) {
  const source = readFileSync(filename, 'utf8');
  const name = hash('sha256', [version, JSON.stringify(SWC), filename, source].join('\n'));
  const [code, map] = ['js', 'map'].map((extension) => fileURLToPath(new URL(`${name}.${extension}`, CACHE)));
  sourceMaps.set(url, map);
  if (existsSync(code)) return readFileSync(code, 'utf8');
  const output = transformSync(source, { ...SWC, filename });
  store(map, output.map);
  store(code, output.code);
  return output.code;
}

/** Writes a file atomically: other processes may write the same one. */
function store(path, text) {
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}

/** The message by which Jest asks a worker to end: `CHILD_MESSAGE_END` of jest-worker. */
const END = 2;
// A worker ends at once. An orderly exit frees all its memory, which takes longer than the 500 ms that Jest waits before it
// reports that the worker failed to exit gracefully.
if (process.send !== undefined)
  process.prependListener('message', (message) => {
    if (Array.isArray(message) && message[0] === END) process.kill(process.pid, 'SIGKILL');
  });
/** Suites between two writes of the compile cache: a killed worker does not write it. */
const FLUSH_EVERY = 20;

let suites = 0;

/**
 * Lets Node load modules, those of libraries once per worker. Jest's own runtime loads and compiles them again for each suite:
 * the suites of identity, read models and shipments then take more than twice as long. Suites share the globals of their process, so
 * each restores what it changes.
 */
export default class Runtime extends JestRuntime {
  constructor(...parts) {
    super(...parts);
    this.suite = suites += 1;
    if (suites % FLUSH_EVERY === 0) flushCompileCache();
    // Jest's runner keeps state of the suite in its modules, so each suite loads it again.
    for (const path of Object.keys(require.cache)) if (path.includes('/jest-circus/')) delete require.cache[path];
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
    delete globalThis[Symbol.for('TEST_TIMEOUT_SYMBOL')];
    globalThis[JEST] = this.jestGlobals.jestObjectFor(parts[6]);
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  unstable_importModule(path) {
    return import(`${pathToFileURL(path).href}?suite=${this.suite}`);
  }

  requireInternalModule(path) {
    return require(path);
  }

  installGetBuiltinModule() {
    // `process.getBuiltinModule` is Node's own.
  }

  getSourceMaps() {
    return sourceMaps;
  }
}
