import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { normal } from './guide-outputs.mjs';
import { waitForResponse, freePorts, start } from './processes.mjs';

/**
 * Runs the guides literally, each with its own server and shell, and compares the output of every command with the block
 * that follows it. Only ids, secrets and times may differ.
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
const guides = readdirSync(FOLDER).filter((name) => name.endsWith('.md') && readBlocks(name).some(isRun));
for (const name of named.length > 0 ? named.map((path) => basename(path)) : guides) await run(name);

/** A block is `{lines: [from, to], kind, text}`; the lines are those between the fences. */
function readBlocks(name) {
  const found = [];
  let open;
  for (const [index, line] of readFileSync(join(FOLDER, name), 'utf8').split('\n').entries()) {
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
  const ports = await freePorts(3);
  const work = mkdtempSync(join(tmpdir(), 'guide-'));
  const [api, receiver, management] = ports;
  const env = { ...process.env, PORT: api, MANAGEMENT_PORT: management, DATA_DIR: join(work, 'data') };
  const insertPorts = (text) => text.replaceAll(':3000', `:${api}`).replaceAll(/(?<=:|PORT=)4000/g, receiver);
  const restoreExample = (text) =>
    text.replaceAll(`:${api}`, ':3000').replaceAll(`:${receiver}`, ':4000').replaceAll(work, EXAMPLE_FOLDER);

  const command = first.find(({ kind }) => kind === 'bash server').text.replace(/^npm ci$/m, '');
  const server = start('bash', ['--norc', '-euc', command], { env });
  const shell = startShell(env);
  const written = [];
  try {
    await waitForResponse(`http://127.0.0.1:${api}/health/live`, server);
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
    console.error(`${join(FOLDER, name)}: ${error.message}`);
    process.exitCode = 1;
  } finally {
    await shell.end();
    await server.end();
    rmSync(work, { recursive: true });
  }
  if (write) rewrite(name, written);
  if (process.exitCode !== 1) console.log(`${join(FOLDER, name)} works as written: ${written.length} outputs.`);
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
