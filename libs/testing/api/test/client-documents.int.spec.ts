import { randomUUID } from 'node:crypto';
import { TrackingClient, type Progress } from '@tracking/client';
import { startApi, type Api } from './start-api.ts';

const notes = () => {
  const lines = Array.from({ length: 5_000 }, (_, n) => `${n} ${randomUUID()}`).join('\n');
  return new File([lines], '港 1.txt', { type: 'text/plain' });
};

/** Documents through the published client, both ways that they are sent. */
describe('documents through the client', () => {
  let api: Api;
  let client: TrackingClient;
  let shipmentId: string;
  beforeAll(async () => {
    api = await startApi();
    client = new TrackingClient({ baseUrl: api.url, apiKey: await api.key('admin'), transport: { proxy: false } });
    shipmentId = (await client.shipments.upsert({ external_id: 'D-1', mode: 'ocean' })).id;
  });
  afterAll(() => api.stop());

  /** Puts to this API what is to be put to the address under which it is published. */
  async function uploader() {
    const { documents } = new TrackingClient({
      baseUrl: api.url,
      apiKey: await api.key('operator'),
      transport: { proxy: false },
    });
    const put = documents.put.bind(documents);
    documents.put = (upload, ...rest) =>
      put({ ...upload, url: upload.url.replace('https://api.example', api.url) }, ...rest);
    return documents;
  }

  it('are uploaded in one request, listed, read in ranges, reviewed and deleted', async () => {
    const { documents } = client;
    const file = notes();
    const told: Progress[] = [];
    const onProgress = (progress: Progress) => told.push(progress);
    const document = await documents.upload(shipmentId, { type: 'other', file }, { onProgress });
    expect(document).toMatchObject({ status: 'uploaded', file_name: '港 1.txt', size_bytes: file.size });
    expect(told.at(-1)?.loaded).toBeGreaterThan(file.size);
    expect((await documents.list(shipmentId).toArray()).map(({ id }) => id)).toEqual([document.id]);

    const bytes = Buffer.from(await file.arrayBuffer());
    const whole = await documents.download(document.id);
    expect(whole).toMatchObject({
      fileName: '港 1.txt',
      contentType: expect.stringMatching(/^text\/plain/),
      size: file.size,
    });
    expect(bytes.equals(await whole.bytes())).toBe(true);
    const part = await documents.download(document.id, {
      range: { start: 100, end: 199 },
      ifRange: String(whole.etag),
    });
    expect(part.range).toEqual({ start: 100, end: 199, total: file.size });
    expect(bytes.subarray(100, 200).equals(await part.bytes())).toBe(true);

    expect((await documents.approve(document.id)).status).toBe('approved');
    const other = await documents.upload(shipmentId, {
      type: 'other',
      file: notes(),
      replaces_document_id: document.id,
    });
    expect(await documents.reject(other.id, 'blurred')).toMatchObject({
      status: 'rejected',
      rejection_reason: 'blurred',
    });
    expect((await documents.get(document.id)).replaced_by_document_id).toBe(other.id);
    expect((await documents.delete(other.id)).status).toBe('deleted');
  });

  it('are uploaded to a presigned URL and completed', async () => {
    const { documents } = client;
    const file = notes();
    const document = await (
      await uploader()
    ).upload(shipmentId, { type: 'packing_list', file }, { presignedAbove: 1_000 });
    expect(document).toMatchObject({ status: 'uploaded', type: 'packing_list', size_bytes: file.size });
    const bytes = await (await documents.download(document.id)).bytes();
    expect(Buffer.from(await file.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('are the stored document when a presigned upload is repeated with its key', async () => {
    const documents = await uploader();
    const upload = { type: 'packing_list', file: notes() } as const;
    const options = { presignedAbove: 1_000, idempotencyKey: randomUUID() };
    const first = await documents.upload(shipmentId, upload, options);
    const repeat = await documents.upload(shipmentId, upload, options);
    expect([repeat.id, repeat.status]).toEqual([first.id, 'uploaded']);
    await client.documents.approve(first.id);
    expect(await documents.upload(shipmentId, upload, options)).toMatchObject({ id: first.id, status: 'approved' });
  });

  it('are refused because of their content', async () => {
    const page = new File(['<html><script>alert(1)</script></html>'], 'a.png', { type: 'image/png' });
    await expect(client.documents.upload(shipmentId, { type: 'other', file: page })).rejects.toMatchObject({
      name: 'InvalidRequestError',
      code: 'unsupported_document_type',
    });
  });
});
