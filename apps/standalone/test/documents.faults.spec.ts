import { once } from 'node:events';
import { eventually, generatePdf, waitForSimulatedDelay } from '@tracking/testing';
import type { AxiosInstance } from 'axios';
import {
  createTestApiClient,
  createKey,
  startStandaloneProcess,
  withTemporaryFolder,
  type StandaloneProcess,
} from './standalone-process.ts';
import {
  MULTIPART_BOUNDARY,
  MULTIPART_FORM_START,
  startUploadRequest,
  expectStoredDocumentBytes,
  createShipment,
  putFileToUploadUrl,
  requestUpload,
  postDocumentAsMultipartForm,
  listObjectFileNames,
  replaceUploadUrlOrigin,
} from './uploads.ts';

const HOUR = 3_600_000;
const KILLS = 8;
/**
 * Each kill comes one response later than the previous one; every other kill comes in the middle of the next request.
 */
const LATER_MS = 3;
const SOON = { deadlineMs: 60_000 };

const loaded = (module: string) => ({ NODE_OPTIONS: `--import ${new URL(module, import.meta.url).href}` });
const killedAt = (step: string) => loaded(`killed-at.mjs?step=${step}`);
const ahead = (hours: number) => loaded(`stepping-clock.mjs?ahead=${hours * HOUR}`);
const SWEEPING = ahead(73);

