import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { transform } from 'lightningcss';

/** What the component library calls a class of its own: by a hash, which scripts hold as it is. */
const OWN_CLASSES = /\bm_[0-9a-f]+\b/g;
const OWN_CLASS = /^m_[0-9a-f]+$/;

/**
 * Takes out of the page's own style sheet what belongs to components that no script of it has: half of all. Its name says nothing
 * of its content: with a hash of what it was before, browsers would keep what is left by a name that stays.
 * @param folder with `assets`
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
