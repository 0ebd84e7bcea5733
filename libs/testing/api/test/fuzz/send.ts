import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';

export interface Sent {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Without parameters; undefined where there is no body. */
  readonly mediaType: string | undefined;
  readonly text: string;
  /** Undefined where it is of another media type. */
  readonly json: unknown;
}

/** Sends requests over connections that stay open, as they are: Node's own, for `fetch` corrects what it is given. */
export class Sender {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(private readonly origin: string) {}

  /** @throws where the connection ends without an answer */
  send({ method, path, headers, body }: Sent): Promise<Received> {
    const { promise, resolve, reject } = Promise.withResolvers<Received>();
    const { hostname, port } = new URL(this.origin);
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const options = { agent: this.agent, hostname, port, method, path, headers: { ...headers, ...length } };
    const sent = request(options, (answer) => {
      const { statusCode: status = 0, headers: received } = answer;
      const mediaType = received['content-type']?.split(';')[0]?.trim();
      const end = (text: string) =>
        resolve({ status, headers: received, mediaType, text, json: jsonOf(mediaType, text) });
      if (mediaType === 'text/event-stream') {
        end('');
        sent.destroy();
        return;
      }
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => void chunks.push(chunk));
      answer.on('end', () => end(Buffer.concat(chunks).toString()));
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
    return promise;
  }

  close(): void {
    this.agent.destroy();
  }
}

function jsonOf(mediaType: string | undefined, text: string): unknown {
  return mediaType !== undefined && /json$/.test(mediaType) && text !== '' ? JSON.parse(text) : undefined;
}
