import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EventEnvelope } from '@tracking/contracts';
import { verifySignature } from '@tracking/receiver';

interface RecordedRequest {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

/** Receiver on loopback. It answers a challenge with the challenge's token, or every request with a fixed response. */
export class LoopbackReceiver {
  answer: 'token' | { readonly status: number; readonly body: string } = 'token';
  private readonly came: RecordedRequest[] = [];

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        this.came.push({ body, headers: request.headers });
        const { data } = JSON.parse(body.toString()) as { data: { challenge?: string } };
        const { status, body: text } = this.answer === 'token' ? { status: 200, body: data.challenge } : this.answer;
        response.writeHead(status).end(text);
      });
    });
  }

  static async startLoopbackReceiver(): Promise<LoopbackReceiver> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new LoopbackReceiver(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook`;
  }

  /** Returns events that arrived with a valid signature, in order of arrival. */
  findSignedEvents(secret: string): readonly (EventEnvelope & { readonly headers: IncomingHttpHeaders })[] {
    return this.came
      .filter(({ body, headers }) => {
        const signature = String(headers['service-signature']);
        return verifySignature(signature, body, secret, Date.now()) === 'valid';
      })
      .map(({ body, headers }) => ({ ...(JSON.parse(body.toString()) as EventEnvelope), headers }));
  }

  closeReceiver(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
