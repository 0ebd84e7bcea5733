// Bundles the web application into `apps/web/dist`, each file beside its compressed forms, unless no source has
// changed. The bundle is replaced in one step, so that running servers always serve a complete one. Fails if a page
// exceeds its maximum size.
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { promisify } from 'node:util';
import { MAX_FIRST_LOAD_BYTES, computeFirstLoads } from './web-sizes.mjs';
import { removeUnusedStyles } from './web-styles.mjs';

const root = join(import.meta.dirname, '..');
const project = join(root, 'apps/web');
const [dist, draft, before] = ['dist', 'dist.draft', 'dist.before'].map((name) => join(project, name));
const SOURCE_PATTERNS = [
  'apps/web/{src,public}/**/*',
  'apps/web/*.{html,json,ts}',
  'libs/client/src/**/*.ts',
  'tools/*web*.mjs',
  'package-lock.json',
];
const COMPRESSED = /\.(css|html|js|svg)$/;

/** Computes a hash of everything that the bundle is built from. */
async function fingerprint() {
  const hash = createHash('sha256');
  for (const entry of globSync(SOURCE_PATTERNS, { cwd: root, withFileTypes: true }).filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name);
    hash.update(path).update(await readFile(path));
  }
  return hash.digest('hex');
}

async function compress(folder) {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !COMPRESSED.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const content = await readFile(path);
    const options = { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } };
    await writeFile(`${path}.br`, await promisify(brotliCompress)(content, options));
    await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
  }
}

const currentFingerprint = await fingerprint();
if ((await readFile(join(dist, '.made-of'), 'utf8').catch(() => '')) !== currentFingerprint) {
  process.stderr.write('bundling the web application; this can take a minute\n');
  const { build } = await import('vite');
  await build({ root: project, logLevel: 'warn', build: { outDir: draft, emptyOutDir: true } });
  await removeUnusedStyles(draft);
  await compress(draft);
  const tooLarge = (await computeFirstLoads(draft)).filter(({ bytes }) => bytes > MAX_FIRST_LOAD_BYTES);
  if (tooLarge.length > 0) {
    const lines = tooLarge.map(({ page, bytes }) => `  ${page}: ${bytes}`);
    process.stderr.write(
      `A page may load at most ${MAX_FIRST_LOAD_BYTES} bytes (brotli) into an empty browser cache; these pages load more:\n${lines.join('\n')}\n` +
        'Load parts that are not shown initially on demand (React.lazy, import()), or remove them.\n',
    );
    process.exit(1);
  }
  await writeFile(join(draft, '.made-of'), currentFingerprint);
  await rm(before, { recursive: true, force: true });
  await rename(dist, before).catch(() => undefined);
  await rename(draft, dist);
  await rm(before, { recursive: true, force: true });
  process.stderr.write('bundled the web application\n');
}
