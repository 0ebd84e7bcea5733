import type { OutboundRequest } from '@tracking/ports';
import { LRUCache } from 'lru-cache';
import { signatureHeaders } from '@tracking/webhooks-domain';
import { type EndpointDocument, openedHeaders } from './endpoint-document.ts';
import type { EndpointStore } from './endpoint-store.ts';
import type { SecretBox } from './secret-box.ts';
import { type SigningKeys, signerOf, signingKeys } from './signing-secrets.ts';

/** What the headers of an attempt say of its event. */
export interface AttemptedEvent {
  readonly id: string;
  readonly type: string;
  /** Of this attempt. */
  readonly traceparent: string;
}

/** An endpoint with everything that a request to it needs, opened once and when it is first needed. */
export class EndpointClient {
  private opened:
    { readonly keys: readonly SigningKeys[]; readonly headers: Readonly<Record<string, string>> } | undefined;

  constructor(
    readonly endpoint: EndpointDocument,
    private readonly box: SecretBox,
  ) {}

  /**
   * The request of one attempt, signed with the secrets that are valid when it is made.
   * @param at when it is made, in epoch milliseconds
   * @throws when the stored secrets cannot be opened
   */
  request(event: AttemptedEvent, body: Uint8Array, at: number, timeoutMs: number) {
    const { keys, headers: own } = (this.opened ??= this.open());
    const signers = keys.filter(({ expiresAt }) => at < expiresAt).map((key) => signerOf(key, body));
    const headers = {
      ...own,
      'content-type': 'application/json',
      ...signatureHeaders(event.id, at, signers),
      'service-event-id': event.id,
      'service-event-type': event.type,
      traceparent: event.traceparent,
    };
    return { url: this.endpoint.url, headers, body, timeoutMs } satisfies OutboundRequest;
  }

  private open() {
    const { id, secrets } = this.endpoint;
    const keys = secrets.map((secret) => signingKeys(this.box, id, secret));
    return { keys, headers: openedHeaders(this.box, this.endpoint) };
  }
}

const MAX_KEPT = 5_000;

/** Clients by endpoint, opened once for each state of the endpoint. */
export class EndpointClients {
  private readonly kept = new LRUCache<string, { readonly client: EndpointClient; readonly readAt: number }>({
    max: MAX_KEPT,
  });

  constructor(
    private readonly store: EndpointStore,
    private readonly box: SecretBox,
    private readonly freshnessMs: number,
  ) {}

  /** Takes note of an endpoint just read or written. */
  note(endpoint: EndpointDocument): EndpointClient {
    const known = this.kept.get(endpoint.id);
    if (known !== undefined && known.client.endpoint.revision > endpoint.revision) return known.client;
    const same = known?.client.endpoint.revision === endpoint.revision;
    const client = same ? known.client : new EndpointClient(endpoint, this.box);
    this.kept.set(endpoint.id, { client, readAt: performance.now() });
    return client;
  }

  /** As it is known, if that is fresh enough to send on. */
  fresh(endpointId: string): EndpointClient | undefined {
    const known = this.kept.get(endpointId);
    return known !== undefined && performance.now() - known.readAt <= this.freshnessMs ? known.client : undefined;
  }

  /** As it is now; undefined when there never was one. */
  async read(endpointId: string): Promise<EndpointClient | undefined> {
    const endpoint = await this.store.get(endpointId);
    return endpoint === undefined ? undefined : this.note(endpoint);
  }
}
