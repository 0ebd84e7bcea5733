import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { normal } from './guide-outputs.mjs';
import { waitForResponse, freePorts, start } from './processes.mjs';

/**
 * Runs the quick start, the guides and the client's README literally, one after another on one server and one data folder,
 * and compares the output of every command with the block that follows it. Only ids, secrets and times may differ.
 *
 *     ```bash setup        runs in a shell; guides without such a block use that of the first guide
 *     ```bash server       keeps running beside the shell
 *     ```bash              runs in the shell; the `json` or `text` block after it is its output
 *     ```bash eventually   is repeated until it prints that output
 *
 * Usage: node .ci/guides.mjs [--write] [NAME…]; --write writes the actual output into the guides.
 */
const write = process.argv.includes('--write');
const FOLDER = 'docs/guides';
const FIRST_GUIDE = 'first-integration.md';
const OUTPUT_TIMEOUT_MS = write ? 3_000 : 20_000;
/** Folder name in the guides for the folder in which they run. */
const EXAMPLE_FOLDER = '/home/ann/shipment-tracking';
const DONE_MARKER = '--done--';

const named = process.argv.slice(2).filter((argument) => argument !== '--write');
const first = readBlocks(FIRST_GUIDE);
const guides = readdirSync(FOLDER).filter(
  (name) => name.endsWith('.md') && name !== FIRST_GUIDE && readBlocks(name).some(isRun),
);

const [api, receiver, management] = await freePorts(3);
const work = mkdtempSync(join(tmpdir(), 'guide-'));
const env = { ...process.env, PORT: api, MANAGEMENT_PORT: management, DATA_DIR: join(work, 'data') };
const insertPorts = (text) => text.replaceAll(':3000', `:${api}`).replaceAll(/(?<=:|PORT=)4000/g, receiver);
const restoreExample = (text) =>
  text.replaceAll(`:${api}`, ':3000').replaceAll(`:${receiver}`, ':4000').replaceAll(work, EXAMPLE_FOLDER);
const server = start(
  'bash',
  ['--norc', '-euc', first.find(({ kind }) => kind === 'bash server').text.replace(/^npm ci$/m, '')],
  { env },
);
try {
  await waitForResponse(`http://127.0.0.1:${api}/health/live`, server);
  if (named.length > 0) for (const path of named) await run(basename(path));
  else {
    await runQuickStart();
    await run(FIRST_GUIDE);
    await runClientReadme();
    for (const name of guides) await run(name);
  }
} finally {
  await server.end();
  rmSync(work, { recursive: true });
}

