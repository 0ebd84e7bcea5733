import { createServer, type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EventEnvelope } from '@tracking/contracts';
import { verifySignature } from '@tracking/receiver';
import type { AxiosInstance } from 'axios';
import { takeTime } from '@tracking/testing';

/** A request as it came to an endpoint. */
export interface Arrival {
  /** Of the event that it says it brings. */
  readonly eventId: string;
  /** Of the sender's end of the connection. */
  readonly port: number;
  /** By the receiver's clock, in epoch milliseconds. */
  readonly at: number;
  /** Requests under way at this endpoint then, this one included. */
  readonly underWay: number;
  /** Deliveries that this endpoint had answered 2xx by then. */
  readonly succeeded: number;
  /** Until it is answered, or its sender is gone. */
  isOpen: boolean;
}

/** A status, with headers where there are any. */
export type Answer = number | { readonly status: number; readonly headers: OutgoingHttpHeaders };

/** What a client's endpoint does with a delivery: answers, perhaps after some work. */
export type Behaviour = (event: EventEnvelope, came: number, arrival: Arrival) => Answer | Promise<Answer>;

/** One endpoint and what came to it. */
export interface Hook {
  readonly id: string;
  /** Any of these may have signed what comes. */
  readonly secrets: string[];
  /** By event id, the headers with which it came last. */
  readonly headers: Map<string, IncomingHttpHeaders>;
  /** By event id, how often it came with a valid signature. */
  readonly came: Map<string, number>;
  /** By event id, the `traceparent` of each of them. */
  readonly traces: Map<string, readonly string[]>;
  readonly underWay: ReadonlySet<Arrival>;
  /** Most requests under way at once. */
  mostAtOnce: number;
  /** Whenever more were under way than its owner allows: which, and since when. */
  readonly excesses: readonly string[];
  /** Deliveries answered 2xx. */
  succeeded: number;
  behave: Behaviour;
}

interface Registered extends Hook {
  /** Most requests at once that its owner allows. */
  readonly limit: number;
  readonly underWay: Set<Arrival>;
  readonly excesses: string[];
}

/** A client's server with any number of endpoints: it tells a valid signature from others, and remembers what came. */
export class HookServer {
  /** By event id, as it came first. */
  readonly bodies = new Map<string, string>();
  /** What no receiver should see. */
  readonly faults: string[] = [];
  private readonly hooks = new Map<string, Registered>();

  private constructor(
    private readonly server: ReturnType<typeof createServer>,
    private readonly workMs: number,
  ) {
    server.on('request', (request, response) => {
      const hook = this.hooks.get(request.url ?? '');
      if (hook === undefined) return void response.writeHead(404).end();
      const arrival = arrivalOf(request, hook);
      hook.underWay.add(arrival);
      hook.mostAtOnce = Math.max(hook.mostAtOnce, hook.underWay.size);
      if (hook.underWay.size > hook.limit) hook.excesses.push(described(hook.underWay));
      const over = () => {
        hook.underWay.delete(arrival);
        arrival.isOpen = false;
      };
      response.once('close', over);
      void this.answer(request, hook, arrival).then(
        ([status, headers, text]) => {
          over();
          response.writeHead(status, headers).end(text);
        },
        () => response.destroy(),
      );
    });
  }

  /** @param workMs how long it takes over each delivery */
  static async start(workMs = 0): Promise<HookServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new HookServer(server, workMs);
  }

  urlOf(path: string): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${path}`;
  }

  /** Makes an endpoint of this path, as yet neither verified nor enabled. */
  async register(api: AxiosInstance, path: string, fields: object = {}): Promise<Hook> {
    const made = await api.post('/v1/webhook_endpoints', { url: this.urlOf(path), event_types: ['*'], ...fields });
    if (made.status !== 201) throw new Error(`${made.status} ${JSON.stringify(made.data)}`);
    const { id, secret, max_concurrency: limit } = made.data as { id: string; secret: string; max_concurrency: number };
    const hook: Registered = {
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

  /** Makes one that gets live events. */
  async enabled(api: AxiosInstance, path: string, fields: object = {}): Promise<Hook> {
    const hook = await this.register(api, path, fields);
    for (const step of ['verify', 'enable']) {
      const done = await api.post(`/v1/webhook_endpoints/${hook.id}/${step}`);
      if (done.status !== 200) throw new Error(`${step}: ${done.status} ${JSON.stringify(done.data)}`);
    }
    return hook;
  }

  /** @throws where this event came in another form, or not at all */
  event(id: string): EventEnvelope {
    return JSON.parse(this.bodies.get(id) ?? 'null') as EventEnvelope;
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private async answer(
    request: IncomingMessage,
    hook: Registered,
    arrival: Arrival,
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
    if (first !== body.toString()) this.faults.push(`${event.id}: came with another body`);
    const came = (hook.came.get(event.id) ?? 0) + 1;
    hook.came.set(event.id, came);
    hook.headers.set(event.id, request.headers);
    hook.traces.set(event.id, [...(hook.traces.get(event.id) ?? []), String(request.headers['traceparent'])]);
    if (this.workMs > 0) await takeTime(this.workMs);
    const answer = await hook.behave(event, came, arrival);
    const { status, headers } = typeof answer === 'number' ? { status: answer, headers: {} } : answer;
    if (arrival.isOpen && status < 300) hook.succeeded += 1;
    return [status, headers, ''];
  }
}

function arrivalOf({ headers, socket }: IncomingMessage, { underWay, succeeded }: Hook): Arrival {
  const eventId = String(headers['service-event-id']);
  const port = socket.remotePort ?? 0;
  return { eventId, port, at: Date.now(), underWay: underWay.size + 1, succeeded, isOpen: true };
}

function described(underWay: ReadonlySet<Arrival>): string {
  const now = Date.now();
  const each = [...underWay].map(({ eventId, port, at }) => `${eventId} from port ${port} for ${now - at} ms`);
  return `${new Date(now).toISOString()}: ${each.join(', ')}`;
}
