import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type IncomingMessage, get, request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { generatePdfChunks, computeSha256, waitForSimulatedDelay } from '@tracking/testing';
import axios, { type AxiosInstance } from 'axios';
import {
  createTestApiClient,
  createKey,
  startStandaloneProcess,
  withTemporaryFolder,
  type StandaloneProcess,
} from './standalone-process.ts';
import { createShipment, replaceUploadUrlOrigin, type RequestedUpload } from './uploads.ts';

const AT_ONCE = 10;
const MIB = 2 ** 20;
/**
 * Size of each file. The memory bound is the same for any size; `UPLOAD_MIB=250` uses the maximum size and 2.5 GiB of
 * disk.
 */
const FILE_MIB = Number(process.env['UPLOAD_MIB'] ?? 32);
/**
 * Allowed increase over one file: some chunks of each of ten files, in the heap and in buffers that wait for garbage
 * collection.
 */
const BOUND_MIB = 128;
const NAMES = ['first', ...Array.from({ length: AT_ONCE }, (_, n) => `file ${n}`)];
const httpAgent = new Agent({ keepAlive: false });

describe('ten files at once', () => {
  let server: StandaloneProcess;
  let api: AxiosInstance;
  let key: string;
  /** Computed before the measurement, because this process does nothing else meanwhile. */
  const hashes = new Map<string, string>();

  const residentMiB = async (): Promise<number> => {
    const { data } = await axios.get<string>(`${server.managementUrl}/metrics`, { proxy: false, httpAgent });
    return Number(/^process_resident_memory_bytes(?:\{.*\})? (\S+)$/m.exec(data)?.[1]) / MIB;
  };
  /** Returns the maximum memory during the work. */
  const mostDuring = async (work: Promise<unknown>): Promise<number> => {
    let most = 0;
    let isOver = false;
    const over = () => (isOver = true);
    void work.then(over, over);
    while (!isOver) {
      most = Math.max(most, await residentMiB());
      await waitForSimulatedDelay(20);
    }
    await work;
    return most;
  };

  const upload = async (shipmentId: string, name: string): Promise<RequestedUpload> => {
    const size_bytes = FILE_MIB * MIB;
    const { data: document } = await api.post<RequestedUpload>(`/v1/shipments/${shipmentId}/documents/uploads`, {
      type: 'other',
      file_name: `${name}.pdf`,
      content_type: 'application/pdf',
      size_bytes,
      checksum_sha256: hashes.get(name),
    });
    const headers = { ...document.upload.headers, 'content-length': size_bytes };
    const outgoing = request(replaceUploadUrlOrigin(document, server.url), { method: 'PUT', headers, agent: false });
    const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
    const [[{ statusCode }]] = await Promise.all([
      answered,
      pipeline(Readable.from(generatePdfChunks(name, size_bytes)), outgoing),
    ]);
    expect(statusCode).toBe(204);
    expect((await api.post(`/v1/documents/${document.id}/complete`)).status).toBe(200);
    return document;
  };
  const download = async ({ id, checksum_sha256 }: RequestedUpload): Promise<void> => {
    const headers = { authorization: `Bearer ${key}` };
    const [response] = (await once(
      get(`${server.url}/v1/documents/${id}/download`, { headers, agent: false }),
      'response',
    )) as [IncomingMessage];
    const hash = createHash('sha256');
    for await (const piece of response) hash.update(piece as Buffer);
    expect([response.statusCode, hash.digest('hex')]).toEqual([200, checksum_sha256]);
  };

  it(
    'are uploaded and downloaded with memory that does not grow with their size',
    () =>
      withTemporaryFolder(async (folder) => {
        for (const name of NAMES) hashes.set(name, computeSha256(generatePdfChunks(name, FILE_MIB * MIB)));
        const [first = '', ...others] = NAMES;
        key = await createKey(folder);
        server = await startStandaloneProcess(folder, { RATE_LIMIT_PER_MINUTE: '1000000' });
        try {
          api = createTestApiClient(server.url, key);
          const { id } = await createShipment(api);
          await download(await upload(id, first));
          const before = await residentMiB();
          const uploading = Promise.all(others.map((name) => upload(id, name)));
          const most = await mostDuring(uploading);
          const documents = await uploading;
          const mostLater = await mostDuring(Promise.all(documents.map(download)));
          expect(before).toBeGreaterThan(0);
          expect(Math.max(most, mostLater) - before).toBeLessThan(BOUND_MIB);
        } finally {
          await server.stop();
        }
      }),
    300_000,
  );
});
