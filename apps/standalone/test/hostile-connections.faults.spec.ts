import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { USER_ROLES } from '@tracking/contracts';
import { eventually, generatePdf, scaleTimeout, waitForSimulatedDelay } from '@tracking/testing';
import axios from 'axios';
import {
  createTestApiClient,
  createKey,
  runCliProcessForOutput,
  startStandaloneProcess,
  withTemporaryFolder,
  type StandaloneProcess,
} from './standalone-process.ts';
import {
  MULTIPART_BOUNDARY,
  createShipment,
  MULTIPART_FORM_START,
  requestUpload,
  postDocumentAsMultipartForm,
  replaceUploadUrlOrigin,
} from './uploads.ts';

const MIB = 2 ** 20;
/** Number of connections that the attacker opens. docs/reference/http.md states the result for `ATTACKERS=1200`. */
const ATTACKERS = Number(process.env['ATTACKERS'] ?? 600);
/** Deadline of another client's write and read during an attack. */
const ATTACKED = { deadlineMs: 30_000 };
/**
 * The memory of a process, the heap that V8 uses in it by default, the settings that docs/reference/http.md recommends,
 * and the number of networks of the attackers.
 */
const PROCESSES = [
  { memoryMib: 1_024, heapMib: 512, settings: {}, networks: 1 },
  {
    memoryMib: 512,
    heapMib: 256,
    settings: { MAX_CONNECTIONS: '1000', MAX_CONNECTIONS_PER_NETWORK: '100' },
    networks: 1,
  },
  { memoryMib: 1_024, heapMib: 512, settings: {}, networks: 60 },
];

type Pieces = readonly (string | Buffer)[];

/** Opens connections from the networks and writes one of the lists to each in turn, without reading anything. */
async function attack(url: string, lists: readonly Pieces[], networks: number): Promise<readonly Socket[]> {
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: ATTACKERS }, (_, n) => {
    const socket = connect({ host: hostname, port: Number(port), localAddress: `127.0.${1 + (n % networks)}.66` });
    socket.on('error', () => undefined);
    socket.pause();
    for (const piece of lists[n % lists.length] ?? []) socket.write(piece);
    return socket;
  });
  await Promise.all(sockets.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
  return sockets;
}

/** Returns the largest memory of the process, without the pages of files, which the system can evict. */
async function peakMib({ child }: StandaloneProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  const kib = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]);
  return (kib('VmHWM') - kib('RssFile')) / 1_024;
}

const UNFINISHED = Buffer.alloc(MIB - 10, ' ');
const post = (path: string, key = '') =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${MIB}\r\n` +
  `${key && `Authorization: Bearer ${key}\r\n`}\r\n`;
const get = (path: string, key = '') =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\n${key && `Authorization: Bearer ${key}\r\n`}\r\n`;

