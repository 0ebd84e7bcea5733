import { request, type ClientRequest } from 'node:http';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Shipment, ShipmentDocument } from '@tracking/contracts';
import { computeSha256 } from '@tracking/testing';
import axios, { type AxiosInstance, type AxiosResponse } from 'axios';
import { listAllItems } from './standalone-process.ts';

export const MULTIPART_BOUNDARY = 'a-boundary-of-tests';

/** A document whose bytes have not been uploaded yet. */
export type RequestedUpload = ShipmentDocument & {
  readonly upload: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
};

export async function createShipment(api: AxiosInstance): Promise<Shipment> {
  const { status, data } = await api.post<Shipment>('/v1/shipments', { house_bill: 'HB' });
  expect(status).toBe(201);
  return data;
}

/** Uploads a document with its fields in one request. */
export function postDocumentAsMultipartForm(
  api: AxiosInstance,
  shipmentId: string,
  bytes: Buffer,
): Promise<AxiosResponse<ShipmentDocument>> {
  const form = new FormData();
  form.append('type', 'photo');
  form.append('file', new Blob([new Uint8Array(bytes)]), 'a.pdf');
  return api.post<ShipmentDocument>(`/v1/shipments/${shipmentId}/documents`, form);
}

/** Requests an upload URL for these bytes. */
export async function requestUpload(
  api: AxiosInstance,
  shipmentId: string,
  bytes: Buffer,
  fields: object = {},
): Promise<RequestedUpload> {
  const { status, data } = await api.post<RequestedUpload>(`/v1/shipments/${shipmentId}/documents/uploads`, {
    type: 'photo',
    file_name: 'a.pdf',
    content_type: 'application/pdf',
    size_bytes: bytes.length,
    checksum_sha256: computeSha256([bytes]),
    ...fields,
  });
  expect(status).toBe(201);
  return data;
}

/** Returns the upload URL of a document on a restarted server. */
export function replaceUploadUrlOrigin({ upload }: RequestedUpload, server: string): string {
  const { pathname, search } = new URL(upload.url);
  return server + pathname + search;
}

export function putFileToUploadUrl(document: RequestedUpload, bytes: Buffer, server: string): Promise<AxiosResponse> {
  const headers = { ...document.upload.headers };
  const url = replaceUploadUrlOrigin(document, server);
  return axios.put(url, bytes, { headers, validateStatus: () => true, proxy: false, maxBodyLength: Infinity });
}

/** Starts a request whose body has `length` bytes. The caller sends the bytes. Connection errors are ignored. */
export function startUploadRequest(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  length: number,
): ClientRequest {
  const outgoing = request(url, { method, agent: false, headers: { ...headers, 'content-length': length } });
  outgoing.on('error', () => undefined);
  outgoing.flushHeaders();
  return outgoing;
}

/** Start of a multipart form, up to the bytes of the file. */
export const MULTIPART_FORM_START =
  `--${MULTIPART_BOUNDARY}\r\nContent-Disposition: form-data; name="type"\r\n\r\nphoto\r\n` +
  `--${MULTIPART_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n`;

/** Lists the files in the folder of objects, both complete and unfinished ones. */
export function listObjectFileNames(dataDir: string): Promise<string[]> {
  return readdir(join(dataDir, 'objects'));
}

/**
 * Checks that all existing documents of a shipment have the recorded bytes and are counted. Returns the status of each
 * document by id.
 */
export async function expectStoredDocumentBytes(
  api: AxiosInstance,
  shipmentId: string,
): Promise<ReadonlyMap<string, string>> {
  const documents = await listAllItems<ShipmentDocument>(api, `/v1/shipments/${shipmentId}/documents`);
  const present = documents.filter(({ download_url }) => download_url !== null);
  for (const { id, checksum_sha256, size_bytes } of present) {
    const { status, data } = await api.get<Buffer>(`/v1/documents/${id}/download`, { responseType: 'arraybuffer' });
    expect([id, status, data.length, computeSha256([data])]).toEqual([id, 200, size_bytes, checksum_sha256]);
  }
  const shipment = await api.get<Shipment>(`/v1/shipments/${shipmentId}`);
  expect(shipment.data.documents_count).toBe(present.length);
  return new Map(documents.map(({ id, status }) => [id, status]));
}
