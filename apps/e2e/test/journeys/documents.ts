import type { AuditEntry, EventEnvelope, Shipment, ShipmentDocument, ShipmentException } from '@tracking/contracts';
import { eventually, scaleTimeout, generatePdf, computeSha256 } from '@tracking/testing';
import type { AxiosInstance, AxiosResponse } from 'axios';
import { EndpointServer } from '../receiver.ts';
import type { SystemUnderTest } from '../subject.ts';
import { createReadAfterWriteHeaders, listAllItems, createKey, createTestTenant, type TestTenant } from '../tenant.ts';
import { downloadDocument, sendUploadBytes, requestUpload, uploadDocument } from '../uploads.ts';

const BYTES_PER_MIB = 2 ** 20;
const DAY_MS = 24 * 3_600_000;
/** Wait options. Changed settings take effect at the next check of all shipments. */
const RECHECK_WAIT_OPTIONS = { deadlineMs: 30_000 };
const UNICODE_FILE_NAME = 'Konnossement № 7 – 船荷証券.pdf';

export function declareDocumentTests(subject: () => SystemUnderTest): void {
  describe('documents', () => {
    let tenant: TestTenant;
    /** First and last gateway. On a standalone server both are the same. */
    let near: AxiosInstance;
    let far: AxiosInstance;
    let shipment: Shipment;
    beforeEach(async () => {
      tenant = await createTestTenant(subject());
      const { gateways } = await createKey(subject(), tenant.workspace, 'operator');
      [near, far] = [gateways[0], gateways.at(-1)] as [AxiosInstance, AxiosInstance];
      const fields = { external_id: 'PAPERS', mode: 'ocean', eta: new Date(Date.now() + DAY_MS).toISOString() };
      shipment = (await near.post<Shipment>('/v1/shipments', fields)).data;
    }, scaleTimeout(30_000));

    const read = async (written: AxiosResponse): Promise<Shipment> =>
      (await far.get<Shipment>(`/v1/shipments/${shipment.id}`, { headers: createReadAfterWriteHeaders(written) })).data;
    const objects = async () => {
      const token = shipment.id.slice('shp_'.length);
      return (await subject().objects()).filter((id) => id.startsWith(token));
    };

    test(
      'documents are uploaded with their fields or to an upload URL at one gateway, and downloaded unchanged from another',
      async () => {
        const small = generatePdf('small', 300_007);
        const large = generatePdf('large', 3 * BYTES_PER_MIB + 11);
        const sent = await uploadDocument(near, shipment.id, small, {
          type: 'bill_of_lading',
          file_name: UNICODE_FILE_NAME,
        });
        expect([sent.status, sent.data]).toEqual([
          201,
          expect.objectContaining({
            id: expect.stringMatching(/^doc_/),
            shipment_id: shipment.id,
            type: 'bill_of_lading',
            status: 'uploaded',
            file_name: UNICODE_FILE_NAME,
            content_type: 'application/pdf',
            size_bytes: small.length,
            checksum_sha256: computeSha256([small]),
            download_url: `${subject().urls[0]}/v1/documents/${sent.data.id}/download`,
            warnings: [],
          }),
        ]);

        const requested = await requestUpload(near, shipment.id, large);
        const { status, download_url, upload } = requested.data;
        expect([requested.status, status, download_url, upload.method]).toEqual([201, 'pending_upload', null, 'PUT']);
        const { data: pending } = await far.get(`/v1/documents/${requested.data.id}`, {
          headers: createReadAfterWriteHeaders(requested),
        });
        expect(pending).toMatchObject({ status: 'pending_upload', uploaded_at: null });
        expect((await read(requested)).documents_count).toBe(1);
        const early = await near.post(`/v1/documents/${requested.data.id}/complete`);
        expect([early.status, early.data.error.code]).toEqual([409, 'upload_missing']);
        const gateway = subject().urls.at(-1) ?? '';
        const forged = { ...requested.data, upload: { ...upload, url: `${upload.url.slice(0, -8)}AAAAAAAA` } };
        expect((await sendUploadBytes(forged, large, gateway)).status).toBe(403);
        expect((await sendUploadBytes(requested.data, large, gateway)).status).toBeLessThan(300);
        const completed = await near.post<ShipmentDocument>(`/v1/documents/${requested.data.id}/complete`);
        expect([completed.status, completed.data.status]).toEqual([200, 'uploaded']);
        expect((await sendUploadBytes(requested.data, large, gateway)).status).toBe(409);

        for (const reader of [near, far]) {
          const path = `/v1/shipments/${shipment.id}/documents`;
          const listed = await listAllItems<ShipmentDocument>(reader, path, {}, createReadAfterWriteHeaders(completed));
          expect(listed.map(({ id, status: is }) => [id, is])).toEqual([
            [requested.data.id, 'uploaded'],
            [sent.data.id, 'uploaded'],
          ]);
        }
        expect((await read(completed)).documents_count).toBe(2);
        expect(await objects()).toHaveLength(2);

        const whole = await downloadDocument(far, requested.data.id, createReadAfterWriteHeaders(completed));
        expect([whole.status, whole.headers['content-length']]).toEqual([200, String(large.length)]);
        expect(whole.data.equals(large)).toBe(true);
        const named = await downloadDocument(far, sent.data.id);
        expect(named.data.equals(small)).toBe(true);
        expect(named.headers).toMatchObject({ 'content-type': 'application/pdf', 'x-content-type-options': 'nosniff' });
        expect(named.headers['content-disposition']).toMatch(
          /^attachment; filename="[\x20-\x7e]*"; filename\*=UTF-8''/,
        );
        const encoded = String(named.headers['content-disposition']).split("UTF-8''")[1] ?? '';
        expect(decodeURIComponent(encoded)).toBe(UNICODE_FILE_NAME);
        const kept = await downloadDocument(near, sent.data.id, { 'If-None-Match': String(named.headers['etag']) });
        expect([kept.status, kept.data.length]).toEqual([304, 0]);
        const { length } = large;
        for (const [range, start, end] of [
          ['0-0', 0, 1],
          ['261119-261121', 261_119, 261_122],
          [`${length - 5}-${length + 5}`, length - 5, length],
          ['2097152-', 2 * BYTES_PER_MIB, length],
          ['-100', length - 100, length],
        ] as const) {
          const part = await downloadDocument(far, requested.data.id, { Range: `bytes=${range}` });
          expect([part.status, part.headers['content-range']]).toEqual([206, `bytes ${start}-${end - 1}/${length}`]);
          expect(part.data.equals(large.subarray(start, end))).toBe(true);
        }
        const beyond = await downloadDocument(far, requested.data.id, { Range: `bytes=${length}-` });
        expect([beyond.status, beyond.headers['content-range']]).toEqual([416, `bytes */${length}`]);
      },
      scaleTimeout(120_000),
    );

    test(
      'documents require permission: viewers can read them; feeds, other workspaces and the other environment cannot',
      async () => {
        const sent = await uploadDocument(near, shipment.id, generatePdf('secret', 1_000), { type: 'bill_of_lading' });
        const path = `/v1/documents/${sent.data.id}`;
        const keyOf = async (role: 'viewer' | 'feed') => (await createKey(subject(), tenant.workspace, role)).api;
        const [viewer, feed] = [await keyOf('viewer'), await keyOf('feed')];
        const test = (await createKey(subject(), tenant.workspace, 'developer', 'test')).api;
        const stranger = (await createTestTenant(subject())).api;
        const reads = [path, `${path}/download`, `/v1/shipments/${shipment.id}/documents`];
        const answers = (api: AxiosInstance) =>
          Promise.all(
            reads.map(async (each) => (await api.get(each, { headers: createReadAfterWriteHeaders(sent) })).status),
          );
        expect(await answers(viewer)).toEqual([200, 200, 200]);
        expect(await answers(feed)).toEqual([403, 403, 403]);
        for (const api of [test, stranger]) {
          expect(await answers(api)).toEqual([404, 404, 404]);
          const writes = [
            await uploadDocument(api, shipment.id, generatePdf('theirs', 10), { type: 'photo' }),
            await requestUpload(api, shipment.id, generatePdf('theirs', 10)),
            await api.post(`${path}/approve`),
            await api.post(`${path}/reject`, { reason: 'Not ours.' }),
            await api.post(`${path}/complete`),
            await api.delete(path),
          ];
          expect(writes.map(({ status }) => status)).toEqual(writes.map(() => 404));
        }
        const refused = [
          await uploadDocument(viewer, shipment.id, generatePdf('theirs', 10), { type: 'photo' }),
          await requestUpload(viewer, shipment.id, generatePdf('theirs', 10)),
          await viewer.post(`${path}/approve`),
          await viewer.delete(path),
        ];
        expect(refused.map(({ status, data }) => [status, (data as { error?: { code: string } }).error?.code])).toEqual(
          refused.map(() => [403, 'permission_denied']),
        );
        expect((await viewer.get(path)).data).toMatchObject({ id: sent.data.id, status: 'uploaded' });
        expect(await objects()).toHaveLength(1);
      },
      scaleTimeout(90_000),
    );

    test(
      'a document is reported missing, rejected, replaced, approved and deleted; each step is delivered and changes the exceptions',
      async () => {
        const receiver = await EndpointServer.startEndpointServer();
        try {
          const event_types = ['*', 'document.uploaded', 'document.rejected'];
          const hook = await receiver.createEnabledEndpoint(tenant.api, '/papers', { event_types });
          const open = async (written?: AxiosResponse) => {
            const params = { status: 'open', shipment_id: shipment.id };
            const headers = written && createReadAfterWriteHeaders(written);
            const found = await listAllItems<ShipmentException>(far, '/v1/exceptions', params, headers);
            return found.map(({ type }) => type);
          };
          const required = { required_documents: { ocean: ['bill_of_lading'] } };
          expect((await tenant.api.patch('/v1/settings', required)).status).toBe(200);
          await eventually(async () => expect(await open()).toEqual(['missing_document']), RECHECK_WAIT_OPTIONS);

          const first = await uploadDocument(near, shipment.id, generatePdf('first', 50_000), {
            type: 'bill_of_lading',
          });
          expect(await open(first)).toEqual([]);
          const path = (document: ShipmentDocument) => `/v1/documents/${document.id}`;
          const reason = 'The container number is missing.';
          const rejected = await near.post<ShipmentDocument>(`${path(first.data)}/reject`, { reason });
          expect([rejected.status, rejected.data.status, rejected.data.rejection_reason]).toEqual([
            200,
            'rejected',
            reason,
          ]);
          expect(await open(rejected)).toEqual(['document_rejected']);
          const late = await near.post(`${path(first.data)}/approve`);
          expect([late.status, late.data.error.code]).toEqual([409, 'document_reviewed']);

          const bytes = generatePdf('second', 60_000);
          const replaces_document_id = first.data.id;
          const second = await uploadDocument(far, shipment.id, bytes, {
            type: 'bill_of_lading',
            replaces_document_id,
          });
          expect([second.status, second.data.replaces_document_id]).toEqual([201, first.data.id]);
          const replaced = await near.get<ShipmentDocument>(path(first.data), {
            headers: createReadAfterWriteHeaders(second),
          });
          expect(replaced.data.replaced_by_document_id).toBe(second.data.id);
          expect(await open(second)).toEqual(['document_rejected']);
          const approved = await far.post<ShipmentDocument>(`${path(second.data)}/approve`);
          expect([approved.status, approved.data.status]).toEqual([200, 'approved']);
          expect(await open(approved)).toEqual([]);
          expect((await read(approved)).documents_count).toBe(2);

          const told = (type: string) =>
            [...hook.came.keys()]
              .map((id) => receiver.findEvent(id) as EventEnvelope & { data: { document?: ShipmentDocument } })
              .filter((event) => event.type === type)
              .map(({ data }) => data.document);
          await eventually(() => expect(told('document.approved')).toHaveLength(1), RECHECK_WAIT_OPTIONS);
          const [{ download_url, ...document }] = told('document.approved') as [ShipmentDocument];
          const {
            warnings: _warnings,
            download_url: answered,
            ...known
          } = approved.data as ShipmentDocument & {
            readonly warnings: unknown;
          };
          expect([document, download_url]).toEqual([known, answered]);
          const fetched = await far.get<Buffer>(download_url ?? '', { responseType: 'arraybuffer' });
          expect([fetched.status, fetched.data.equals(bytes)]).toEqual([200, true]);

          const deleted = await near.delete(path(first.data));
          expect(deleted.status).toBeLessThan(300);
          expect((await read(deleted)).documents_count).toBe(1);
          expect(await objects()).toHaveLength(1);
          expect((await downloadDocument(far, first.data.id, createReadAfterWriteHeaders(deleted))).status).toBe(409);
          const gone = await far.get<ShipmentDocument>(path(first.data), {
            headers: createReadAfterWriteHeaders(deleted),
          });
          expect(gone.data).toMatchObject({ status: 'deleted', download_url: null, rejection_reason: reason });
          const last = await far.delete(path(second.data));
          expect((await read(last)).documents_count).toBe(0);
          expect(await objects()).toEqual([]);
          expect(await open(last)).toEqual(['missing_document']);

          const log = await listAllItems<AuditEntry>(tenant.api, '/v1/audit_log', { type: 'document.deleted' });
          expect(log.map(({ target, outcome }) => [target.id, outcome])).toEqual([
            [second.data.id, 'done'],
            [first.data.id, 'done'],
          ]);
          await eventually(
            () =>
              expect(
                [told('document.uploaded'), told('document.rejected')].map((each) => each.map((one) => one?.id)),
              ).toEqual([[first.data.id, second.data.id], [first.data.id]]),
            RECHECK_WAIT_OPTIONS,
          );
          expect(receiver.faults).toEqual([]);
        } finally {
          await receiver.closeEndpointServer();
        }
      },
      scaleTimeout(120_000),
    );
  });
}
