import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { transform } from 'lightningcss';

/** Class names of the component library: hashes that scripts contain unchanged. */
const OWN_CLASSES = /\bm_[0-9a-f]+\b/g;
const OWN_CLASS = /^m_[0-9a-f]+$/;

/**
 * Removes the rules of components that no script of the page uses, which are half of its style sheet. The file gets a
 * new name: with the hash of the old content, browsers would keep using a cached version.
 * @param folder folder with `assets`
 */
export async function removeUnusedStyles(folder) {
  const assets = join(folder, 'assets');
  const scripts = (await readdir(assets)).filter((name) => name.endsWith('.js'));
  const texts = await Promise.all(scripts.map((name) => readFile(join(assets, name), 'utf8')));
  const used = new Set(texts.join('\n').match(OWN_CLASSES));
  const path = join(assets, 'index.css');
  const { code } = transform({ filename: path, code: await readFile(path), minify: true, visitor: visitor(used) });
  await writeFile(path, code);
}

function visitor(used) {
  const isUnused = (part) => part.type === 'class' && OWN_CLASS.test(part.name) && !used.has(part.name);
  return {
    Rule: {
      style: ({ value }) => (value.selectors.every((selector) => selector.some(isUnused)) ? [] : undefined),
    },
  };
}
