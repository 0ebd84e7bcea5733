// Tests the Python client: installs it in a virtual environment, checks types and style, and runs its tests and the
// examples of its README with a service. Prints the reason if this machine cannot run them.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, start, waitForResponse } from './processes.mjs';

const PACKAGE = join(import.meta.dirname, '../clients/python');
const COMMANDS = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3.10'];
const IS_SUPPORTED = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))';

const work = mkdtempSync(join(tmpdir(), 'python-client-'));
const python = join(work, 'venv/bin/python');
try {
  const reason = await prepare();
  if (reason === undefined) await test();
  else console.log(`Python client: not tested, ${reason}`);
} finally {
  rmSync(work, { recursive: true });
}

/** Creates the environment. @returns the reason why that is not possible on this machine */
async function prepare() {
  const command = COMMANDS.find((each) => spawnSync(each, ['-c', IS_SUPPORTED]).status === 0);
  if (command === undefined) return 'Python 3.10 or newer with venv is not installed';
  await run(command, ['-m', 'venv', join(work, 'venv')]);
  const options = ['install', '--quiet', '--disable-pip-version-check', '--retries', '1'];
  const fetched = spawnSync(python, ['-m', 'pip', ...options, '-r', join(PACKAGE, 'requirements-test.txt')], {
    encoding: 'utf8',
  });
  if (fetched.status === 0) return undefined;
  return `its dependencies could not be installed: ${fetched.stderr.trim().split('\n').at(-1)}`;
}

async function test() {
  await run(python, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-build-isolation', '--no-index', PACKAGE]);
  await run(python, ['-m', 'mypy']);
  await run(python, ['-m', 'ruff', 'check']);
  await run(python, ['-m', 'ruff', 'format', '--check']);
  const [api, management] = await freePorts(2);
  const env = { ...process.env, PORT: api, MANAGEMENT_PORT: management, DATA_DIR: join(work, 'data') };
  const server = start('npm', ['run', '--silent', 'dev'], { env });
  try {
    const url = `http://127.0.0.1:${api}`;
    await waitForResponse(`${url}/health/ready`, server);
    const create = 'run --silent cli -- keys create --name ci --environment test --role developer';
    const key = spawnSync('npm', create.split(' '), { env, encoding: 'utf8' }).stdout.trim();
    await run(python, ['-m', 'pytest'], { TRACKING_URL: url, TRACKING_API_KEY: key });
  } finally {
    await server.end();
  }
}

/** Runs a program in the package's folder. The server's output is read meanwhile. */
async function run(program, options, own = {}) {
  const caches = {
    MYPY_CACHE_DIR: join(work, 'mypy'),
    RUFF_CACHE_DIR: join(work, 'ruff'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const env = { ...process.env, ...caches, ...own };
  const child = spawn(program, options, { cwd: PACKAGE, env, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${program} ${options.join(' ')} failed`);
}
