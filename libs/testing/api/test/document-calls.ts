import { createHash, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { type Socket, connect } from 'node:net';
import { join } from 'node:path';
import type { JsonObject } from '@tracking/contracts';
import type { Api } from './start-api.ts';
import type { Answer } from './described-answers.ts';

export const PDF = Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n');

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

export interface Part {
  readonly name: string;
  /** Of a file; as it stands in the header. */
  readonly fileName?: string;
  readonly type?: string;
  readonly content: string | Uint8Array;
}

/** A form as it is sent. */
export function formOf(parts: readonly Part[], boundary = 'b'): Buffer {
  const pieces = parts.flatMap(({ name, fileName, type, content }) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${fileName === undefined ? '' : `; ${fileName}`}\r\n`,
    `${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`,
    content,
    '\r\n',
  ]);
  return Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece as Uint8Array)));
}

export const fileOf = (content: Uint8Array = PDF, name = 'invoice.pdf'): Part => ({
  name: 'file',
  fileName: `filename="${name}"`,
  content,
});
export const TYPE: Part = { name: 'type', content: 'commercial_invoice' };

/** Calls about documents, by one key. */
export class DocumentCalls {
  constructor(
    private readonly api: Api,
    readonly key: string,
  ) {}

  async shipment(): Promise<string> {
    const made = await this.api.call('POST', '/v1/shipments', { key: this.key, json: { external_id: randomUUID() } });
    return String(made.body['id']);
  }

  /** @param body parts, or a body as it is to be sent */
  add(
    shipment: string,
    body: readonly Part[] | Buffer = [TYPE, fileOf()],
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const raw = new Uint8Array(Buffer.isBuffer(body) ? body : formOf(body as readonly Part[]));
    const type = { 'content-type': 'multipart/form-data; boundary=b' };
    return this.api.call('POST', `/v1/shipments/${shipment}/documents`, {
      key: this.key,
      headers: { ...type, ...headers },
      raw,
    });
  }

  async added(shipment: string, body?: readonly Part[]): Promise<JsonObject> {
    const { status, text, body: document } = await this.add(shipment, body);
    if (status !== 201) throw new Error(text);
    return document;
  }

  /** A document that waits for these bytes, and where to send them. */
  async requested(
    shipment: string,
    bytes: Uint8Array = PDF,
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

  put(path: string, bytes: Uint8Array = PDF): Promise<Answer> {
    return this.api.call('PUT', path, { headers: { 'content-type': 'application/pdf' }, raw: new Uint8Array(bytes) });
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.api.call('GET', path, { key: this.key, headers });
  }

  /** Does something to a document that takes no body or this one. */
  post(id: string, what: string, json?: object): Promise<Answer> {
    return this.api.call('POST', `/v1/documents/${id}/${what}`, { key: this.key, json });
  }

  /** How many objects there are, parts of some too. */
  async objects(): Promise<number> {
    return (await this.objectNames()).length;
  }

  /** What they are called in the folder of objects. */
  async objectNames(): Promise<readonly string[]> {
    return (await readdir(join(this.api.dataDir, 'objects'))).sort();
  }
}

/**
 * A request of which only this is sent; what comes back until the other side ends it.
 * @param until after which it is broken off from this side
 */
export async function sendRaw(api: Api, text: string | Buffer, until?: () => Promise<unknown>): Promise<string> {
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
    // Answered whole: no answer here has a larger body.
    if (answer.includes('\r\n\r\n')) setImmediate(() => socket.destroy());
  });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('close', resolve));
  return answer;
}
