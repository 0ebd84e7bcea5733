import { createHash } from 'node:crypto';
import type { Position } from '@tracking/ports';
import { type ClientReceiver, enabledEndpoint, startClientReceiver } from '../client-endpoint.ts';
import { type Api, startApi } from '../start-api.ts';
import { Answers } from './answers.ts';
import { type Caller, PASSWORD, newCallers } from './callers.ts';
import { Description } from './description.ts';
import type { Operation } from './description.ts';
import { FILES } from './forms.ts';
import { KnownThings, knownOf } from './known-things.ts';
import type { Drawn } from './requests.ts';
import { SchemaValues } from './schema-values.ts';
import { type Received, Sender, type Sent } from './send.ts';
import { Written, watchedStore } from './watched-store.ts';

/** What a request may write whether or not it is refused: what it is counted by, answered from, or was last seen with. */
const OF_EVERY_REQUEST: ReadonlySet<string> = new Set(['idempotency_claims']);

/** The API with something of everything in it, and what is to hold of each request. */
export class FuzzedApi {
  readonly values: SchemaValues;
  private readonly answers: Answers;
  /** By scope. */
  private readonly known = new Map<string, KnownThings>();
  private readonly sender: Sender;
  private sendings = 0;
  private successes = 0;

  private constructor(
    private readonly api: Api,
    readonly description: Description,
    private readonly receiver: ClientReceiver,
    private readonly written: Written,
    private callers: readonly Caller[],
  ) {
    this.values = new SchemaValues(description, { urls: [receiver.url, 'http://127.0.0.1:1/'], known: knownOf });
    this.answers = new Answers(description);
    this.sender = new Sender(api.url);
  }

