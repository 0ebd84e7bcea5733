import type { components } from '../generated/api.ts';
import type { Progress } from '../http/request.ts';
import type { PostOptions } from '../options.ts';

export type ShipmentDocument = components['schemas']['Document'];
export type DocumentType = components['schemas']['DocumentType'];
export type DocumentContentType = components['schemas']['DocumentContentType'];

/** A file that becomes a document. */
export interface DocumentUpload {
  readonly type: DocumentType;
  readonly file: Blob | Uint8Array<ArrayBuffer> | ArrayBuffer;
  /** The name of a `File` unless told. */
  readonly file_name?: string;
  /** The type of a `Blob` or `File` unless told. The service judges by content, and refuses another type. */
  readonly content_type?: DocumentContentType;
  /** The document that this one takes the place of. */
  readonly replaces_document_id?: string;
  /** SHA-256 in hex, where it is known: else a file above 25 MiB is read once more for it, in memory as a whole. */
  readonly checksum_sha256?: string;
}

export interface UploadOptions extends Omit<PostOptions, 'strict'> {
  readonly onProgress?: (progress: Progress) => void;
  /** Above so many bytes by a presigned URL: 25 MiB unless told, which is the most that goes otherwise. */
  readonly presignedAbove?: number;
}

/** What goes in one request. */
export const MULTIPART_LIMIT = 25 * 1_024 * 1_024;

/** The upload with all that follows from its file. @throws TypeError where something is missing */
export function described(
  upload: DocumentUpload,
): DocumentUpload & { readonly file: Blob; readonly file_name: string } {
  const given = upload.file;
  const isBlob = typeof (given as Blob).stream === 'function';
  const name = upload.file_name ?? (given as Partial<File>).name;
  if (name === undefined) throw new TypeError('file_name is needed: the file has no name of its own.');
  const type = upload.content_type ?? (isBlob ? (given as Blob).type : '');
  const blob = isBlob ? (given as Blob) : new Blob([given as ArrayBuffer]);
  const file = blob.type === type ? blob : blob.slice(0, blob.size, type);
  return { ...upload, file, file_name: name };
}

/** Fields first: the service looks at them before the file arrives. */
export function formOf({ type, file, file_name, replaces_document_id }: ReturnType<typeof described>): FormData {
  const form = new FormData();
  form.append('type', type);
  if (replaces_document_id !== undefined) form.append('replaces_document_id', replaces_document_id);
  form.append('file', file, file_name);
  return form;
}

/** In hex. */
export async function sha256(file: Blob): Promise<string> {
  // Pages without TLS have none.
  if (!globalThis.crypto?.subtle) throw new TypeError('checksum_sha256 is needed: there is no Web Crypto here.');
  const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