/** A block is `{lines: [from, to], kind, text}`; the lines are those between the fences. */
function readBlocks(name, folder = FOLDER) {
  const found = [];
  let open;
  for (const [index, line] of readFileSync(join(folder, name), 'utf8').split('\n').entries()) {
    const fence = /^```(.*)$/.exec(line);
    if (open === undefined && fence) open = { kind: fence[1].trim(), from: index + 1, text: [] };
    else if (open !== undefined && fence) {
      found.push({ ...open, to: index, text: open.text.join('\n') });
      open = undefined;
    } else open?.text.push(line);
  }
  return found;
}

function isRun({ kind }) {
  return /^bash( (setup|eventually))?$/.test(kind);
}

async function run(name) {
  const blocks = readBlocks(name);
  const own = blocks.some(({ kind }) => kind === 'bash setup');
  const all = own ? blocks : [...first.filter(({ kind }) => kind === 'bash setup'), ...blocks];
  const shell = startShell(env);
  const written = [];
  try {
    for (const [index, block] of all.entries()) {
      if (!isRun(block)) continue;
      const next = all[index + 1];
      const expected = next?.kind === 'json' || next?.kind === 'text' ? next : undefined;
      const printed = await runUntilExpected(block, expected, async () =>
        restoreExample(await shell.run(insertPorts(block.text))),
      );
      if (expected !== undefined) written.push({ ...expected, printed });
    }
  } catch (error) {
    report(join(FOLDER, name), error);
  } finally {
    await shell.end();
  }
  if (write) rewrite(name, written);
  if (process.exitCode !== 1) console.log(`${join(FOLDER, name)} works as written: ${written.length} outputs.`);
}

/** Runs the second block of the README. One of the printed resources must have the fields of the block after it. */
async function runQuickStart() {
  const blocks = readBlocks('README.md', '.');
  const [, commands] = blocks.filter(({ kind }) => kind === 'bash');
  const shown = JSON.parse(blocks[blocks.indexOf(commands) + 1].text);
  const shell = startShell(env);
  try {
    const printed = restoreExample(await shell.run(insertPorts(commands.text)));
    const resources = printed.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
    const pick = (resource) => Object.fromEntries(Object.keys(shown).map((name) => [name, resource[name]]));
    const matches = (resource) =>
      isDeepStrictEqual(normal(JSON.stringify(pick(resource))), normal(JSON.stringify(shown)));
    if (!resources.some(matches)) throw new Error(`printed\n${printed}\nwithout\n${JSON.stringify(shown)}`);
    if (resources.some(({ error }) => error)) throw new Error(`printed an error\n${printed}`);
    console.log('README.md works as written.');
  } catch (error) {
    report('README.md', error);
  } finally {
    await shell.end();
  }
}

/** Runs the example of the client's README twice, with the key of the first guide's command. */
async function runClientReadme() {
  const path = 'libs/client/README.md';
  const blocks = readBlocks(path, '.');
  const program = blocks.find(({ kind, text }) => kind === 'js' && text.includes('API_KEY'));
  const expected = blocks.slice(blocks.indexOf(program)).find(({ kind }) => kind === 'text').text;
  // Below node_modules, the program finds the client as in a project that has installed it.
  const folder = mkdtempSync('node_modules/.client-readme-');
  const shell = startShell(env);
  try {
    writeFileSync(join(folder, 'first.mjs'), insertPorts(program.text));
    await shell.run(first.find(({ kind }) => kind === 'bash setup').text);
    for (const round of ['first', 'second']) {
      const printed = await shell.run(`API_KEY=$KEY node_modules/.bin/node ${folder}/first.mjs`);
      if (printed !== expected.trimEnd())
        throw new Error(`the ${round} run printed\n${printed}\ninstead of\n${expected}`);
    }
    console.log(`${path} works as written.`);
  } catch (error) {
    report(path, error);
  } finally {
    await shell.end();
    rmSync(folder, { recursive: true });
  }
}

function report(path, error) {
  console.error(`${path}: ${error.message}`);
  process.exitCode = 1;
}

async function runUntilExpected({ kind, text }, expected, run) {
  const deadline = Date.now() + OUTPUT_TIMEOUT_MS;
  for (;;) {
    const printed = await run();
    if (expected === undefined || isDeepStrictEqual(normal(printed), normal(expected.text))) return printed;
    const awaited = kind === 'bash eventually' && Date.now() < deadline;
    if (!awaited && !write) throw new Error(`\n${text}\nprinted\n${printed}\ninstead of\n${expected.text}`);
    if (!awaited) return printed;
    await pause(200);
  }
}

function rewrite(name, written) {
  const lines = readFileSync(join(FOLDER, name), 'utf8').split('\n');
  if (written.every(({ text, printed }) => isDeepStrictEqual(normal(printed), normal(text)))) return;
  for (const { from, to, printed } of written.toReversed()) lines.splice(from, to - from, ...printed.split('\n'));
  writeFileSync(join(FOLDER, name), lines.join('\n'));
}

/** A bash process that runs blocks one by one. */
function startShell(env) {
  const { child, printed, end } = start('bash', ['--norc', '-euo', 'pipefail'], { env });
  child.stdin.write('exec 2>&1\n');
  const run = async (text) => {
    const before = printed().length;
    child.stdin.write(`${text}\necho "${DONE_MARKER}"\n`);
    for (;;) {
      const output = printed().slice(before);
      if (output.endsWith(`${DONE_MARKER}\n`)) return output.slice(0, -DONE_MARKER.length - 1).trimEnd();
      if (child.exitCode !== null) throw new Error(`\n${text}\nended the shell, after printing\n${output}`);
      await pause(20);
    }
  };
  return { run, end };
}
