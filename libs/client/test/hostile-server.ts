import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly method: string;
  /** Path with query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Handles a request in any way, even without a response. */
export type RequestHandler = (response: ServerResponse, request: ReceivedRequest) => void;

/** Server that handles each request with the next of the given handlers, and repeats the last handler. */
export class HostileServer {
  readonly requests: ReceivedRequest[] = [];
  private handlers: RequestHandler[] = [];

  private constructor(private readonly server: ReturnType<typeof createServer>) {
    server.on('request', (request, response) => {
      const bodyParts: Buffer[] = [];
      request.on('data', (part: Buffer) => bodyParts.push(part));
      request.on('error', () => undefined);
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const asked = { method, url, headers, body: Buffer.concat(bodyParts).toString() };
        this.requests.push(asked);
        const answer = this.handlers.length > 1 ? this.handlers.shift() : this.handlers[0];
        (answer ?? createOkRequestHandler())(response, asked);
      });
    });
  }

  static async startHostileServer(): Promise<HostileServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new HostileServer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Sets the handlers of the next requests and clears the received requests. */
  replaceRequestHandlers(...answers: RequestHandler[]): void {
    this.requests.splice(0);
    this.handlers = answers;
  }

  closeHostileServer(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

export function createJsonResponder(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): RequestHandler {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

export const createOkRequestHandler = (body: unknown = {}, headers = {}): RequestHandler =>
  createJsonResponder(200, body, headers);

/** Responds with an error in the API's format. */
export function createApiErrorResponder(
  status: number,
  type: string,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): RequestHandler {
  const error = { type, code, message: `It is ${code}.`, param: null, details: [], request_id: 'req_1' };
  return createJsonResponder(status, { error }, headers);
}

/** Closes the connection without a response. */
export const resetConnection: RequestHandler = (response) => void response.destroy();

/** Breaks the connection in the middle of a response. */
export const breakResponse: RequestHandler = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"id":', () => response.destroy());
};

export const leaveRequestUnanswered: RequestHandler = () => undefined;
