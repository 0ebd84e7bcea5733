import { createServer, type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EventEnvelope } from '@tracking/contracts';
import { verifySignature } from '@tracking/receiver';
import type { AxiosInstance } from 'axios';
import { waitForSimulatedDelay } from '@tracking/testing';

/** A request that arrived at an endpoint. */
export interface ReceivedRequest {
  /** Event id in the request's headers. */
  readonly eventId: string;
  /** Port of the sender. */
  readonly port: number;
  /** Time of arrival in epoch milliseconds of the receiver's clock. */
  readonly at: number;
  /** Number of concurrent requests at the endpoint on arrival, including this one. */
  readonly underWay: number;
  /** Number of deliveries with a 2xx response before this one. */
  readonly succeeded: number;
  /** True until the request has a response or its sender disconnects. */
  isOpen: boolean;
}

/** Response to a delivery: a status, optionally with headers. */
export type Answer = number | { readonly status: number; readonly headers: OutgoingHttpHeaders };

/** Function that decides the response to a delivery and may take time. */
export type Behaviour = (event: EventEnvelope, came: number, arrival: ReceivedRequest) => Answer | Promise<Answer>;

/** An endpoint and its deliveries. */
export interface EndpointWithReceivedDeliveries {
  readonly id: string;
  /** Secrets that may sign a delivery. */
  readonly secrets: string[];
  /** Headers of the last delivery by event id. */
  readonly headers: Map<string, IncomingHttpHeaders>;
  /** Number of deliveries with a valid signature by event id. */
  readonly came: Map<string, number>;
  /** The `traceparent` headers of deliveries by event id. */
  readonly traces: Map<string, readonly string[]>;
  readonly underWay: ReadonlySet<ReceivedRequest>;
  /** Highest number of requests so far that were in progress at the same time. */
  mostAtOnce: number;
  /** Requests that exceeded the allowed concurrency, each with its start time. */
  readonly excesses: readonly string[];
  /** Number of deliveries with a 2xx response. */
  succeeded: number;
  behave: Behaviour;
}

interface ReceiverEndpointWithRequests extends EndpointWithReceivedDeliveries {
  /** Maximum concurrency of the endpoint. */
  readonly limit: number;
  readonly underWay: Set<ReceivedRequest>;
  readonly excesses: string[];
}

/** Test server that receives webhooks at any number of endpoints. Verifies signatures and records deliveries. */
export class EndpointServer {
  /** First body received by event id. */
  readonly bodies = new Map<string, string>();
  /** Violations of the delivery contract. */
  readonly faults: string[] = [];
  private readonly hooks = new Map<string, ReceiverEndpointWithRequests>();

  private constructor(
    private readonly server: ReturnType<typeof createServer>,
    private readonly workMs: number,
  ) {
    server.on('request', (request, response) => {
      const hook = this.hooks.get(request.url ?? '');
      if (hook === undefined) return void response.writeHead(404).end();
      const arrival = createReceivedRequest(request, hook);
      hook.underWay.add(arrival);
      hook.mostAtOnce = Math.max(hook.mostAtOnce, hook.underWay.size);
      if (hook.underWay.size > hook.limit) hook.excesses.push(describeOpenRequests(hook.underWay));
      const over = () => {
        hook.underWay.delete(arrival);
        arrival.isOpen = false;
      };
      response.once('close', over);
      void this.checkAndAnswerReceivedWebhook(request, hook, arrival).then(
        ([status, headers, text]) => {
          over();
          response.writeHead(status, headers).end(text);
        },
        () => response.destroy(),
      );
    });
  }

