import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Builds a tree with two small projects. */
describe('npm run build', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'build-'));
    for (const path of ['tools', '.swcrc']) await cp(join(root, path), join(folder, path), { recursive: true });
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    await write('package.json', '{"workspaces": ["apps/*", "libs/*"]}');
    await write('apps/one/src/main.ts', "import './deep/part.ts';\n");
    await write('apps/one/src/deep/part.ts', 'export const part: number = 1;\n');
    await write('apps/one/src/deep/part.spec.ts', 'it.todo("is no part of it");\n');
    await write('libs/two/src/index.ts', 'export const two: string = "two";\n');
    await write('libs/two/src/table.tsv', 'a\tb\n');
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function write(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const read = (path: string) => readFile(join(folder, path), 'utf8');
  const files = async (path: string) => (await readdir(join(folder, path), { recursive: true })).sort();
  function build(...projects: readonly string[]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['tools/build.mjs', ...projects], {
      cwd: folder,
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  }
  /** Properties that show whether a file was replaced. */
  async function identities(path: string) {
    const paths = (await files(path)).map((name) => join(folder, path, name));
    return Promise.all(paths.map(async (each) => [each, (await stat(each)).ino, (await stat(each)).mtimeMs]));
  }

  it('builds everything, and reports it in one line', async () => {
    expect(build()).toEqual({ status: 0, stdout: '', stderr: 'built 7 files\n' });
    expect(await files('apps/one/dist')).toEqual([
      'deep',
      'deep/part.js',
      'deep/part.js.map',
      'main.js',
      'main.js.map',
    ]);
    expect(await read('apps/one/dist/main.js')).toMatch(/^import ['"]\.\/deep\/part\.js['"];/);
    expect(await read('libs/two/dist/index.js')).toMatch(/two = "two";[^]*\n\/\/# sourceMappingURL=index\.js\.map$/);
    expect(JSON.parse(await read('libs/two/dist/index.js.map'))).toMatchObject({ sources: ['../src/index.ts'] });
    expect(await read('libs/two/dist/table.tsv')).toBe('a\tb\n');
  });

  it('does not touch unchanged files, and prints nothing if none changed', async () => {
    build();
    const [one, two] = [await identities('apps/one/dist'), await identities('libs/two/dist')];
    expect(build()).toEqual({ status: 0, stdout: '', stderr: '' });
    await write('libs/two/src/index.ts', 'export const two = 2;\n');
    expect(build()).toEqual({ status: 0, stdout: '', stderr: 'built 2 files\n' });
    expect(await read('libs/two/dist/index.js')).toContain('two = 2;');
    expect(await identities('apps/one/dist')).toEqual(one);
    expect((await identities('libs/two/dist')).at(-1)).toEqual(two.at(-1));
  });

  it('removes output without source, and restores missing output', async () => {
    build();
    await rm(join(folder, 'apps/one/src/deep'), { recursive: true });
    await rm(join(folder, 'libs/two/dist/table.tsv'));
    await write('apps/one/src/main.ts', 'export {};\n');
    expect(build().status).toBe(0);
    expect((await files('apps/one/dist')).filter((path) => path !== 'deep')).toEqual(['main.js', 'main.js.map']);
    expect(await files('libs/two/dist')).toContain('table.tsv');
  });

  it('builds the given projects', async () => {
    expect(build('libs/two').stderr).toBe('built 3 files\n');
    await expect(stat(join(folder, 'apps/one/dist'))).rejects.toThrow('ENOENT');
  });

  it('reports every error with its place, and then changes nothing', async () => {
    build();
    const before = [await identities('apps/one/dist'), await identities('libs/two/dist')];
    await write('apps/one/src/deep/part.ts', 'export const part: = 1;\n');
    await write('libs/two/src/index.ts', 'const const;\n');
    const { status, stderr } = build();
    expect(status).toBe(1);
    expect(stderr).toContain('apps/one/src/deep/part.ts:1:1');
    expect(stderr).toContain('libs/two/src/index.ts:1:1');
    expect(stderr).not.toMatch(/backtrace/);
    expect([await identities('apps/one/dist'), await identities('libs/two/dist')]).toEqual(before);
  });
});

describe('an outdated Node', () => {
  const check = fileURLToPath(new URL('../node-version.cjs', import.meta.url));
  /** Runs code that an older Node could not parse, in a Node that reports `version`. */
  async function run(version: string) {
    const folder = await mkdtemp(join(tmpdir(), 'node-'));
    const [fake, main] = [join(folder, 'fake.cjs'), join(folder, 'main.cjs')];
    await writeFile(
      fake,
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`,
    );
    await writeFile(main, 'this is = no JavaScript');
    const flags = ['--require', fake, '--require', check];
    const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, main], { encoding: 'utf8' });
    await rm(folder, { recursive: true });
    return { status, stdout, stderr };
  }

  it.each(['0.12.18', '18.20.8', '20.19.0', '22.22.0', '23.11.1', '24.6.0'])(
    'is reported in one line: %s',
    async (version) => {
      expect(await run(version)).toEqual({
        status: 1,
        stdout: '',
        stderr: expect.stringMatching(
          new RegExp(`^Node 24\\.7 or newer is needed, and this is ${version} \\(${process.execPath}\\): [^\n]+\n$`),
        ),
      });
    },
  );

  it.each(['24.7.0', '25.0.0', '100.1.0'])('is not reported for %s', async (version) => {
    const { stderr } = await run(version);
    expect(stderr).toContain('SyntaxError');
    expect(stderr).not.toContain('is needed');
  });

  it('is checked before any code of the project is read', async () => {
    const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const guarded = (name: string) =>
      /^(?:exec )?node --require \.\/tools\/node-version\.cjs /.test(scripts[name] ?? '');
    expect(['build', 'cli'].filter((name) => !guarded(name))).toEqual([]);
    // Every script that starts a process of the project runs the build first.
    const starting = Object.keys(scripts).filter((name) =>
      /^(?:exec )?node .*\bdist\/main\.js/.test(scripts[name] ?? ''),
    );
    const others = starting.filter((name) => !guarded(name));
    expect(others).toEqual(expect.arrayContaining(['start', 'demo', 'services', 'bench']));
    // Some scripts first say that they build.
    const builds = /^(\[ -d apps\/web\/dist \] \|\| echo '[\w ,;]+\.' >&2; )?npm run --silent build( &&|$)/;
    expect(others.filter((name) => !builds.test(scripts[`pre${name}`] ?? ''))).toEqual([]);
  });
});
