import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';

export interface SentRequest {
  readonly method: string;
  /** Path with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface FuzzedApiResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Media type without parameters; undefined if the response has no body. */
  readonly mediaType: string | undefined;
  readonly text: string;
  /** Parsed body; undefined for other media types. */
  readonly json: unknown;
}

/**
 * Sends requests unchanged over persistent connections. The sender uses Node's HTTP client, because `fetch` corrects
 * its input.
 */
export class RequestSender {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(private readonly origin: string) {}

  /** @throws Error if the connection ends without a response */
  sendRequest({ method, path, headers, body }: SentRequest): Promise<FuzzedApiResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<FuzzedApiResponse>();
    const { hostname, port } = new URL(this.origin);
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const options = { agent: this.agent, hostname, port, method, path, headers: { ...headers, ...length } };
    const sent = request(options, (answer) => {
      const { statusCode: status = 0, headers: received } = answer;
      const mediaType = received['content-type']?.split(';')[0]?.trim();
      const end = (text: string) =>
        resolve({ status, headers: received, mediaType, text, json: parseJsonResponseBody(mediaType, text) });
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

  closeRequestSender(): void {
    this.agent.destroy();
  }
}

function parseJsonResponseBody(mediaType: string | undefined, text: string): unknown {
  return mediaType !== undefined && /json$/.test(mediaType) && text !== '' ? JSON.parse(text) : undefined;
}
