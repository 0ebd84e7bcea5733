import { createHash } from 'node:crypto';
import type { Position } from '@tracking/ports';
import { type ClientWebhookTestReceiver, createEnabledEndpoint, startClientReceiver } from '../client-endpoint.ts';
import { type Api, startApi } from '../start-api.ts';
import { ResponseValidator } from './response-validator.ts';
import { type FuzzCaller, CALLER_PASSWORD, createFuzzCallers } from './callers.ts';
import { FuzzedOpenApiDescription } from './description.ts';
import type { FuzzedOperation } from './description.ts';
import { SAMPLE_FILES } from './multipart-forms.ts';
import { KnownResources, generateEarlierResponseValuePlaceholder } from './known-resources.ts';
import type { GeneratedRequest } from './requests.ts';
import { SchemaValueGenerator } from './schema-values.ts';
import { type FuzzedApiResponse, RequestSender, type SentRequest } from './send.ts';
import { RecordedWrites, wrapStoreToRecordWrites } from './recorded-writes.ts';

/** Collections that any request may write, even if it is refused. */
const BOOKKEEPING_COLLECTIONS: ReadonlySet<string> = new Set(['idempotency_claims', 'document_reservations']);
/** Collections that refused requests of an operation may also write: the audit log records failed sign-ins. */
const COLLECTIONS_WRITTEN_BY_REFUSED_REQUESTS: Readonly<Record<string, string>> = { signIn: 'audit_log' };

/** The API with one resource of each kind, and the checks of every response. */
export class FuzzedApi {
  readonly values: SchemaValueGenerator;
  private readonly answers: ResponseValidator;
  /** Known resources by scope. */
  private readonly known = new Map<string, KnownResources>();
  private readonly sender: RequestSender;
  private sendings = 0;
  private successes = 0;

  private constructor(
    private readonly api: Api,
    readonly description: FuzzedOpenApiDescription,
    private readonly receiver: ClientWebhookTestReceiver,
    private readonly written: RecordedWrites,
    private callers: readonly FuzzCaller[],
  ) {
    this.values = new SchemaValueGenerator(description, {
      urls: [receiver.url, 'http://127.0.0.1:1/'],
      known: generateEarlierResponseValuePlaceholder,
    });
    this.answers = new ResponseValidator(description);
    this.sender = new RequestSender(api.url);
  }

  static async startFuzzedApi(): Promise<FuzzedApi> {
    const written = new RecordedWrites();
    const api = await startApi({
      store: (store) => wrapStoreToRecordWrites(store, written),
      // Each request can then have another client address, with its own limit of sign-ins.
      settings: { trustedProxies: ['127.0.0.1'] },
    });
    const receiver = await startClientReceiver();
    const description = new FuzzedOpenApiDescription((await api.call('GET', '/openapi.json')).body);
    const fuzzed = new FuzzedApi(api, description, receiver, written, await createFuzzCallers(api));
    try {
      await fuzzed.createOneResourceOfEachKind();
      return fuzzed;
    } catch (error) {
      await fuzzed.closeFuzzedApi();
      throw error;
    }
  }

  async closeFuzzedApi(): Promise<void> {
    this.sender.closeRequestSender();
    await this.api.stop();
    await this.receiver.close();
  }

  /** Share of sent requests that succeeded. */
  get successRate(): number {
    return this.successes / this.sendings;
  }

  /** Sends the request and checks the response. @throws Error if the response is not as expected */
  async sendRequestAndCheckResponse(operation: FuzzedOperation, drawn: GeneratedRequest): Promise<void> {
    const caller = this.findCallerOfFuzzRequest(drawn);
    const [whose, known] = this.getKnownResourcesOfScope(caller, drawn.usesForeignIds);
    const sent: SentRequest = {
      method: operation.method,
      path: known.fillPlaceholders(buildRequestPath(operation.path, drawn, known)),
      headers: { ...caller.headers, ...mapValues(drawn.headers, (value) => known.fillPlaceholders(value)) },
      ...(drawn.body !== undefined && {
        body: typeof drawn.body === 'string' ? known.fillPlaceholders(drawn.body) : drawn.body,
      }),
    };
    this.written.clearWrites();
    const before = await this.api.head();
    const received = await this.sender.sendRequest(sent);
    const { status } = received;
    // An id such as `bulk` makes the path of another operation, which refuses the method.
    const isOtherPath = [...this.description.operations.values()].some(
      ({ path }) => path === sent.path.replace(/\?.*$/, ''),
    );
    if (status === 405 && isOtherPath && operation.path.includes('{')) return;
    const faults = [...this.answers.findResponseDeviationsFromOpenApi(operation, received)];
    if (status >= 500) faults.push('the server responded with an internal error');
    if (status >= 400 || operation.method === 'GET')
      faults.push(...(await this.listUnexpectedWrites(operation, before, received)));
    const isOthers = operation.isSecured && getWorkspaceOfScope(whose) !== getWorkspaceOfScope(caller.scope);
    if (status < 400 && isOthers && operation.path.includes('{'))
      faults.push('the resource belongs to another workspace');
    if (faults.length > 0) throw new Error(formatFuzzFailureReport(sent, received, faults));
    this.sendings += 1;
    if (status < 300) {
      this.successes += 1;
      this.getKnownResourcesOfScope(caller)[1].recordResourcesOfResponse(sent.path, received.headers, received.json);
    }
    if (status === 401 && caller.isAuthenticated) await this.recreateFuzzCallers();
  }

