// Checks clients that popular generators make from the description: they compile, and a program with each creates
// shipments, records a milestone, uploads a file, reads a list by pages and handles an error with a service. For the
// types of TypeScript, files of uses compile only if the types are precise. .ci/go-java-clients.mjs does the same for
// oapi-codegen and the Java generator. Prints which generators this machine cannot run.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { build } from 'vite';
import { freePorts, start, waitForResponse } from './processes.mjs';

const OPENAPI_GENERATOR = '7.23.0';
const OGEN = 'v1.24.0';
const PYTHON_PACKAGES = [
  'openapi-python-client==0.29.1',
  'pydantic==2.14.4',
  'python-dateutil==2.9.0.post0',
  'urllib3>=2.1,<3',
];
/** Messages of Maven, pip, venv and Go if a registry or a part of the language is not available. */
const NOT_FETCHED =
  /Could not (?:resolve|transfer|find)|could not be resolved|No plugin found|No matching distribution|ensurepip is not available|No module named|dial tcp|no such host|proxyconnect|toolchain not available/;

const root = join(import.meta.dirname, '..');
const description = join(root, 'docs/openapi.json');
const sources = join(import.meta.dirname, 'generated-clients');
/** In node_modules, so that generated clients find axios. */
const made = join(root, 'node_modules/.cache/generated-clients');
const work = await mkdtemp(join(tmpdir(), 'generated-clients-'));
const python = join(work, 'venv/bin/python');
const go = existsSync('/usr/local/go/bin/go') ? '/usr/local/go/bin/go' : 'go';

/** Programs by the name of their generator: command, working folder and environment. */
const programs = {};
try {
  const hasGenerator = await fetchOpenapiGenerator();
  const hasPython = await preparePython();
  await prepareTypescript(hasGenerator);
  if (hasPython) await preparePythonClient();
  if (hasPython && hasGenerator) await prepareOpenapiGeneratorPython();
  await prepareOgen();
  await runPrograms();
} finally {
  await rm(work, { recursive: true });
}

