import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { computeFirstLoads } from '../web-sizes.mjs';
import { removeUnusedStyles } from '../web-styles.mjs';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'web-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

describe('the first load of a page', () => {
  async function bundle(manifest: object, sizes: Readonly<Record<string, number>>): Promise<void> {
    await write('.vite/manifest.json', JSON.stringify(manifest));
    for (const [file, size] of Object.entries(sizes)) await write(`${file}.br`, '.'.repeat(size));
  }

  it('includes the page and all imports of it and of its parent pages, each once', async () => {
    await bundle(
      {
        'index.html': {
          file: 'assets/entry.js',
          css: ['assets/entry.css'],
          imports: ['_shared.js'],
          dynamicImports: [
            'src/settings/settings-page.tsx',
            'src/settings/keys/keys-page.tsx',
            'src/shipments/shipment-list-page.tsx',
            'src/app/notifications.tsx',
          ],
        },
        '_shared.js': { file: 'assets/shared.js' },
        '_table.js': { file: 'assets/table.js', imports: ['_shared.js'] },
        'src/settings/settings-page.tsx': { file: 'assets/settings.js' },
        'src/settings/keys/keys-page.tsx': { file: 'assets/keys.js', imports: ['_table.js'] },
        'src/shipments/shipment-list-page.tsx': {
          file: 'assets/shipments.js',
          css: ['assets/shipments.css'],
          imports: ['_shared.js', '_table.js'],
          dynamicImports: ['src/shipments/import/large.tsx'],
        },
      },
      {
        'index.html': 1,
        'assets/entry.js': 1_000,
        'assets/entry.css': 200,
        'assets/shared.js': 30,
        'assets/table.js': 5,
        'assets/settings.js': 10_000,
        'assets/keys.js': 400,
        'assets/shipments.js': 50_000,
        'assets/shipments.css': 2,
      },
    );
    expect(await computeFirstLoads(folder)).toEqual([
      { page: 'src/shipments/shipment-list-page.tsx', bytes: 51_238 },
      { page: 'src/settings/keys/keys-page.tsx', bytes: 11_636 },
      { page: 'src/settings/settings-page.tsx', bytes: 11_231 },
    ]);
  });
});

describe('style sheets', () => {
  it('lose the rules of components that no script uses', async () => {
    await write('assets/index-abc.js', 'const classes = {root: "m_1a"};');
    const css = '.m_1a{color:red}.m_1a:hover .m_2b{color:red}.m_2b,.m_1a{top:0}.m_2b{left:0}.page{margin:0}';
    await write('assets/index.css', css);
    await write('assets/lazy-abc.css', css);
    await removeUnusedStyles(folder);
    expect(await readFile(join(folder, 'assets/index.css'), 'utf8')).toBe(
      '.m_1a{color:red}.m_2b,.m_1a{top:0}.page{margin:0}',
    );
    expect(await readFile(join(folder, 'assets/lazy-abc.css'), 'utf8')).toBe(css);
  });
});