/** Start of an archive, whose end decides its type: the service keeps the last bytes that it received. */
const ARCHIVE = Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(MIB, 1)]);
const UPLOAD_BYTES = 20 * MIB;
const stalledForm = (path: string, key: string): Pieces => [
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=${MULTIPART_BOUNDARY}\r\n` +
    `Content-Length: ${UPLOAD_BYTES}\r\nAuthorization: Bearer ${key}\r\n\r\n${MULTIPART_FORM_START}`,
  ARCHIVE,
];
const stalledPut = (path: string): Pieces => [
  `PUT ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/pdf\r\n` + `Content-Length: ${UPLOAD_BYTES}\r\n\r\n`,
  ARCHIVE,
];

/** Stores shipments of 20 kB and a document, and requests upload URLs. Returns the paths that attacks use. */
async function seed(url: string, key: string) {
  const api = createTestApiClient(url, key);
  const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`field_${n}`, 'x'.repeat(900)]));
  for (let n = 0; n < 60; n += 1)
    await api.post('/v1/shipments', { external_id: `LARGE-${n}`, mode: 'ocean', metadata });
  const { id } = await createShipment(api);
  const { data: document } = await postDocumentAsMultipartForm(api, id, generatePdf('unread', UPLOAD_BYTES));
  const uploads: string[] = [];
  for (let n = 0; n < 40; n += 1)
    uploads.push(
      replaceUploadUrlOrigin(await requestUpload(api, id, Buffer.from(`${n}`), { size_bytes: UPLOAD_BYTES }), ''),
    );
  return { form: `/v1/shipments/${id}/documents`, download: `/v1/documents/${document.id}/download`, uploads };
}

describe.each(PROCESSES)('a process with $memoryMib MiB', ({ memoryMib, heapMib, settings, networks }) => {
  it(
    `serves others and stays within its memory under attacks from one address in each of ${networks} networks`,
    () =>
      withTemporaryFolder(async (folder) => {
        const server = await startStandaloneProcess(folder, {
          NODE_OPTIONS: `--max-old-space-size=${heapMib}`,
          RATE_LIMIT_PER_MINUTE: '1000000',
          ...settings,
        });
        try {
          await runCliProcessForOutput(folder, 'workspaces', 'create', '--name', 'other');
          const key = await createKey(folder, 'live', 'operator', 'other');
          const hostileKey = await createKey(folder, 'test');
          // Two keys of each role, because one key may open only 20 event streams.
          const hostileKeys: string[] = [];
          for (const role of [...USER_ROLES, ...USER_ROLES]) hostileKeys.push(await createKey(folder, 'test', role));
          const target = await seed(server.url, hostileKey);
          const ofEachRole = (pieces: (key: string) => Pieces) => hostileKeys.map(pieces);
          let created = 0;
          /**
           * Checks that a client of another workspace can write and list within the deadline. It repeats failed
           * requests.
           */
          const serves = async () => {
            created += 1;
            const request = { external_id: `OTHER-${created}`, mode: 'ocean' };
            const options = {
              headers: { Authorization: `Bearer ${key}`, 'Idempotency-Key': `other-${created}` },
              proxy: false,
              timeout: scaleTimeout(10_000),
            } as const;
            await eventually(async () => {
              expect((await axios.post(`${server.url}/v1/shipments`, request, options)).status).toBe(201);
            }, ATTACKED);
            await eventually(async () => {
              expect((await axios.get(`${server.url}/v1/shipments`, options)).status).toBe(200);
            }, ATTACKED);
          };
          const attacks: Readonly<Record<string, readonly [string, readonly Pieces[]]>> = {
            'bodies of an unknown path': [server.url, [[post('/nothing'), UNFINISHED]]],
            'bodies of a health check': [server.url, [[post('/health/live'), UNFINISHED]]],
            'bodies without a key': [server.url, [[post('/v1/shipments'), UNFINISHED]]],
            'bodies of a sign-in': [server.url, [[post('/v1/sessions'), UNFINISHED]]],
            'bodies with a key': [server.url, ofEachRole((role) => [post('/v1/shipments', role), UNFINISHED])],
            'a description that nobody reads': [server.url, [[get('/openapi.json').repeat(6)]]],
            'files that nobody reads': [server.url, [[get('/docs/assets/swagger-ui-bundle.js').repeat(6)]]],
            'lists that nobody reads': [
              server.url,
              ofEachRole((role) => [get('/v1/shipments?limit=200', role).repeat(6)]),
            ],
            'metrics that nobody reads': [server.managementUrl, [[get('/metrics').repeat(6)]]],
            'bodies on the management port': [server.managementUrl, [[post('/metrics'), UNFINISHED]]],
            'pages of events that nobody reads': [
              server.url,
              ofEachRole((role) => [get('/v1/events?limit=200', role).repeat(6)]),
            ],
            'the audit log that nobody reads': [
              server.url,
              ofEachRole((role) => [get('/v1/audit_log?limit=200', role).repeat(6)]),
            ],
            'files of documents that nobody reads': [
              server.url,
              ofEachRole((role) => [get(target.download, role).repeat(6)]),
            ],
            'event streams that nobody reads': [
              server.url,
              ofEachRole((role) => [get('/v1/events/stream?after=beginning', role)]),
            ],
            'uploads that stall': [server.url, ofEachRole((role) => stalledForm(target.form, role))],
            'uploads to URLs that stall': [server.url, target.uploads.map(stalledPut)],
          };
          for (const [name, [url, lists]] of Object.entries(attacks)) {
            const sockets = await attack(url, lists, networks);
            // The attack lasts while others are served.
            for (let n = 0; n < 3; n += 1) {
              await serves();
              await waitForSimulatedDelay(200);
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
    scaleTimeout(360_000),
  );
});
