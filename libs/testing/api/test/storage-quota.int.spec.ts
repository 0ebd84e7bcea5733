import { randomUUID } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@tracking/contracts';
import { eventually } from '@tracking/testing';
import type { ApiResponse } from './described-responses.ts';
import {
  DocumentApiTestClient,
  encodeMultipartForm,
  createFormFilePart,
  SMALL_PDF,
  sendRawRequest,
  SAMPLE_DOCUMENT_TYPE_PART,
} from './document-calls.ts';
import { type Api, startApi } from './start-api.ts';

const SIZE = SMALL_PDF.length;
const codeOf = ({ body }: ApiResponse) => (body['error'] as JsonObject | undefined)?.['code'];
const messageOf = ({ body }: ApiResponse) => String((body['error'] as JsonObject | undefined)?.['message']);
const times = <T>(count: number, make: () => Promise<T>) => Promise.all(Array.from({ length: count }, make));

describe('storage quota of a workspace', () => {
  const MAX_FILES = 3;
  let api: Api;
  let live: DocumentApiTestClient;
  let test: DocumentApiTestClient;
  let shipment: string;
  let testShipment: string;
  beforeEach(async () => {
    api = await startApi({ storagePerWorkspace: MAX_FILES * SIZE });
    live = new DocumentApiTestClient(api, await api.key('operator'));
    test = new DocumentApiTestClient(api, await api.key('operator', 'test'));
    shipment = await live.createShipment();
    testShipment = await test.createShipment();
  });
  afterEach(() => api.stop());

  const usage = async () => (await live.sendApiGetRequest('/v1/storage')).body;
  /** Waits until the read model counts exactly the stored documents, which ends their reservations. */
  const settled = (bytes: number) =>
    eventually(async () => expect(await usage()).toEqual({ used_bytes: bytes, limit_bytes: MAX_FILES * SIZE }));

  it('holds for parallel uploads of both environments, and leaves other workspaces alone', async () => {
    const answers = await times(10, async () => [await test.sendUpload(testShipment), await live.sendUpload(shipment)]);
    const all = answers.flat();
    expect(all.filter(({ status }) => status === 201)).toHaveLength(MAX_FILES);
    const refused = all.filter(({ status }) => status !== 201);
    expect(new Set(refused.map(codeOf))).toEqual(new Set(['storage_quota_exceeded']));
    expect(refused.every(({ status }) => status === 413)).toBe(true);
    await settled(MAX_FILES * SIZE);
    const refusal = await live.sendUpload(shipment);
    expect(messageOf(refusal)).toBe(
      `The workspace uses ${3 * SIZE} of ${3 * SIZE} bytes for documents, so it has no room for ${SIZE} bytes. Delete documents first.`,
    );
    expect(await live.countStoredObjects()).toBe(MAX_FILES);
    expect(api.counts.get('documents_refused_total{why="StorageQuotaExceeded"}')).toBe(refused.length + 1);

    const other = new DocumentApiTestClient(api, await api.key('operator', 'live', 'other'));
    expect((await other.sendUpload(await other.createShipment())).status).toBe(201);
    expect((await other.sendApiGetRequest('/v1/storage')).body).toMatchObject({ used_bytes: SIZE });
  });

  it('counts requested uploads, which give their bytes back when they are deleted', async () => {
    const requested = await Promise.allSettled(Array.from({ length: 6 }, () => live.requestUpload(shipment)));
    expect(requested.filter(({ status }) => status === 'fulfilled')).toHaveLength(MAX_FILES);
    expect((await usage())['used_bytes']).toBe(MAX_FILES * SIZE);
    const [first, second] = requested.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const admin = await api.key('admin');
    await api.call('DELETE', `/v1/documents/${first?.id ?? ''}`, { key: admin });
    await settled(2 * SIZE);
    await eventually(async () => expect((await live.sendUpload(shipment)).status).toBe(201));
    expect((await live.putFileToUploadUrl(second?.path ?? '')).status).toBe(204);
    expect((await live.callDocumentApiOperation(second?.id ?? '', 'complete')).body).toMatchObject({
      status: 'uploaded',
    });
    await settled(MAX_FILES * SIZE);
    expect(codeOf(await live.sendUpload(shipment))).toBe('storage_quota_exceeded');
  });

  it('answers repeats of executed requests, although the storage is full by now', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const added = await live.sendUpload(shipment, undefined, headers);
    const key = { 'idempotency-key': randomUUID() };
    const requested = await live.requestUpload(shipment, SMALL_PDF, {}, key);
    expect((await live.sendUpload(shipment)).status).toBe(201);
    expect(codeOf(await live.sendUpload(shipment))).toBe('storage_quota_exceeded');
    expect((await live.sendUpload(shipment, undefined, headers)).body).toEqual(added.body);
    expect((await live.requestUpload(shipment, SMALL_PDF, {}, key)).id).toBe(requested.id);
    await settled(MAX_FILES * SIZE);
  });

  it('refuses a large form before it is received', async () => {
    const head = `POST /v1/shipments/${shipment}/documents HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${live.key}\r\nContent-Type: multipart/form-data; boundary=b\r\n`;
    const form = encodeMultipartForm([SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart()]).subarray(0, 120);
    const text = await sendRawRequest(api, `${head}Content-Length: 20000000\r\n\r\n${form.toString()}`);
    expect(text).toContain('413 Payload Too Large');
    expect(text).toContain('storage_quota_exceeded');
  });

  it('accepts a form without Content-Length if its file fits, and refuses it otherwise', async () => {
    const head = `POST /v1/shipments/${shipment}/documents HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${live.key}\r\nContent-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const form = encodeMultipartForm([SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart()]);
    const request = `${head}${form.length.toString(16)}\r\n${form.toString()}\r\n0\r\n\r\n`;
    for (let n = 0; n < MAX_FILES; n += 1) expect(await sendRawRequest(api, request)).toContain('201 Created');
    expect(await sendRawRequest(api, request)).toContain('storage_quota_exceeded');
    expect(await live.countStoredObjects()).toBe(MAX_FILES);
  });

  it('has room for one copy of a pending document, however many uploads of it run', async () => {
    // A document counts twice for a moment, until its reservation ends.
    const request = () => eventually(() => live.requestUpload(shipment));
    const { path } = await request();
    await request();
    await request();
    const answers = await times(5, () => live.putFileToUploadUrl(path));
    expect(answers.some(({ status }) => status === 204)).toBe(true);
    expect(answers.map(codeOf).every((code) => code === undefined || code === 'storage_quota_exceeded')).toBe(true);
    expect((await live.putFileToUploadUrl(path)).status).toBe(204);
  });
});

describe('reserve of the disk', () => {
  const DISK_BYTES = 1_000_000;
  const FILE = Buffer.concat([SMALL_PDF, Buffer.alloc(100_000, ' ')]);
  let api: Api;
  let folder: string;
  const usedBytes = () => {
    const sizes = readdirSync(folder).map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size);
    return sizes.reduce<number>((sum, size = 0) => sum + size, 0);
  };
  beforeAll(async () => {
    const freeBytes = () => Promise.resolve(DISK_BYTES - usedBytes());
    api = await startApi({ disk: { reserveBytes: 400_000, freeBytes } });
    folder = join(api.dataDir, 'objects');
  });
  afterAll(() => api.stop());

  it('lets everything else go on after a test key has filled the disk with documents', async () => {
    const attacker = new DocumentApiTestClient(api, await api.key('operator', 'test'));
    const shipment = await attacker.createShipment();
    const stored: string[] = [];
    let refused: ApiResponse | undefined;
    while (refused === undefined) {
      const answer = await attacker.sendUpload(shipment, [SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart(FILE)]);
      if (answer.status === 201) stored.push(String(answer.body['id']));
      else refused = answer;
    }
    expect([refused.status, codeOf(refused), refused.headers.get('retry-after')]).toEqual([507, 'storage_full', '60']);
    expect(usedBytes()).toBe(stored.length * FILE.length);
    expect(api.counts.get('documents_refused_total{why="StorageFull"}')).toBe(1);
    const { path } = await attacker.requestUpload(shipment);
    expect(codeOf(await attacker.putFileToUploadUrl(path))).toBe('storage_full');

    const other = await api.key('admin', 'live', 'other');
    const created = await api.call('POST', '/v1/shipments', { key: other, json: { external_id: 'one' } });
    expect(created.status).toBe(201);
    const milestone = { code: 'booking_confirmed', occurred_at: '2026-03-02T08:00:00Z' };
    const milestones = `/v1/shipments/${String(created.body['id'])}/milestones`;
    const recorded = await api.call('POST', milestones, { key: other, json: milestone });
    expect(recorded.status).toBe(201);
    const retracted = await api.call('DELETE', `${milestones}/${String(recorded.body['id'])}`, { key: other });
    expect(retracted.status).toBe(200);
    const wrong = { email: 'nobody@example.com', password: 'not the password' };
    expect(
      (await api.call('POST', '/v1/session', { json: wrong, headers: { 'x-requested-with': 'test' } })).status,
    ).toBe(401);

    const admin = await api.key('admin', 'test');
    for (const id of stored.slice(0, 2)) {
      expect((await api.call('DELETE', `/v1/documents/${id}`, { key: admin })).status).toBe(200);
    }
    expect((await attacker.sendUpload(shipment)).status).toBe(201);
    expect((await attacker.putFileToUploadUrl(path)).status).toBe(204);
  });
});
