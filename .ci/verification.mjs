import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { answers, freePorts, start } from './processes.mjs';

/**
 * Tries the receivers of docs/guides/verification in each language that is on this machine: its own test of the shared vectors;
 * then, against a real service, challenge, a delivery, its repetition, and what nobody signed. Says which languages are not here.
 */
const FOLDER = 'docs/guides/verification';
const work = mkdtempSync(join(tmpdir(), 'verification-'));
const go = spawnSync('go', ['version']).status === 0 ? 'go' : '/usr/local/go/bin/go';

/** Its program and what that says of itself; what has to be done before; its test; what the receiver is. */
const LANGUAGES = {
  typescript: {
    here: [process.execPath, '--version'],
    test: [process.execPath, '--test', 'signatures.test.ts'],
    receiver: [process.execPath, 'receiver.ts'],
  },
  python: {
    here: ['python3', '--version'],
    test: ['python3', '-B', '-m', 'unittest', '-q', 'test_receiver'],
    receiver: ['python3', '-B', 'receiver.py'],
  },
  go: {
    here: [go, 'version'],
    before: [go, 'build', '-o', join(work, 'go-receiver'), '.'],
    test: [go, 'test', './...'],
    receiver: [join(work, 'go-receiver')],
  },
  java: {
    here: ['javac', '-version'],
    before: [
      'javac',
      '-Xlint:all',
      '-Werror',
      '-d',
      join(work, 'java'),
      'Receiver.java',
      'Signatures.java',
      'SignaturesTest.java',
    ],
    test: ['java', '-cp', join(work, 'java'), 'SignaturesTest', '../vectors.tsv'],
    receiver: ['java', '-cp', join(work, 'java'), 'Receiver'],
  },
  csharp: {
    here: ['dotnet', '--version'],
    before: ['dotnet', 'build', '--artifacts-path', join(work, 'csharp')],
    test: ['dotnet', 'run', '--artifacts-path', join(work, 'csharp'), '--', '../vectors.tsv'],
    receiver: ['dotnet', 'run', '--artifacts-path', join(work, 'csharp')],
  },
};

const [apiPort, management] = await freePorts(2);
const api = `http://127.0.0.1:${apiPort}`;
const env = { ...process.env, PORT: apiPort, MANAGEMENT_PORT: management, DATA_DIR: join(work, 'data') };
const server = start('npm', ['run', '--silent', 'dev'], { env });
try {
  await answers(`${api}/health/live`, server);
  const made = spawnSync(
    'npm',
    'run --silent cli -- keys create --name ci --environment test --role developer'.split(' '),
    { env },
  );
  const key = made.stdout.toString().trim();
  for (const [language, tools] of Object.entries(LANGUAGES)) await tryOut(language, tools, key);
} finally {
  await server.end();
  rmSync(work, { recursive: true });
}

async function tryOut(language, { here, before, test, receiver }, key) {
  if (spawnSync(here[0], here.slice(1)).status !== 0) {
    console.log(`${language}: not tried, there is no ${here[0]} here`);
    return;
  }
  const cwd = join(FOLDER, language);
  for (const [program, ...options] of [before ?? [], test].filter(({ length }) => length > 0)) {
    const { status, stdout, stderr } = spawnSync(program, options, { cwd, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${language}: ${program} ${options.join(' ')}:\n${stdout}${stderr}`);
  }
  await receive(language, { receiver, cwd, ask: (method, path, body) => ask(key, method, path, body) });
  console.log(`${language}: vectors, challenge, delivery, repetition and a forged one`);
}

async function receive(language, { receiver: [program, ...options], cwd, ask }) {
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}/webhooks`;
  const { id, secret } = await ask('POST', '/v1/webhook_endpoints', { url, event_types: ['*'] });
  const receiver = start(program, options, { cwd, env: { ...process.env, PORT: port, WEBHOOK_SECRET: secret } });
  try {
    await answers(url, receiver);
    const { status, last_verification } = await ask('POST', `/v1/webhook_endpoints/${id}/verify`);
    same(language, 'the challenge', [status, last_verification.error], ['verified', null]);
    await ask('POST', `/v1/webhook_endpoints/${id}/enable`);
    await ask('POST', '/v1/shipments', { external_id: language, house_bill: 'Göteborg 上海' });
    const delivery = await delivered(ask, id, 1);
    await ask('POST', `/v1/webhook_deliveries/${delivery.id}/retry`);
    await delivered(ask, id, 2);
    const lines = () => receiver.printed().split('\n').filter(Boolean);
    same(language, 'what it printed', lines(), [`shipment.created ${delivery.event_id} shipment_version 1`]);
    const headers = { 'Service-Signature': `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}` };
    const forged = await fetch(url, {
      method: 'POST',
      headers,
      body: '{"id":"evt_forged","type":"shipment.created","data":{}}',
    });
    same(language, 'a forged delivery', [forged.status, lines().length], [400, 1]);
  } finally {
    await ask('DELETE', `/v1/webhook_endpoints/${id}`);
    await receiver.end();
  }
}

/** The one delivery of the endpoint, once it was answered well so often. */
async function delivered(ask, endpoint, attempts) {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const { data } = await ask('GET', `/v1/webhook_deliveries?endpoint_id=${endpoint}`);
    if (data[0]?.status === 'succeeded' && data[0].attempts_count === attempts) return data[0];
    if (Date.now() > deadline) throw new Error(`not delivered: ${JSON.stringify(data)}`);
    await pause(50);
  }
}

async function ask(key, method, path, body) {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const response = await fetch(`${api}${path}`, { method, headers, body: body && JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

function same(language, what, came, expected) {
  if (JSON.stringify(came) === JSON.stringify(expected)) return;
  throw new Error(`${language}: ${what}: ${JSON.stringify(came)} instead of ${JSON.stringify(expected)}`);
}
