import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Maximum size of a page's first load, in bytes compressed by brotli. */
export const MAX_FIRST_LOAD_BYTES = 250_000;

const ENTRY = 'index.html';

/**
 * Computes the first load of each page: the page itself, its scripts and style sheets, and those of its parent pages.
 * Parts that are loaded on demand are not included.
 * @param folder folder of the bundle, with its manifest, and each file beside its compressed form
 * @returns the largest first; pages by their module, in bytes compressed by brotli
 */
export async function computeFirstLoads(folder) {
  const manifest = JSON.parse(await readFile(join(folder, '.vite/manifest.json'), 'utf8'));
  const pages = (manifest[ENTRY].dynamicImports ?? []).filter((name) => /-(page|section)\.tsx$/.test(name));
  const loads = pages.map(async (page) => {
    const files = new Set([ENTRY]);
    for (const part of [ENTRY, ...pages.filter((each) => holds(each, page)), page]) addFiles(manifest, part, files);
    const sizes = await Promise.all([...files].map(async (file) => (await stat(join(folder, `${file}.br`))).size));
    return { page, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  });
  return (await Promise.all(loads)).sort((one, other) => other.bytes - one.bytes);
}

/** `settings/settings-page.tsx` contains every page in a folder of `settings`. */
function holds(outer, page) {
  const [, folder, name] = /^(?:.*\/)?([^/]+)\/([^/]+)-page\.tsx$/.exec(outer) ?? [];
  return folder !== undefined && folder === name && page.startsWith(outer.slice(0, -`${name}-page.tsx`.length));
}

function addFiles(manifest, name, files) {
  const { file, css = [], imports = [] } = manifest[name];
  if (files.has(file)) return;
  for (const each of [file, ...css]) files.add(each);
  for (const each of imports) addFiles(manifest, each, files);
}
