import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const PDF_HEADER = Buffer.from('%PDF-1.7\n');

/** A PDF by its first bytes, followed by the same piece repeatedly, so that the sender needs little CPU. */
export class SampleFile {
  readonly size: number;
  readonly sha256: string;
  private readonly piece = randomBytes(65_536);

  constructor(readonly mib: number) {
    PDF_HEADER.copy(this.piece);
    this.size = mib * 2 ** 20;
    const hash = createHash('sha256');
    for (const piece of this.pieces()) hash.update(piece);
    this.sha256 = hash.digest('hex');
  }

  *pieces(): Generator<Buffer> {
    for (let at = 0; at < this.size; at += this.piece.length) yield this.piece;
  }
}

/** A server to which files are uploaded and from which they are downloaded. */
export interface FilePlace {
  upload(file: SampleFile): Promise<string>;
  download(name: string): Promise<void>;
  remove(name: string): Promise<void>;
}

async function sendRequest(
  method: string,
  url: string,
  headers: Readonly<Record<string, string | number>> = {},
  body: Iterable<Buffer> = [],
): Promise<IncomingMessage> {
  const outgoing = request(url, { method, headers: { ...headers }, agent: false });
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  const [[response]] = await Promise.all([answered, pipeline(Readable.from(body), outgoing)]);
  if ((response.statusCode ?? 500) >= 300) throw new Error(`${method} ${url}: ${response.statusCode}`);
  return response;
}

/** Discards the response body. */
async function size(response: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const piece of response) bytes += (piece as Buffer).length;
  return bytes;
}

/** The bare server of `files-server.ts`. */
export class BareFiles implements FilePlace {
  private count = 0;

  constructor(private readonly url: string) {}

  async upload(file: SampleFile): Promise<string> {
    const name = `file${(this.count += 1)}`;
    await size(await sendRequest('PUT', this.urlOf(name), { 'content-length': file.size }, file.pieces()));
    return name;
  }

  async download(name: string): Promise<void> {
    await size(await sendRequest('GET', this.urlOf(name)));
  }

  async remove(name: string): Promise<void> {
    await size(await sendRequest('DELETE', this.urlOf(name)));
  }

  private urlOf(name: string): string {
    return `${this.url}/files/${name}`;
  }
}

/** Documents of a shipment, by presigned URLs. */
export class Documents implements FilePlace {
  private constructor(
    private readonly url: string,
    private readonly key: string,
    private readonly shipmentId: string,
  ) {}

  static async open(url: string, key: string): Promise<Documents> {
    const { id } = (await new Documents(url, key, '').call('/v1/shipments', { house_bill: 'BENCH' })) as { id: string };
    return new Documents(url, key, id);
  }

  async upload(file: SampleFile): Promise<string> {
    const { id, upload } = (await this.call(`/v1/shipments/${this.shipmentId}/documents/uploads`, {
      type: 'other',
      file_name: 'bench.pdf',
      content_type: 'application/pdf',
      size_bytes: file.size,
      checksum_sha256: file.sha256,
    })) as { id: string; upload: { url: string; headers: Record<string, string> } };
    const headers = { ...upload.headers, 'content-length': file.size };
    await size(await sendRequest('PUT', upload.url, headers, file.pieces()));
    await this.call(`/v1/documents/${id}/complete`);
    return id;
  }

  async download(id: string): Promise<void> {
    await size(await sendRequest('GET', `${this.url}/v1/documents/${id}/download`, this.headers));
  }

  async remove(id: string): Promise<void> {
    await size(await sendRequest('DELETE', `${this.url}/v1/documents/${id}`, this.headers));
  }

  private get headers() {
    return { authorization: `Bearer ${this.key}` };
  }

  private async call(path: string, body?: object): Promise<unknown> {
    const headers = { ...this.headers, ...(body && { 'content-type': 'application/json' }) };
    const response = await fetch(this.url + path, {
      method: 'POST',
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }
}
