import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { waitForResponse, freePorts, start } from './processes.mjs';

/**
 * Tests the receivers of docs/guides/verification in each language that this machine has: first each receiver's own
 * test with the shared vectors; then, against a real service, the challenge, a delivery, its repetition, a delivery
 * after the rotation of the secret, and an unsigned request. Does the same with the packages of Standard Webhooks if
 * their registries are available. Prints which receivers are not tested.
 */
const FETCH_MS = 120_000;
const FOLDER = 'docs/guides/verification';
const work = mkdtempSync(join(tmpdir(), 'verification-'));
const STANDARD = 'standardwebhooks';
const JAR = 'com.standardwebhooks:standardwebhooks:1.1.0';
const jars = join(work, 'jars', '*');
const go = spawnSync('go', ['version']).status === 0 ? 'go' : '/usr/local/go/bin/go';

/**
 * Properties of a receiver: folder; program and its arguments for its version; command that fetches a package;
 * preparation; test; command of the receiver, and its environment.
 */
const RECEIVERS = {
  TypeScript: {
    folder: 'typescript',
    versionCommand: [process.execPath, '--version'],
    test: [process.execPath, '--test', 'signatures.test.ts'],
    receiver: [process.execPath, 'receiver.ts'],
  },
  Python: {
    folder: 'python',
    versionCommand: ['python3', '--version'],
    test: ['python3', '-B', '-m', 'unittest', '-q', 'test_receiver'],
    receiver: ['python3', '-B', 'receiver.py'],
  },
  Go: {
    folder: 'go',
    versionCommand: [go, 'version'],
    before: [go, 'build', '-o', join(work, 'go-receiver'), '.'],
    test: [go, 'test', './...'],
    receiver: [join(work, 'go-receiver')],
  },
  Java: {
    folder: 'java',
    versionCommand: ['javac', '-version'],
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
  'C#': {
    folder: 'csharp',
    versionCommand: ['dotnet', '--version'],
    before: ['dotnet', 'build', '--artifacts-path', join(work, 'csharp')],
    test: ['dotnet', 'run', '--artifacts-path', join(work, 'csharp'), '--', '../vectors.tsv'],
    receiver: ['dotnet', 'run', '--artifacts-path', join(work, 'csharp')],
  },
  'JavaScript with standardwebhooks': {
    folder: STANDARD,
    versionCommand: [process.execPath, '--version'],
    receiver: [process.execPath, 'receiver.mjs'],
  },
  'Python with standardwebhooks': {
    folder: STANDARD,
    versionCommand: ['python3', '-m', 'pip', '--version'],
    fetch: [
      'python3',
      '-m',
      'pip',
      'install',
      '--quiet',
      '--no-deps',
      '--target',
      join(work, 'pip'),
      'standardwebhooks==1.1.0',
    ],
    env: { PYTHONPATH: join(work, 'pip') },
    receiver: ['python3', '-B', 'receiver.py'],
  },
  'Go with standardwebhooks': {
    folder: STANDARD,
    versionCommand: [go, 'version'],
    fetch: [go, 'mod', 'download'],
    before: [go, 'build', '-o', join(work, 'go-standard'), '.'],
    receiver: [join(work, 'go-standard')],
  },
  'Java with standardwebhooks': {
    folder: STANDARD,
    versionCommand: ['mvn', '--version'],
    fetch: [
      'mvn',
      '--quiet',
      '--batch-mode',
      'dependency:copy',
      `-Dartifact=${JAR}`,
      `-DoutputDirectory=${join(work, 'jars')}`,
    ],
    before: ['javac', '-Xlint:all', '-Werror', '-cp', jars, '-d', join(work, 'java-standard'), 'Receiver.java'],
    receiver: ['java', '-cp', `${join(work, 'java-standard')}:${jars}`, 'Receiver'],
  },
};

const [apiPort, management] = await freePorts(2);
const api = `http://127.0.0.1:${apiPort}`;
const env = { ...process.env, PORT: apiPort, MANAGEMENT_PORT: management, DATA_DIR: join(work, 'data') };
const server = start('npm', ['run', '--silent', 'dev'], { env });
try {
  await waitForResponse(`${api}/health/live`, server);
  const made = spawnSync(
    'npm',
    'run --silent cli -- keys create --name ci --environment test --role developer'.split(' '),
    { env },
  );
  const key = made.stdout.toString().trim();
  for (const [language, tools] of Object.entries(RECEIVERS)) await testReceiver(language, tools, key);
} finally {
  await server.end();
  rmSync(work, { recursive: true });
}

async function testReceiver(language, { folder, versionCommand, fetch: get, before, test, env: own, receiver }, key) {
  if (spawnSync(versionCommand[0], versionCommand.slice(1)).status !== 0) {
    console.log(`${language}: not tested, ${versionCommand[0]} is not installed`);
    return;
  }
  const cwd = join(FOLDER, folder);
  const run = ([program, ...options]) => spawnSync(program, options, { cwd, encoding: 'utf8', timeout: FETCH_MS });
  const fetched = get === undefined ? { status: 0 } : run(get);
  if (fetched.status !== 0) {
    const [reason] = `${fetched.stdout}${fetched.stderr}`.trim().split('\n');
    console.log(`${language}: not tested, the package could not be fetched: ${reason}`);
    return;
  }
  for (const command of [before, test].filter((each) => each !== undefined)) {
    const { status, stdout, stderr } = run(command);
    if (status !== 0) throw new Error(`${language}: ${command.join(' ')}:\n${stdout}${stderr}`);
  }
  await receive(language, { receiver, cwd, own, ask: (method, path, body) => ask(key, method, path, body) });
  const tried = `${test ? 'vectors, ' : ''}challenge, delivery, repetition, a rotated secret and a forged one`;
  console.log(`${language}: ${tried}`);
}

async function receive(language, { receiver: [program, ...options], cwd, own, ask }) {
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}/webhooks`;
  const { id, secret } = await ask('POST', '/v1/webhook_endpoints', { url, event_types: ['*'] });
  const receiver = start(program, options, {
    cwd,
    env: { ...process.env, ...own, PORT: port, WEBHOOK_SECRET: secret },
  });
  try {
    await waitForResponse(url, receiver);
    const { status, last_verification } = await ask('POST', `/v1/webhook_endpoints/${id}/verify`);
    requireEqual(language, 'the challenge', [status, last_verification.error], ['verified', null]);
    await ask('POST', `/v1/webhook_endpoints/${id}/enable`);
    await ask('POST', '/v1/shipments', { external_id: language, house_bill: 'Göteborg 上海' });
    const first = await delivered(ask, id, 'shipment.created', 1);
    await ask('POST', `/v1/webhook_deliveries/${first.id}/retry`);
    await delivered(ask, id, 'shipment.created', 2);
    // The receiver still has the previous secret, which is valid for a day.
    await ask('POST', `/v1/webhook_endpoints/${id}/rotate_secret`);
    await ask('POST', '/v1/shipments', { external_id: language, house_bill: 'HBL-2' });
    const second = await delivered(ask, id, 'shipment.updated', 1);
    // Not every event is about a shipment.
    await ask('POST', `/v1/webhook_endpoints/${id}/test`, { type: 'webhook_endpoint.failing' });
    const third = await delivered(ask, id, 'webhook_endpoint.failing', 1);
    const lines = () => receiver.printed().split('\n').filter(Boolean);
    const expected = [
      `shipment.created ${first.event_id} shipment_version 1`,
      `shipment.updated ${second.event_id} shipment_version 2`,
      `webhook_endpoint.failing ${third.event_id} shipment_version `,
    ];
    requireEqual(language, 'its output', lines(), expected);
    const now = Math.floor(Date.now() / 1000);
    const headers = {
      'Service-Signature': `t=${now},v1=${'0'.repeat(64)}`,
      'webhook-id': 'evt_forged',
      'webhook-timestamp': String(now),
      'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
    };
    const body = '{"id":"evt_forged","type":"shipment.created","data":{}}';
    for (const sent of [headers, {}]) {
      const forged = await fetch(url, { method: 'POST', headers: sent, body });
      requireEqual(language, 'a forged delivery', [forged.status, lines().length], [400, 3]);
    }
  } finally {
    await ask('DELETE', `/v1/webhook_endpoints/${id}`);
    await receiver.end();
  }
}

/** Waits until the only delivery of this type to the endpoint has had this many 2xx responses. */
async function delivered(ask, endpoint, type, attempts) {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const { data } = await ask('GET', `/v1/webhook_deliveries?endpoint_id=${endpoint}&event_type=${type}`);
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

function requireEqual(language, what, actual, expected) {
  if (JSON.stringify(actual) === JSON.stringify(expected)) return;
  throw new Error(`${language}: ${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
}
