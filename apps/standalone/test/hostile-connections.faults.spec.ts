import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { eventually, scaleTimeout, simulateDelay } from '@tracking/testing';
import axios from 'axios';
import { createKey, startStandalone, withTemporaryFolder, type StandaloneProcess } from './standalone-process.ts';

const MIB = 2 ** 20;
/** Connections of one attacker; `ATTACKERS=3000` is what ended a process before. */
const ATTACKERS = Number(process.env['ATTACKERS'] ?? 600);
/** Deadline of another client's write during an attack. */
const ATTACKED = { deadlineMs: 30_000 };
/** The memory of a process, the heap that V8 uses in it by default, and the settings that docs/reference/http.md recommends. */
const PROCESSES = [
  { memoryMib: 1_024, heapMib: 512, settings: {} },
  { memoryMib: 512, heapMib: 256, settings: { MAX_CONNECTIONS: '1000', MAX_CONNECTIONS_PER_NETWORK: '250' } },
];

/** Opens connections from one address and writes these pieces to each, without reading anything. */
async function attack(url: string, pieces: readonly (string | Buffer)[]): Promise<readonly Socket[]> {
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: ATTACKERS }, () => {
    const socket = connect({ host: hostname, port: Number(port), localAddress: '127.0.0.66' });
    socket.on('error', () => undefined);
    socket.pause();
    for (const piece of pieces) socket.write(piece);
    return socket;
  });
  await Promise.all(sockets.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
  return sockets;
}

async function peakMib({ child }: StandaloneProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1_024;
}

const UNFINISHED = Buffer.alloc(MIB - 10, ' ');
const post = (path: string, key = '') =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${MIB}\r\n` +
  `${key && `Authorization: Bearer ${key}\r\n`}\r\n`;
const get = (path: string, key = '') =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\n${key && `Authorization: Bearer ${key}\r\n`}\r\n`;

describe.each(PROCESSES)('a process with $memoryMib MiB', ({ memoryMib, heapMib, settings }) => {
  it(
    'serves others and stays within its memory under attacks from one address',
    () =>
      withTemporaryFolder(async (folder) => {
        const server = await startStandalone(folder, {
          NODE_OPTIONS: `--max-old-space-size=${heapMib}`,
          RATE_LIMIT_PER_MINUTE: '1000000',
          ...settings,
        });
        try {
          const [key, hostileKey] = [await createKey(folder), await createKey(folder, 'test')];
          let created = 0;
          /** Another client's write and read succeed; one refusal with `busy` may be repeated. */
          const serves = async () => {
            created += 1;
            const request = { external_id: `OTHER-${created}`, mode: 'ocean' };
            const headers = { Authorization: `Bearer ${key}`, 'Idempotency-Key': `other-${created}` };
            await eventually(async () => {
              const answer = await axios.post(`${server.url}/v1/shipments`, request, {
                headers,
                proxy: false,
                timeout: scaleTimeout(10_000),
                validateStatus: (status) => status < 400,
              });
              expect(answer.status).toBe(201);
            }, ATTACKED);
          };
          const attacks: Readonly<Record<string, readonly [string, readonly (string | Buffer)[]]>> = {
            'bodies of an unknown path': [server.url, [post('/nothing'), UNFINISHED]],
            'bodies of a health check': [server.url, [post('/health/live'), UNFINISHED]],
            'bodies without a key': [server.url, [post('/v1/shipments'), UNFINISHED]],
            'bodies of a sign-in': [server.url, [post('/v1/sessions'), UNFINISHED]],
            'bodies with a key': [server.url, [post('/v1/shipments', hostileKey), UNFINISHED]],
            'a description that nobody reads': [server.url, [get('/openapi.json').repeat(6)]],
            'files that nobody reads': [server.url, [get('/docs/assets/swagger-ui-bundle.js').repeat(6)]],
            'lists that nobody reads': [server.url, [get('/v1/shipments?limit=200', hostileKey).repeat(6)]],
            'metrics that nobody reads': [server.managementUrl, [get('/metrics').repeat(6)]],
            'bodies on the management port': [server.managementUrl, [post('/metrics'), UNFINISHED]],
          };
          for (const [name, [url, pieces]] of Object.entries(attacks)) {
            const sockets = await attack(url, pieces);
            // The attack lasts while others are served.
            for (let n = 0; n < 3; n += 1) {
              await serves();
              await simulateDelay(200);
            }
            const peak = await peakMib(server);
            expect([name, peak < memoryMib ? 'within its memory' : `${peak} MiB`]).toEqual([name, 'within its memory']);
            for (const socket of sockets) socket.destroy();
          }
          expect(server.child.exitCode).toBeNull();
        } finally {
          await server.stop();
        }
      }),
    scaleTimeout(240_000),
  );
});
