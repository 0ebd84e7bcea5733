import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

const SOURCE_FOLDER = join(import.meta.dirname, '..');
const MODULE_IMPORT_PATTERN = /^import (\w+) from '(.+\.module\.css)';$/gm;
const CSS_COMMENT_PATTERN = /\/\*[\s\S]*?\*\//g;
const CLASS_SELECTOR_PATTERN = /\.([A-Za-z_][\w-]*)/g;

/** A class that a component uses, and the class names of the CSS module that it imports. */
interface UsedClass {
  readonly use: string;
  readonly name: string;
  readonly classNames: ReadonlySet<string>;
}

function readClassNames(module: string): ReadonlySet<string> {
  const css = readFileSync(module, 'utf8').replace(CSS_COMMENT_PATTERN, '');
  return new Set([...css.matchAll(CLASS_SELECTOR_PATTERN)].map(([, name = '']) => name));
}

/** Finds uses such as `classes['row']` and `classes.row`. */
function findUsedClasses(file: string): UsedClass[] {
  const path = join(SOURCE_FOLDER, file);
  const text = readFileSync(path, 'utf8');
  const code = text.replace(MODULE_IMPORT_PATTERN, '');
  return [...text.matchAll(MODULE_IMPORT_PATTERN)].flatMap(([, variable = '', module = '']) => {
    const classNames = readClassNames(join(dirname(path), module));
    const uses = code.matchAll(new RegExp(String.raw`\b${variable}(?:\.(\w+)|\[([^\]]*)\])`, 'g'));
    return [...uses].map(([use, name, key = '']) => ({
      use: `${file}: ${use}`,
      name: name ?? key.replace(/^'(.*)'$/, '$1'),
      classNames,
    }));
  });
}

it('every class that a component uses exists in its CSS module', () => {
  const files = readdirSync(SOURCE_FOLDER, { recursive: true, encoding: 'utf8' });
  const used = files.filter((file) => file.endsWith('.tsx')).flatMap(findUsedClasses);
  expect(used.length).toBeGreaterThan(100);
  expect(used.filter(({ name, classNames }) => !classNames.has(name)).map(({ use }) => use)).toEqual([]);
});