describe('kill -9 leaves a complete document or none, and no orphaned bytes after the sweep:', () => {
  let dataDir: string;
  let key: string;
  let shipmentId: string;
  let server: StandaloneProcess;
  let api: AxiosInstance;

  const start = async (env: Record<string, string> = {}) => {
    server = await startStandaloneProcess(dataDir, { RATE_LIMIT_PER_MINUTE: '1000000', ...env });
    api = createTestApiClient(server.url, key);
  };
  const inFolder = (test: () => Promise<void>) => () =>
    withTemporaryFolder(async (folder) => {
      dataDir = folder;
      key = await createKey(dataDir);
      await start();
      shipmentId = (await createShipment(api)).id;
      try {
        await test();
      } finally {
        await server.stop('SIGKILL');
      }
    });
  const restart = async (env?: Record<string, string>) => {
    await server.stop('SIGKILL');
    await start(env);
  };
  const statuses = async () => [...(await expectStoredDocumentBytes(api, shipmentId)).values()];
  /** Three days later, the sweep checks every object. All stored objects then belong to documents. */
  const expectSwept = async (documents: number) => {
    await restart(SWEEPING);
    await eventually(async () => expect(await listObjectFileNames(dataDir)).toHaveLength(documents), SOON);
    // Incomplete uploads expire by the clock, and the sweep does not wait for that.
    const present = async () => (await statuses()).filter((status) => !['expired', 'deleted'].includes(status));
    await eventually(async () => expect(await present()).toHaveLength(documents), SOON);
  };

  it(
    'while bytes are being received',
    inFolder(async () => {
      const bytes = generatePdf('coming', 2_000_000);
      const document = await requestUpload(api, shipmentId, bytes);
      const authorization = `Bearer ${key}`;
      const form = { authorization, 'content-type': `multipart/form-data; boundary=${MULTIPART_BOUNDARY}` };
      const url = `${server.url}/v1/shipments/${shipmentId}/documents`;
      const halves = [
        startUploadRequest('POST', url, form, 3_000_000).write(
          MULTIPART_FORM_START + bytes.toString('latin1', 0, 1_000_000),
          'latin1',
        ),
        startUploadRequest(
          'PUT',
          replaceUploadUrlOrigin(document, server.url),
          document.upload.headers,
          bytes.length,
        ).write(bytes.subarray(0, 1_000_000)),
      ];
      expect(halves).toHaveLength(2);
      await eventually(async () => {
        const parts = (await listObjectFileNames(dataDir)).filter((name) => name.endsWith('.part'));
        expect(parts).toHaveLength(2);
      }, SOON);
      await restart();
      expect(await statuses()).toEqual(['pending_upload']);
      expect((await putFileToUploadUrl(document, bytes, server.url)).status).toBeLessThan(300);
      const completed = await api.post(`/v1/documents/${document.id}/complete`);
      expect(completed.status).toBe(200);
      await expectSwept(1);
    }),
    120_000,
  );

  it.each([
    ['a form', async () => void (await postDocumentAsMultipartForm(api, shipmentId, generatePdf('form', 100_000)))],
    [
      'a URL of its own',
      async () => {
        const bytes = generatePdf('url', 100_000);
        await putFileToUploadUrl(await requestUpload(api, shipmentId, bytes), bytes, server.url);
      },
    ],
  ])(
    'when the bytes are stored but not yet referenced, by %s',
    (_way, upload) =>
      inFolder(async () => {
        await restart(killedAt('stored'));
        const ended = once(server.child, 'exit');
        await expect(upload()).rejects.toMatchObject({ isAxiosError: true });
        await ended;
        await start();
        expect((await statuses()).filter((status) => status !== 'pending_upload')).toEqual([]);
        expect(await listObjectFileNames(dataDir)).toHaveLength(1);
        for (const id of (await expectStoredDocumentBytes(api, shipmentId)).keys()) {
          const { status, data } = await api.post(`/v1/documents/${id}/complete`);
          expect([status, data.error.code]).toEqual([409, 'upload_missing']);
        }
        expect((await postDocumentAsMultipartForm(api, shipmentId, generatePdf('other', 1_000))).status).toBe(201);
        await expectSwept(1);
      })(),
    120_000,
  );

  it(
    'while a document is being deleted',
    inFolder(async () => {
      const { data: document } = await postDocumentAsMultipartForm(api, shipmentId, generatePdf('deleted', 100_000));
      const { data: other } = await postDocumentAsMultipartForm(api, shipmentId, generatePdf('kept', 100_000));
      await restart(killedAt('destroying'));
      await expect(api.delete(`/v1/documents/${document.id}`)).rejects.toMatchObject({ isAxiosError: true });
      await restart();
      const known = await expectStoredDocumentBytes(api, shipmentId);
      expect([known.get(document.id), known.get(other.id)]).toEqual(['deleted', 'uploaded']);
      // This is long before any sweep.
      await restart(ahead(1));
      await eventually(async () => expect(await listObjectFileNames(dataDir)).toHaveLength(1), SOON);
      expect((await expectStoredDocumentBytes(api, shipmentId)).get(other.id)).toBe('uploaded');
    }),
    120_000,
  );

  it(
    'at random moments of uploads, completions, reviews and deletions',
    inFolder(async () => {
      /** Acknowledged statuses by document. */
      const acknowledged = new Map<string, readonly string[]>();
      let approvable: string | undefined;
      let deletable: string | undefined;
      const after = async (id: string | undefined, done: readonly string[], act: () => Promise<{ status: number }>) => {
        if (id === undefined) return;
        acknowledged.delete(id);
        const { status } = await act();
        expect(status).toBeLessThan(300);
        acknowledged.set(id, done);
      };
      const uploadOne = async (name: string) => {
        const { status, data } = await postDocumentAsMultipartForm(api, shipmentId, generatePdf(name, 150_000));
        expect(status).toBe(201);
        acknowledged.set(data.id, ['uploaded']);
        [approvable, deletable] = [data.id, approvable];
      };
      const uploadByUrl = async (name: string) => {
        const bytes = generatePdf(name, 150_000);
        const document = await requestUpload(api, shipmentId, bytes);
        expect((await putFileToUploadUrl(document, bytes, server.url)).status).toBeLessThan(300);
        await after(document.id, ['uploaded'], () => api.post(`/v1/documents/${document.id}/complete`));
      };
      for (let kill = 0; kill < KILLS; kill += 1) {
        await restart();
        let answers = 0;
        api.interceptors.response.use((answer) => {
          answers += 1;
          return answer;
        });
        const [approved, deleted] = [approvable, deletable];
        const work = [
          ...[0, 1].map((n) => uploadOne(`form ${kill} ${n}`)),
          ...[0, 1].map((n) => uploadByUrl(`url ${kill} ${n}`)),
          after(approved, ['approved'], () => api.post(`/v1/documents/${approved}/approve`)),
          after(deleted, ['deleted'], () => api.delete(`/v1/documents/${deleted}`)),
        ];
        await eventually(() => expect(answers).toBeGreaterThan(kill));
        await waitForSimulatedDelay((kill % 2) * LATER_MS);
        await server.stop('SIGKILL');
        for (const outcome of await Promise.allSettled(work)) {
          // Clients see broken connections after the kill. Every response must be a success.
          if (outcome.status === 'rejected' && !('isAxiosError' in Object(outcome.reason))) throw outcome.reason;
        }
      }
      expect(acknowledged.size).toBeGreaterThanOrEqual(KILLS);
      await restart(SWEEPING);
      await eventually(async () => expect(await statuses()).not.toContain('pending_upload'), SOON);
      const known = await expectStoredDocumentBytes(api, shipmentId);
      for (const [id, allowed] of acknowledged) expect([id, allowed]).toEqual([id, [known.get(id)]]);
      const present = [...known.values()].filter((status) => ['uploaded', 'approved'].includes(status));
      await eventually(async () => expect(await listObjectFileNames(dataDir)).toHaveLength(present.length), SOON);
    }),
    240_000,
  );
});