async function fetchOpenapiGenerator() {
  const artifact = `org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR}`;
  const options = ['--quiet', '--batch-mode', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${work}`];
  return fetched('OpenAPI Generator for Python and TypeScript', 'mvn', options);
}

async function preparePython() {
  const name = 'Generated Python clients';
  if (!(await fetched(name, 'python3', ['-m', 'venv', join(work, 'venv')]))) return false;
  return fetched(name, python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...PYTHON_PACKAGES]);
}

async function prepareTypescript(hasGenerator) {
  await rm(made, { recursive: true, force: true });
  await mkdir(made, { recursive: true });
  const isUsed = (path) => !/ogen$|\.py$/.test(path) && (hasGenerator || !path.endsWith('typescript-axios.run.ts'));
  await cp(sources, made, { recursive: true, filter: isUsed });
  const types = await openapiTypescript(new URL(`file://${description}`), { silent: true });
  await writeFile(join(made, 'openapi-typescript.ts'), astToString(types));
  await createClient({ input: description, output: join(made, 'hey-api'), logs: { level: 'silent' } });
  if (hasGenerator) await generate('typescript-axios', join(made, 'typescript-axios'));
  await mustRun(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--project', made]);
  for (const name of ['openapi-typescript', 'hey-api', ...(hasGenerator ? ['typescript-axios'] : [])]) {
    const outDir = join(made, 'dist', name);
    await build({
      root: made,
      configFile: false,
      logLevel: 'error',
      ssr: { noExternal: ['axios'] },
      build: {
        ssr: join(made, `${name}.run.ts`),
        outDir,
        target: 'node20',
        rolldownOptions: { output: { entryFileNames: 'run.mjs' } },
      },
    });
    programs[name] = { command: [process.execPath, join(outDir, 'run.mjs')] };
  }
}

async function preparePythonClient() {
  const output = join(work, 'openapi-python-client');
  const env = { ...process.env, PATH: `${join(work, 'venv/bin')}${delimiter}${process.env.PATH}` };
  const options = ['generate', '--path', description, '--output-path', output];
  await mustRun(join(work, 'venv/bin/openapi-python-client'), options, { env });
  const program = join(sources, 'openapi_python_client.py');
  programs['openapi-python-client'] = { command: [python, '-B', program], env: { PYTHONPATH: output } };
}

async function prepareOpenapiGeneratorPython() {
  const output = join(work, 'openapi-generator-python');
  await generate('python', output);
  const program = join(sources, 'openapi_generator.py');
  programs['OpenAPI Generator for Python'] = { command: [python, '-B', program], env: { PYTHONPATH: output } };
}

async function prepareOgen() {
  const folder = join(work, 'ogen');
  await cp(join(sources, 'ogen'), folder, { recursive: true });
  const ogen = `github.com/ogen-go/ogen/cmd/ogen@${OGEN}`;
  const options = ['run', ogen, '--target', 'api', '--package', 'api', '--clean', description];
  if (!(await fetched('ogen', go, options, { cwd: folder }))) return;
  const env = { ...process.env, GOFLAGS: '-mod=mod' };
  const program = join(work, 'ogen-program');
  if (await fetched('ogen', go, ['build', '-o', program, '.'], { cwd: folder, env }))
    programs.ogen = { command: [program] };
}

/** Runs OpenAPI Generator without its tests and documents. */
async function generate(generator, output) {
  const jar = join(work, `openapi-generator-cli-${OPENAPI_GENERATOR}.jar`);
  const properties = 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false';
  const options = ['generate', '-i', description, '-g', generator, '-o', output, '--global-property', properties];
  await mustRun('java', ['-Xmx1g', '-jar', jar, ...options]);
}

/** Runs each program with a service. All of them must print the same. */
async function runPrograms() {
  const [api, management] = await freePorts(2);
  const env = { ...process.env, PORT: api, MANAGEMENT_PORT: management, DATA_DIR: join(work, 'data') };
  const server = start('npm', ['run', '--silent', 'dev'], { env, cwd: root });
  try {
    const url = `http://127.0.0.1:${api}`;
    await waitForResponse(`${url}/health/ready`, server);
    const create = 'run --silent cli -- keys create --name ci --environment test --role developer'.split(' ');
    const key = (await mustRun('npm', create, { env, cwd: root })).trim();
    for (const [index, [name, { command, env: own }]] of Object.entries(programs).entries()) {
      const client = `PO-${index}`;
      const [program, ...options] = command;
      const settings = { ...process.env, ...own, BASE_URL: url, API_KEY: key, CLIENT: client };
      const output = await mustRun(program, options, { env: settings });
      const lines = [`${client}-1 in_transit`, 'bl.pdf uploaded', `${client}-1`, `${client}-2`];
      const expected = [...lines, 'validation_failed', 'house_bill invalid_value', ''].join('\n');
      if (output !== expected) throw new Error(`${name} printed\n${output}and not\n${expected}`);
      console.log(`${name}: generated, compiled and used with a service`);
    }
  } finally {
    await server.end();
  }
}

/** @returns false, after printing the reason, if the program or one of its packages is not available */
async function fetched(name, program, options, settings) {
  const { code, output } = await run(program, options, settings);
  if (code === 0) return true;
  const reason = output.split('\n').find((line) => NOT_FETCHED.test(line));
  if (typeof code === 'number' && reason === undefined)
    throw new Error(`${program} ${options.join(' ')} failed:\n${output}`);
  console.log(`${name}: not tested, ${reason ?? code}`);
  return false;
}

async function mustRun(program, options, settings) {
  const { code, output, stdout } = await run(program, options, settings);
  if (code !== 0) throw new Error(`${program} ${options.join(' ')} failed:\n${output}`);
  return stdout;
}

/** Runs a program. `code` is the message of the error if it is not installed. */
async function run(program, options, { cwd = work, env = process.env } = {}) {
  const child = spawn(program, options, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = { output: '', stdout: '' };
  child.stdout.on('data', (chunk) => (printed.stdout += chunk));
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed.output += chunk));
  const code = await new Promise((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('close', resolve);
  });
  return { code, ...printed };
}
