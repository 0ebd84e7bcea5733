import { createHash, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { type Socket, connect } from 'node:net';
import { join } from 'node:path';
import type { JsonObject } from '@tracking/contracts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

export const SMALL_PDF = Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n');

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

export interface FormPart {
  readonly name: string;
  /** Parameter `filename` of a file, as the form's header contains it. */
  readonly fileName?: string;
  readonly type?: string;
  /** Header `Content-Transfer-Encoding`. */
  readonly encoding?: string;
  readonly content: string | Uint8Array;
}

/** Encodes a multipart form. */
export function encodeMultipartForm(parts: readonly FormPart[], boundary = 'b'): Buffer {
  const pieces = parts.flatMap(({ name, fileName, type, encoding, content }) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${fileName === undefined ? '' : `; ${fileName}`}\r\n`,
    `${type === undefined ? '' : `Content-Type: ${type}\r\n`}`,
    `${encoding === undefined ? '' : `Content-Transfer-Encoding: ${encoding}\r\n`}\r\n`,
    content,
    '\r\n',
  ]);
  return Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece as Uint8Array)));
}

export const createFormFilePart = (content: Uint8Array = SMALL_PDF, name = 'invoice.pdf'): FormPart => ({
  name: 'file',
  fileName: `filename="${name}"`,
  content,
});
export const SAMPLE_DOCUMENT_TYPE_PART: FormPart = { name: 'type', content: 'commercial_invoice' };

/** Creates the beginning of a message of Outlook: a compound file with the header and the directory of a message. */
export function createOutlookMessage(): Buffer {
  const header = Buffer.alloc(512);
  header.write('d0cf11e0a1b11ae1', 'hex');
  // Sectors of 512 bytes; the first one holds the directory.
  header.writeUInt16LE(9, 30);
  const directory = Buffer.alloc(512);
  for (const [index, name] of ['Root Entry', '__properties_version1.0'].entries()) {
    const entry = directory.subarray(128 * index);
    entry.write(name, 'utf16le');
    entry.writeUInt16LE(2 * name.length + 2, 64);
    entry[66] = index === 0 ? 5 : 2;
  }
  directory.write('0b0d020000000000c000000000000046', 80, 'hex');
  return Buffer.concat([header, directory]);
}

/** Calls of the document operations with one API key. */
export class DocumentApiTestClient {
  constructor(
    private readonly api: Api,
    readonly key: string,
  ) {}

  async createShipment(): Promise<string> {
    const made = await this.api.call('POST', '/v1/shipments', { key: this.key, json: { external_id: randomUUID() } });
    return String(made.body['id']);
  }

  /** @param body parts of the form, or an encoded form */
  sendUpload(
    shipment: string,
    body: readonly FormPart[] | Buffer = [SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart()],
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ApiResponse> {
    const raw = new Uint8Array(Buffer.isBuffer(body) ? body : encodeMultipartForm(body as readonly FormPart[]));
    const type = { 'content-type': 'multipart/form-data; boundary=b' };
    return this.api.call('POST', `/v1/shipments/${shipment}/documents`, {
      key: this.key,
      headers: { ...type, ...headers },
      raw,
    });
  }

  async uploadDocument(shipment: string, body?: readonly FormPart[]): Promise<JsonObject> {
    const { status, text, body: document } = await this.sendUpload(shipment, body);
    if (status !== 201) throw new Error(text);
    return document;
  }

  /** Requests an upload URL for the given bytes, and returns the document's id and the path of the URL. */
  async requestUpload(
    shipment: string,
    bytes: Uint8Array = SMALL_PDF,
    differing: object = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    const json = {
      type: 'photo',
      file_name: 'invoice.pdf',
      content_type: 'application/pdf',
      size_bytes: bytes.length,
      checksum_sha256: sha256(bytes),
      ...differing,
    };
    const path = `/v1/shipments/${shipment}/documents/uploads`;
    const { status, body, text } = await this.api.call('POST', path, { key: this.key, json, headers });
    if (status !== 201) throw new Error(text);
    const { url } = body['upload'] as { readonly url: string };
    return { id: String(body['id']), path: url.replace('https://api.example', ''), body };
  }

  putFileToUploadUrl(path: string, bytes: Uint8Array = SMALL_PDF): Promise<ApiResponse> {
    return this.api.call('PUT', path, { headers: { 'content-type': 'application/pdf' }, raw: new Uint8Array(bytes) });
  }

  sendApiGetRequest(path: string, headers: Readonly<Record<string, string>> = {}): Promise<ApiResponse> {
    return this.api.call('GET', path, { key: this.key, headers });
  }

  /** Calls an operation on a document, with an optional JSON body. */
  callDocumentApiOperation(id: string, what: string, json?: object): Promise<ApiResponse> {
    return this.api.call('POST', `/v1/documents/${id}/${what}`, { key: this.key, json });
  }

  /** Returns the number of stored objects, including unfinished ones. */
  async countStoredObjects(): Promise<number> {
    return (await this.listObjectFiles()).length;
  }

  /** Returns the file names in the folder of objects. */
  async listObjectFiles(): Promise<readonly string[]> {
    return (await readdir(join(this.api.dataDir, 'objects'))).sort();
  }
}

/**
 * Sends only the given part of a request, and returns the response that arrives until the server closes the connection.
 * @param until promise after which the client closes the connection
 */
export async function sendRawRequest(api: Api, text: string | Buffer, until?: () => Promise<unknown>): Promise<string> {
  const { hostname, port } = new URL(api.url);
  const socket: Socket = connect(Number(port), hostname);
  socket.write(text);
  if (until !== undefined) {
    await until();
    socket.end();
  }
  let answer = '';
  socket.on('data', (data: Buffer) => {
    answer += data.toString();
    // Responses of these tests have small bodies, which are complete when the headers arrive.
    if (answer.includes('\r\n\r\n')) setImmediate(() => socket.destroy());
  });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('close', resolve));
  return answer;
}