  /** Creates new callers with the original permissions, because requests may revoke them. */
  private async recreateFuzzCallers(): Promise<void> {
    this.callers = await createFuzzCallers(this.api);
    const caller = this.findCallerOfFuzzRequest({ caller: 0 });
    for (const path of ['/v1/session', '/v1/sessions']) {
      const { headers, body } = await this.api.call('GET', path, { headers: caller.headers });
      this.getKnownResourcesOfScope(caller)[1].recordResourcesOfResponse(path, Object.fromEntries(headers), body);
    }
  }

  private async listUnexpectedWrites(
    { id }: FuzzedOperation,
    before: Position | undefined,
    { headers }: FuzzedApiResponse,
  ): Promise<readonly string[]> {
    const collections = this.written
      .listCollectionsWrittenByRequest(String(headers['request-id']))
      .filter((name) => !BOOKKEEPING_COLLECTIONS.has(name) && COLLECTIONS_WRITTEN_BY_REFUSED_REQUESTS[id] !== name);
    return [
      ...((await this.api.head()) === before ? [] : ['a GET or refused request stored events']),
      ...collections.map((name) => `a GET or refused request wrote to the collection ${name}`),
    ];
  }

  private findCallerOfFuzzRequest({ caller }: Pick<GeneratedRequest, 'caller'>): FuzzCaller {
    const found = this.callers[caller % this.callers.length];
    if (!found) throw new Error('no caller has the index of this request');
    return found;
  }

  /**
   * Returns the known resources of the caller, or of another scope if the request uses ids of that scope. The scope is
   * returned too.
   */
  private getKnownResourcesOfScope(
    { scope }: FuzzCaller,
    isStrange = false,
  ): readonly [whose: string, known: KnownResources] {
    const others = [...this.known.keys()].filter((other) => other !== scope);
    const whose = (isStrange ? others.at(-1) : undefined) ?? scope;
    const known = this.known.get(whose) ?? new KnownResources(this.description);
    this.known.set(whose, known);
    return [whose, known];
  }

  /** Creates one resource of each kind, so that the first requests find existing ones. */
  private async createOneResourceOfEachKind(): Promise<void> {
    const { api } = this;
    const caller = this.findCallerOfFuzzRequest({ caller: 0 });
    const [, known] = this.getKnownResourcesOfScope(caller);
    const call = async (method: string, path: string, json?: object) => {
      const { status, headers, body } = await api.call(method, path, { headers: caller.headers, json });
      if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
      known.recordResourcesOfResponse(path, Object.fromEntries(headers), body);
      return String(body['id']);
    };
    for (const name of ['password', 'current_password', 'new_password']) known.rememberKnownText(name, CALLER_PASSWORD);
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
    const [file = Buffer.alloc(0)] = SAMPLE_FILES;
    await call('POST', `/v1/shipments/${shipment}/documents/uploads`, {
      type: 'other',
      file_name: 'bill.pdf',
      content_type: 'application/pdf',
      size_bytes: file.byteLength,
      checksum_sha256: createHash('sha256').update(file).digest('hex'),
    });
    const endpoint = await createEnabledEndpoint(api, await api.key('admin', 'live'), this.receiver.url);
    await call('POST', `/v1/webhook_endpoints/${String(endpoint['id'])}/test`, { type: 'shipment.created' });
    await call('POST', '/v1/service_accounts', { name: 'one', role: 'viewer' });
    await call('POST', '/v1/users', { email: 'one@example.com', role: 'viewer' });
    for (const path of this.description.listGetPathsWithoutParameters()) await call('GET', path);
  }
}

function buildRequestPath(template: string, { path, query }: GeneratedRequest, known: KnownResources): string {
  const paths = 'resource' in path ? known.listKnownPathsOfTemplate(template) : [];
  const steps = 'steps' in path ? [...path.steps] : [];
  const found = 'resource' in path ? paths[path.resource % paths.length] : undefined;
  const plain = found ?? template.replace(/\{[^}]+\}/g, () => steps.shift() ?? 'none');
  return plain.includes('?') ? plain + query.replace('?', '&') : plain + query;
}

const getWorkspaceOfScope = (scope: string) => scope.split(' ')[0];

function formatFuzzFailureReport(
  sent: SentRequest,
  { status, headers, text }: FuzzedApiResponse,
  faults: readonly string[],
): string {
  const body = typeof sent.body === 'object' ? Buffer.from(sent.body).toString('latin1') : sent.body;
  const request = JSON.stringify({ ...sent, body }).slice(0, 5_000);
  return `${faults.join('; ')}\nin the response ${status} ${JSON.stringify(headers)}\n${text.slice(0, 3_000)}\nto the request ${request}`;
}

function mapValues(
  record: Readonly<Record<string, string>>,
  change: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}