  static async start(): Promise<FuzzedApi> {
    const written = new Written();
    const api = await startApi({
      store: (store) => watchedStore(store, written),
      // So that one may come from many addresses, and sign in from each.
      settings: { trustedProxies: ['127.0.0.1'] },
    });
    const receiver = await startClientReceiver();
    const description = new Description((await api.call('GET', '/openapi.json')).body);
    const fuzzed = new FuzzedApi(api, description, receiver, written, await newCallers(api));
    try {
      await fuzzed.fill();
      return fuzzed;
    } catch (error) {
      await fuzzed.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.sender.close();
    await this.api.stop();
    await this.receiver.close();
  }

  /** The part of all that were sent which was carried out. */
  get carriedOut(): number {
    return this.successes / this.sendings;
  }

  /** Sends it. @throws where what comes of it is not as it has to be */
  async expectSound(operation: Operation, drawn: Drawn): Promise<void> {
    const caller = this.callerOf(drawn);
    const [whose, known] = this.knownOf(caller, drawn.isStrange);
    const sent: Sent = {
      method: operation.method,
      path: known.filledIn(pathOf(operation.path, drawn, known)),
      headers: { ...caller.headers, ...mapped(drawn.headers, (value) => known.filledIn(value)) },
      ...(drawn.body !== undefined && {
        body: typeof drawn.body === 'string' ? known.filledIn(drawn.body) : drawn.body,
      }),
    };
    this.written.forget();
    const before = await this.api.head();
    const received = await this.sender.send(sent);
    const { status } = received;
    const faults = [...this.answers.faultsOf(operation, received)];
    if (status >= 500) faults.push('it is a fault of the server');
    if (status >= 400 || operation.method === 'GET') faults.push(...(await this.writtenSince(before, received)));
    const isOthers = operation.isSecured && workspaceOf(whose) !== workspaceOf(caller.scope);
    if (status < 400 && isOthers && operation.path.includes('{')) faults.push('it is of another workspace');
    if (faults.length > 0) throw new Error(told(sent, received, faults));
    this.sendings += 1;
    if (status < 300) {
      this.successes += 1;
      this.knownOf(caller)[1].learn(sent.path, received.headers, received.json);
    }
    if (status === 401 && caller.isKnown) await this.renewCallers();
  }

  /** Others who may all do what they could at first: requests take things away from those who ask. */
  private async renewCallers(): Promise<void> {
    this.callers = await newCallers(this.api);
    const caller = this.callerOf({ caller: 0 });
    for (const path of ['/v1/session', '/v1/sessions']) {
      const { headers, body } = await this.api.call('GET', path, { headers: caller.headers });
      this.knownOf(caller)[1].learn(path, Object.fromEntries(headers), body);
    }
  }

  private async writtenSince(before: Position | undefined, { headers }: Received): Promise<readonly string[]> {
    const collections = this.written.by(String(headers['request-id'])).filter((name) => !OF_EVERY_REQUEST.has(name));
    return [
      ...((await this.api.head()) === before ? [] : ['events were stored']),
      ...collections.map((name) => `something was written in ${name}`),
    ];
  }

  private callerOf({ caller }: Pick<Drawn, 'caller'>): Caller {
    const found = this.callers[caller % this.callers.length];
    if (!found) throw new Error('nobody asks');
    return found;
  }

  /** What they know, or, where they are to ask for it, what somebody else does; whose that is. */
  private knownOf({ scope }: Caller, isStrange = false): readonly [whose: string, known: KnownThings] {
    const others = [...this.known.keys()].filter((other) => other !== scope);
    const whose = (isStrange ? others.at(-1) : undefined) ?? scope;
    const known = this.known.get(whose) ?? new KnownThings(this.description);
    this.known.set(whose, known);
    return [whose, known];
  }

  /** One of each, so that there is something to ask for from the first request on. */
  private async fill(): Promise<void> {
    const { api } = this;
    const caller = this.callerOf({ caller: 0 });
    const [, known] = this.knownOf(caller);
    const call = async (method: string, path: string, json?: object) => {
      const { status, headers, body } = await api.call(method, path, { headers: caller.headers, json });
      if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
      known.learn(path, Object.fromEntries(headers), body);
      return String(body['id']);
    };
    for (const name of ['password', 'current_password', 'new_password']) known.noteText(name, PASSWORD);
    const shipment = await call('POST', '/v1/shipments', {
      external_id: 'one',
      mode: 'ocean',
      container_numbers: ['CSQU3054383'],
    });
    await call('POST', `/v1/shipments/${shipment}/milestones`, {
      code: 'booking_confirmed',
      occurred_at: '2026-11-01T00:00:00Z',
    });
    await call('POST', `/v1/shipments/${shipment}/exceptions`, { type: 'lost' });
    const [file = Buffer.alloc(0)] = FILES;
    await call('POST', `/v1/shipments/${shipment}/documents/uploads`, {
      type: 'other',
      file_name: 'bill.pdf',
      content_type: 'application/pdf',
      size_bytes: file.byteLength,
      checksum_sha256: createHash('sha256').update(file).digest('hex'),
    });
    const endpoint = await enabledEndpoint(api, await api.key('admin', 'live'), this.receiver.url);
    await call('POST', `/v1/webhook_endpoints/${String(endpoint['id'])}/test`, { type: 'shipment.created' });
    await call('POST', '/v1/service_accounts', { name: 'one', role: 'viewer' });
    await call('POST', '/v1/users', { email: 'one@example.com', role: 'viewer' });
    for (const path of this.description.lists()) await call('GET', path);
  }
}

function pathOf(template: string, { path, query }: Drawn, known: KnownThings): string {
  const paths = 'thing' in path ? known.pathsOf(template) : [];
  const steps = 'steps' in path ? [...path.steps] : [];
  const found = 'thing' in path ? paths[path.thing % paths.length] : undefined;
  const plain = found ?? template.replace(/\{[^}]+\}/g, () => steps.shift() ?? 'none');
  return plain.includes('?') ? plain + query.replace('?', '&') : plain + query;
}

const workspaceOf = (scope: string) => scope.split(' ')[0];

function told(sent: Sent, { status, headers, text }: Received, faults: readonly string[]): string {
  const body = typeof sent.body === 'object' ? Buffer.from(sent.body).toString('latin1') : sent.body;
  const request = JSON.stringify({ ...sent, body }).slice(0, 5_000);
  return `${faults.join('; ')}\nof the answer ${status} ${JSON.stringify(headers)}\n${text.slice(0, 3_000)}\nto ${request}`;
}

function mapped(record: Readonly<Record<string, string>>, change: (value: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}
