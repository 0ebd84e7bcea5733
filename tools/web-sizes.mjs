import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes, compressed by brotli: what a browser that has nothing of it yet may have to load for any one page. */
export const LARGEST_FIRST_LOAD = 250_000;

const ENTRY = 'index.html';

/**
 * What each page has a browser load at first: the page itself, its scripts and style sheets, and those of the pages that
 * it stands in. What is loaded when something is opened on it is not part of it.
 * @param folder of the bundle, with its manifest, each file beside its compressed form
 * @returns the largest first; pages by the module that has them, bytes compressed by brotli
 */
export async function firstLoads(folder) {
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

/** `settings/settings-page.tsx` holds whatever page stands in a folder of `settings`. */
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
