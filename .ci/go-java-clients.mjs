// Tests the clients for Go and Java: the tests of their hand-written parts, which need only the language; then generates
// the rest from the description and runs their examples with a service. Prints what this machine cannot run.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, start, waitForResponse } from './processes.mjs';

const CLIENTS = join(import.meta.dirname, '../clients');
const VECTORS = join(import.meta.dirname, '../docs/guides/verification/vectors.tsv');
const GO_MINOR = 24;
const JAVA_RELEASE = 17;
/** Messages of go and Maven if a registry cannot be reached, or does not have a package. */
const NOT_FETCHED =
  /Could not (?:resolve|transfer|find artifact)|could not be resolved|No plugin found|dial tcp|no such host|proxyconnect|toolchain not available/;

const work = mkdtempSync(join(tmpdir(), 'clients-'));
const GO_FOLDER = existsSync('/usr/local/go/bin') ? '/usr/local/go/bin/' : '';
const go = `${GO_FOLDER}go`;
try {
  const examples = [await prepareGo(), await prepareJava()].filter((example) => example !== undefined);
  if (examples.length > 0) await runExamples(examples);
} finally {
  rmSync(work, { recursive: true });
}

/** @returns the command of the example, and the folder of the client */
async function prepareGo() {
  const folder = join(CLIENTS, 'go');
  const { output: version } = await run(go, ['version'], folder);
  const minor = Number(/go1\.(\d+)/.exec(version)?.[1]);
  if (!(minor >= GO_MINOR)) return skip('Go client', `Go 1.${GO_MINOR} or newer is not installed`);
  const unformatted = await mustRun(`${GO_FOLDER}gofmt`, ['-l', '.'], folder);
  if (unformatted.replace('example/api/api.gen.go\n', '') !== '') throw new Error(`not formatted: ${unformatted}`);
  await mustRun(go, ['vet', '.'], folder);
  console.log((await mustRun(go, ['test', '.'], folder)).trim());
  const example = join(folder, 'example');
  const generated = await fetchAndRun('Go client: generated part and example', go, ['generate', '.'], example);
  if (!generated) return undefined;
  const program = join(work, 'go-example');
  if (!(await fetchAndRun('Go client: example', go, ['build', '-o', program, '.'], example))) return undefined;
  await mustRun(go, ['vet', '.'], example);
  return { folder, command: [program] };
}

/** @returns the command of the example, and the folder of the client */
async function prepareJava() {
  const folder = join(CLIENTS, 'java');
  const { output: version } = await run('javac', ['-version'], folder);
  const release = Number(/javac (\d+)/.exec(version)?.[1]);
  if (!(release >= JAVA_RELEASE)) return skip('Java client', `a JDK ${JAVA_RELEASE} or newer is not installed`);
  const sources = ['main/java', 'test/java'].map((name) => `src/${name}/com/example/tracking/client`);
  const files = [
    `${sources[0]}/RetryingHttpClient.java`,
    `${sources[0]}/WebhookVerifier.java`,
    `${sources[1]}/ClientTest.java`,
  ];
  const classes = join(work, 'java');
  await mustRun('javac', ['-Xlint:all', '-Werror', '--release', String(JAVA_RELEASE), '-d', classes, ...files], folder);
  console.log(
    `Java client: ${(await mustRun('java', ['-cp', classes, 'com.example.tracking.client.ClientTest', VECTORS], folder)).trim()}`,
  );
  if ((await run('mvn', ['--version'], folder)).code !== 0) {
    return skip('Java client: generated part and example', 'Maven is not installed');
  }
  const goals = ['compile', 'dependency:copy-dependencies', '-DincludeScope=compile'];
  const options = ['--quiet', '--batch-mode', ...goals];
  if (!(await fetchAndRun('Java client: generated part and example', 'mvn', options, folder))) return undefined;
  const classpath = ['target/classes', 'target/dependency/*', join(work, 'java-example')].join(':');
  await mustRun(
    'javac',
    ['-Xlint:-options', '-d', join(work, 'java-example'), '-cp', classpath, 'example/Example.java'],
    folder,
  );
  return { folder, command: ['java', '-cp', classpath, 'Example'] };
}

/** Runs each example with a service, and compares its output with the README of the client. */
async function runExamples(examples) {
  const [api, management] = await freePorts(2);
  const env = { ...process.env, PORT: api, MANAGEMENT_PORT: management, DATA_DIR: join(work, 'data') };
  const server = start('npm', ['run', '--silent', 'dev'], { env });
  try {
    const url = `http://127.0.0.1:${api}`;
    await waitForResponse(`${url}/health/ready`, server);
    const create = 'run --silent cli -- keys create --name ci --environment test --role developer'.split(' ');
    const key = (await mustRun('npm', create, '.', env)).trim();
    for (const { folder, command } of examples) {
      const [program, ...options] = command;
      const output = await mustRun(program, options, folder, { ...process.env, API_KEY: key, BASE_URL: url });
      const shown = /```text\n([^`]*)```/.exec(readFileSync(join(folder, 'README.md'), 'utf8'))?.[1];
      if (output !== shown) throw new Error(`${folder}: the example printed\n${output}and not\n${shown}`);
      console.log(`${folder}: the example printed the output in its README`);
    }
  } finally {
    await server.end();
  }
}

/** @returns false if a package could not be fetched */
async function fetchAndRun(name, program, options, folder) {
  const { code, output } = await run(program, options, folder);
  if (code === 0) return true;
  const reason = output.split('\n').find((line) => NOT_FETCHED.test(line));
  if (reason === undefined) throw new Error(`${program} ${options.join(' ')} failed:\n${output}`);
  skip(name, `a package could not be fetched: ${reason}`);
  return false;
}

function skip(name, reason) {
  console.log(`${name}: not tested, ${reason}`);
}

/** @returns the standard output */
async function mustRun(program, options, folder, env) {
  const { code, output, stdout } = await run(program, options, folder, env);
  if (code !== 0) throw new Error(`${program} ${options.join(' ')} failed:\n${output}`);
  return stdout;
}

/** Runs a program. The output of a running server is read meanwhile. */
async function run(program, options, cwd, env = process.env) {
  const child = spawn(program, options, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = { output: '', stdout: '' };
  child.stdout.on('data', (chunk) => (printed.stdout += chunk));
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed.output += chunk));
  // A program that is not installed emits an error instead of an exit code.
  const code = await new Promise((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('close', resolve);
  });
  return { code, ...printed };
}
