import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly method: string;
  /** Path with query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What is done with a request; it may be anything. */
export type Answer = (response: ServerResponse, asked: Asked) => void;

/** A server that answers one request after the other as it is told, and the last way from then on. */
export class HostileServer {
  readonly asked: Asked[] = [];
  private answers: Answer[] = [];

  private constructor(private readonly server: ReturnType<typeof createServer>) {
    server.on('request', (request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('error', () => undefined);
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const asked = { method, url, headers, body: Buffer.concat(parts).toString() };
        this.asked.push(asked);
        const answer = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
        (answer ?? ok())(response, asked);
      });
    });
  }

  static async start(): Promise<HostileServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new HostileServer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Forgets what was asked. */
  behave(...answers: Answer[]): void {
    this.asked.splice(0);
    this.answers = answers;
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

export const ok = (body: unknown = {}, headers = {}): Answer => json(200, body, headers);

/** In the API's form. */
export function refused(
  status: number,
  type: string,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const error = { type, code, message: `It is ${code}.`, param: null, details: [], request_id: 'req_1' };
  return json(status, { error }, headers);
}

/** Nothing is answered. */
export const breaksOff: Answer = (response) => void response.destroy();

/** The answer stops in its middle. */
export const breaksInTheMiddle: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"id":', () => response.destroy());
};

export const neverAnswers: Answer = () => undefined;