  /** @param workMs milliseconds that the server takes per delivery */
  static async startEndpointServer(workMs = 0): Promise<EndpointServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new EndpointServer(server, workMs);
  }

  formatEndpointUrl(path: string): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${path}`;
  }

  /** Creates an endpoint with this path. The endpoint is neither verified nor enabled. */
  async createEndpoint(api: AxiosInstance, path: string, fields: object = {}): Promise<EndpointWithReceivedDeliveries> {
    const made = await api.post('/v1/webhook_endpoints', {
      url: this.formatEndpointUrl(path),
      event_types: ['*'],
      ...fields,
    });
    if (made.status !== 201) throw new Error(`${made.status} ${JSON.stringify(made.data)}`);
    const { id, secret, max_concurrency: limit } = made.data as { id: string; secret: string; max_concurrency: number };
    const hook: ReceiverEndpointWithRequests = {
      id,
      secrets: [secret],
      headers: new Map(),
      limit,
      came: new Map(),
      traces: new Map(),
      underWay: new Set(),
      mostAtOnce: 0,
      excesses: [],
      succeeded: 0,
      behave: () => 204,
    };
    this.hooks.set(path, hook);
    return hook;
  }

  /** Creates an enabled endpoint. */
  async createEnabledEndpoint(
    api: AxiosInstance,
    path: string,
    fields: object = {},
  ): Promise<EndpointWithReceivedDeliveries> {
    const hook = await this.createEndpoint(api, path, fields);
    for (const step of ['verify', 'enable']) {
      const done = await api.post(`/v1/webhook_endpoints/${hook.id}/${step}`);
      if (done.status !== 200) throw new Error(`${step}: ${done.status} ${JSON.stringify(done.data)}`);
    }
    return hook;
  }

  /** Returns the event with this id, as it first arrived; null if it did not arrive. */
  findEvent(id: string): EventEnvelope {
    return JSON.parse(this.bodies.get(id) ?? 'null') as EventEnvelope;
  }

  closeEndpointServer(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private async checkAndAnswerReceivedWebhook(
    request: IncomingMessage,
    hook: ReceiverEndpointWithRequests,
    arrival: ReceivedRequest,
  ): Promise<[number, OutgoingHttpHeaders, string]> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const event = JSON.parse(body.toString()) as EventEnvelope & { data: { challenge?: string } };
    const signature = String(request.headers['service-signature']);
    const verdicts = hook.secrets.map((secret) => verifySignature(signature, body, secret, Date.now()));
    if (!verdicts.includes('valid')) this.faults.push(`${event.id}: signature ${verdicts.join()}`);
    if (event.type === ('endpoint.verification' as string)) return [200, {}, String(event.data.challenge)];
    const first = this.bodies.get(event.id) ?? body.toString();
    this.bodies.set(event.id, first);
    if (first !== body.toString()) this.faults.push(`${event.id}: a repeated delivery has another body`);
    const came = (hook.came.get(event.id) ?? 0) + 1;
    hook.came.set(event.id, came);
    hook.headers.set(event.id, request.headers);
    hook.traces.set(event.id, [...(hook.traces.get(event.id) ?? []), String(request.headers['traceparent'])]);
    if (this.workMs > 0) await waitForSimulatedDelay(this.workMs);
    const answer = await hook.behave(event, came, arrival);
    const { status, headers } = typeof answer === 'number' ? { status: answer, headers: {} } : answer;
    if (arrival.isOpen && status < 300) hook.succeeded += 1;
    return [status, headers, ''];
  }
}

function createReceivedRequest(
  { headers, socket }: IncomingMessage,
  { underWay, succeeded }: EndpointWithReceivedDeliveries,
): ReceivedRequest {
  const eventId = String(headers['service-event-id']);
  const port = socket.remotePort ?? 0;
  return { eventId, port, at: Date.now(), underWay: underWay.size + 1, succeeded, isOpen: true };
}

function describeOpenRequests(underWay: ReadonlySet<ReceivedRequest>): string {
  const now = Date.now();
  const each = [...underWay].map(({ eventId, port, at }) => `${eventId} from port ${port} for ${now - at} ms`);
  return `${new Date(now).toISOString()}: ${each.join(', ')}`;
}
