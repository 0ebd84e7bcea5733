import type { ShipmentDocument } from '@tracking/contracts';
import { computeSha256 } from '@tracking/testing';
import axios, { type AxiosInstance, type AxiosResponse } from 'axios';

/** A document without its bytes, and the URL to send them to. */
export type RequestedUpload = ShipmentDocument & {
  readonly upload: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly expires_at: string;
  };
};

/** HTTP client of the tests that sends no key, like a browser that uploads to an upload URL. */
const CLIENT_WITHOUT_KEY = axios.create({
  validateStatus: () => true,
  proxy: false,
  maxBodyLength: Infinity,
  timeout: 60_000,
});

/** Uploads a document with its fields. */
export function uploadDocument(
  api: AxiosInstance,
  shipmentId: string,
  bytes: Buffer,
  { file_name = 'bill.pdf', ...fields }: Readonly<Record<string, string>>,
): Promise<AxiosResponse<ShipmentDocument>> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(bytes)], { type: 'application/pdf' }), file_name);
  return api.post<ShipmentDocument>(`/v1/shipments/${shipmentId}/documents`, form);
}

/** Requests a URL for the upload of these bytes. */
export function requestUpload(
  api: AxiosInstance,
  shipmentId: string,
  bytes: Buffer,
  fields: object = {},
): Promise<AxiosResponse<RequestedUpload>> {
  return api.post<RequestedUpload>(`/v1/shipments/${shipmentId}/documents/uploads`, {
    type: 'commercial_invoice',
    file_name: 'invoice.pdf',
    content_type: 'application/pdf',
    size_bytes: bytes.length,
    checksum_sha256: computeSha256([bytes]),
    ...fields,
  });
}

/** Sends bytes to their upload URL, at the given gateway. */
export function sendUploadBytes({ upload }: RequestedUpload, bytes: Buffer, gateway: string): Promise<AxiosResponse> {
  const { pathname, search } = new URL(upload.url);
  const url = gateway + pathname + search;
  return CLIENT_WITHOUT_KEY.request({ method: upload.method, url, headers: { ...upload.headers }, data: bytes });
}

/** Downloads a document, or the part that a `Range` header names. */
export function downloadDocument(
  api: AxiosInstance,
  id: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<AxiosResponse<Buffer>> {
  return api.get<Buffer>(`/v1/documents/${id}/download`, { responseType: 'arraybuffer', headers: { ...headers } });
}
