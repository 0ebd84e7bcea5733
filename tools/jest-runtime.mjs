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
/** By the address of what was compiled. */
const sourceMaps = new Map();

const GLOBALS = 'jest-globals:';
const JEST = '@tracking/jest';
// Modules that several suites share get what belongs to the one that runs.
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

/** What a TypeScript source says as JavaScript, compiled once for all processes and runs. */
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

/** Whole or not at all: other processes may write the same. */
function store(path, text) {
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}

/** The message by which Jest asks a worker to end: `CHILD_MESSAGE_END` of jest-worker. */
const END = 2;
// A worker ends at once: an orderly exit frees all that it holds, which takes longer than the half second that Jest waits.
if (process.send !== undefined)
  process.prependListener('message', (message) => {
    if (Array.isArray(message) && message[0] === END) process.kill(process.pid, 'SIGKILL');
  });
/** Suites from one write of the compile cache to the next, since a worker does not write it when it ends. */
const FLUSH_EVERY = 20;

let suites = 0;

/**
 * Modules are loaded by Node itself, those of libraries once in each of Jest's processes: to load and compile them for each
 * suite anew was two fifths of all work. What a suite changes of its process others see: each puts back what it changed.
 */
export default class Runtime extends JestRuntime {
  constructor(...parts) {
    super(...parts);
    this.suite = suites += 1;
    if (suites % FLUSH_EVERY === 0) flushCompileCache();
    // Jest's runner is made anew for each suite: what it knows of one is not for the next.
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
    // It is Node's own.
  }

  getSourceMaps() {
    return sourceMaps;
  }
}
