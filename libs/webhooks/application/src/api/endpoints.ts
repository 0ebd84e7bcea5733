import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  EVENT_TYPES,
  type ItemPage,
  type PayloadVersionConverter,
  type PublicAddresses,
  isResourceInScope,
  chooseLatestTime,
} from '@tracking/contracts';
import type { Clock, Collection, EventStore, OutboundHttp } from '@tracking/ports';
import {
  DEFAULT_ENDPOINT_FIELDS,
  DEFAULT_SECRET_OVERLAP_SECONDS,
  type EditableEndpointFields,
  INITIAL_ENDPOINT_STATE,
  checkEndpointFields,
  markEndpointDeleted,
  disableEndpoint,
  enableEndpoint,
  createDelivery,
  renderDeliveryBody,
  addSigningSecret,
  createSandboxWebhookEvent,
  resetEndpointForNewUrl,
  selectValidSecrets,
  recordVerificationResult,
} from '@tracking/webhooks-domain';
import { type EndpointClients, sendOwnershipChallenge } from '../endpoints/endpoint-clients.ts';
import {
  type EndpointDocument,
  isEndpointUrlUnchangedBetween,
  computePayloadFormat,
  toEndpoint,
} from '../endpoints/endpoint-document.ts';
import { type EndpointChange, type EndpointStore, readLogHeadForEndpointChange } from '../endpoints/endpoint-store.ts';
import { type SecretBox, createWebhookSecret, openSecret, sealHeaders } from '../endpoints/secrets.ts';
import type { EndpointShardOwner } from '../ownership/shard-owner.ts';
import type {
  ChangeEndpointCommand,
  CreateEndpointCommand,
  EndpointCommand,
  ListEndpointsRequest,
  CreatedEndpointWithSecret,
  ActiveSigningSecrets,
  RotateSecretCommand,
  WorkspaceScope,
  TestEndpointCommand,
  WebhookCommand,
  WebhookDelivery,
  WebhookEndpoint,
} from '../operation-types.ts';
import {
  type DeliveryDocument,
  type PayloadStore,
  createDeliveryId,
  createPayloadId,
  toWebhookDelivery,
  toDeliveryShardValuesOfScopes,
  convertToDeliveryDocument,
} from '../store/delivery-document.ts';
import {
  type WebhookEndpointOperations,
  endpointNotVerifiedError,
  validationError,
  isRepeatedCommand,
  endpointNotFoundError,
  secretUnreadableError,
} from '../webhooks-api.ts';

interface EndpointsDependencies {
  readonly store: EndpointStore;
  readonly box: SecretBox;
  readonly clients: EndpointClients;
  readonly owner: EndpointShardOwner;
  readonly sandbox: EndpointTestEventSender;
  readonly outbound: OutboundHttp;
  readonly versions: PayloadVersionConverter;
  readonly eventStore: Pick<EventStore, 'head'>;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** Use cases of endpoints: docs/reference/delivery.md#endpoints. */
export class WebhookEndpointUseCases implements WebhookEndpointOperations {
  constructor(private readonly dependencies: EndpointsDependencies) {}

  async create(command: CreateEndpointCommand): Promise<CreatedEndpointWithSecret> {
    const { store, box, versions } = this.dependencies;
    const { url, event_types, ...optional } = this.requireValidEndpointFields(command.fields, true);
    if (url === undefined || event_types === undefined)
      throw new Error('The fields of a new endpoint are incomplete although they were checked.');
    const id = `whe_${hash('sha256', command.id).slice(0, 32)}`;
    const fields = { ...DEFAULT_ENDPOINT_FIELDS, api_version: versions.newest, ...optional, url, event_types };
    const stored = await store.addEndpoint({
      ...INITIAL_ENDPOINT_STATE,
      ...fields,
      id,
      workspace_id: command.workspace_id,
      environment: command.environment,
      deleted: false,
      headers: sealHeaders(box, id, fields.headers, {}),
      secrets: [createWebhookSecret(box, id, command)],
      created_at: command.at,
      updated_at: command.at,
      revision: 1,
    });
    if (stored.deleted || !isResourceInScope(stored, command)) throw endpointNotFoundError();
    return this.toEndpointWithCreatedSecret(stored, command);
  }

  async list(request: ListEndpointsRequest): Promise<ItemPage<WebhookEndpoint>> {
    const { items, next } = await this.dependencies.store.listEndpoints(request, request);
    return { items: items.map(toEndpoint), next };
  }

  async get(request: WorkspaceScope & { readonly endpoint_id: string }): Promise<WebhookEndpoint> {
    return toEndpoint(await this.dependencies.store.requireEndpoint(request, request.endpoint_id));
  }

  async change(command: ChangeEndpointCommand): Promise<WebhookEndpoint> {
    const fields = this.requireValidEndpointFields(command.fields, false);
    return this.updateEndpoint(command, (endpoint) => this.applyEndpointFields(endpoint, fields, command.at));
  }

  async remove(command: EndpointCommand): Promise<{ readonly id: string; readonly deleted: true }> {
    const known = await this.dependencies.store.getEndpoint(command.endpoint_id);
    // Repeat the notification: the process that deleted the endpoint may have ended before sending it.
    if (known?.deleted && isResourceInScope(known, command))
      await this.dependencies.owner.notifyOwningProcesses([known.id]);
    await this.updateEndpoint(command, (endpoint) => {
      const { slot: _slot, ...rest } = markEndpointDeleted(endpoint, command.at);
      return { ...rest, deleted: true, backlog: 'discarding', secrets: [], headers: {} };
    });
    return { id: command.endpoint_id, deleted: true };
  }

  async verify(command: EndpointCommand): Promise<WebhookEndpoint> {
    const { clients, outbound, clock, timeoutMs } = this.dependencies;
    const { origin } = command;
    const endpoint = await this.requireSignableEndpoint(command);
    if (isRepeatedCommand(endpoint, command)) return toEndpoint(endpoint);
    const verification = await sendOwnershipChallenge(clients.cacheEndpoint(endpoint), {
      outbound,
      timeoutMs,
      clock,
      origin,
    });
    // Discard the challenge's result if the endpoint's URL was changed during the challenge.
    return this.updateEndpoint(command, (now) =>
      isEndpointUrlUnchangedBetween(now, endpoint) ? recordVerificationResult(now, verification) : now,
    );
  }

  async enable(command: EndpointCommand): Promise<WebhookEndpoint> {
    return this.updateEndpoint(command, async (endpoint) => {
      const after = enableEndpoint(
        endpoint,
        await readLogHeadForEndpointChange(this.dependencies.eventStore, command.at),
      );
      if (after === undefined) throw endpointNotVerifiedError();
      return after;
    });
  }

  async disable(command: EndpointCommand): Promise<WebhookEndpoint> {
    return this.updateEndpoint(command, async (endpoint) => {
      return disableEndpoint(
        endpoint,
        'manual',
        await readLogHeadForEndpointChange(this.dependencies.eventStore, command.at),
      );
    });
  }

  async test(command: TestEndpointCommand): Promise<WebhookDelivery> {
    const endpoint = await this.requireSignableEndpoint(command);
    return this.dependencies.sandbox.sendTestEventToEndpoint(command, endpoint);
  }

  async rotateSecret(asked: RotateSecretCommand): Promise<CreatedEndpointWithSecret> {
    const { box, clock } = this.dependencies;
    // The overlap starts when the secret is rotated, which may be hours after the command was first sent.
    const command = { ...asked, at: chooseLatestTime(asked.at, clock().toISOString()) };
    const { endpoint_id, at, expires_in_seconds = DEFAULT_SECRET_OVERLAP_SECONDS } = command;
    const fresh = createWebhookSecret(box, endpoint_id, command);
    const overlapEnds = new Date(Date.parse(at) + expires_in_seconds * 1_000).toISOString();
    const isDone = ({ secrets }: EndpointDocument) => secrets.some(({ made_by }) => made_by === command.id);
    const rotate = (endpoint: EndpointDocument) => {
      // Drop secrets that were encrypted with a lost key, because they can no longer sign requests.
      const readable = endpoint.secrets.filter(({ sealed }) => box.isSealedWithThisKey(sealed));
      return { ...endpoint, secrets: addSigningSecret(readable, fresh, overlapEnds) };
    };
    return this.toEndpointWithCreatedSecret(await this.changeEndpointAndNotifyOwner(command, rotate, isDone), command);
  }

  async revealSecret(command: EndpointCommand): Promise<ActiveSigningSecrets> {
    const { store, box } = this.dependencies;
    const { id, secrets } = await store.requireEndpoint(command, command.endpoint_id);
    const valid = selectValidSecrets(secrets, command.at);
    requireReadableSecrets(box, valid);
    const [newest, ...previous] = valid.map((stored) => ({ ...stored, secret: openSecret(box, id, stored) }));
    if (newest === undefined) throw new Error(`The new endpoint ${id} has no signing secret.`);
    const previous_secrets = previous.flatMap(({ secret, expires_at }) => (expires_at ? { secret, expires_at } : []));
    return { id, secret: newest.secret, previous_secrets };
  }

  /** Returns the endpoint with the secret that the command created. A repeated command returns the same secret. */
  private toEndpointWithCreatedSecret(endpoint: EndpointDocument, { id }: WebhookCommand): CreatedEndpointWithSecret {
    const { box } = this.dependencies;
    const made = endpoint.secrets.find(({ made_by }) => made_by === id) ?? endpoint.secrets[0];
    if (made === undefined) throw new Error(`The stored endpoint ${endpoint.id} has no signing secret.`);
    requireReadableSecrets(box, [made]);
    return { ...toEndpoint(endpoint), secret: openSecret(box, endpoint.id, made) };
  }

  /** Returns the endpoint if requests to it can be signed. @throws DomainError */
  private async requireSignableEndpoint(command: EndpointCommand): Promise<EndpointDocument> {
    const { store, box } = this.dependencies;
    const endpoint = await store.requireEndpoint(command, command.endpoint_id);
    const headers = Object.values(endpoint.headers).map((sealed) => ({ sealed }));
    requireReadableSecrets(box, [...endpoint.secrets, ...headers]);
    return endpoint;
  }

  private requireValidEndpointFields(
    fields: CreateEndpointCommand['fields'],
    required: boolean,
  ): Partial<EditableEndpointFields> {
    const { outbound, versions } = this.dependencies;
    const refuses = (url: string) => outbound.describeUrlRefusal(url);
    const { fields: checked, errors } = checkEndpointFields(fields, required, refuses, versions);
    if (errors.length > 0) throw validationError(errors);
    return checked;
  }

  /** Changes the endpoint that the command names. The endpoint's owner knows of the change when this resolves. */
  private async updateEndpoint(command: EndpointCommand, change: EndpointChange): Promise<WebhookEndpoint> {
    return toEndpoint(await this.changeEndpointAndNotifyOwner(command, change));
  }

  private async changeEndpointAndNotifyOwner(
    command: EndpointCommand,
    change: EndpointChange,
    isDone?: (before: EndpointDocument) => boolean,
  ): Promise<EndpointDocument> {
    const { store, clients, owner } = this.dependencies;
    await store.requireEndpoint(command, command.endpoint_id);
    const after = await store.applyCommandToStoredEndpoint(command, change, isDone);
    clients.cacheEndpoint(after);
    // Notify the endpoint's owner even if nothing changed: the first notification may have been lost.
    await owner.notifyOwningProcesses([command.endpoint_id]);
    return after;
  }

  private applyEndpointFields(
    endpoint: EndpointDocument,
    fields: Partial<EditableEndpointFields>,
    at: string,
  ): EndpointDocument {
    const { headers, ...plain } = fields;
    // Drop stored headers when the origin changes: a user could otherwise send them to a server of their own.
    const kept = haveUrlsSameOrigin(fields.url ?? endpoint.url, endpoint.url) ? endpoint.headers : {};
    const sealed = headers === undefined ? kept : sealHeaders(this.dependencies.box, endpoint.id, headers, kept);
    const after = { ...endpoint, ...plain, headers: sealed };
    if (isDeepStrictEqual(after, endpoint)) return endpoint;
    return after.url === endpoint.url ? after : resetEndpointForNewUrl(after, at, endpoint.revision + 1);
  }
}

/** Returns true if scheme, host and port of the URLs are equal. */
function haveUrlsSameOrigin(one: string, other: string): boolean {
  return new URL(one).origin === new URL(other).origin;
}

/** @throws DomainError if a value was sealed with another key */
function requireReadableSecrets(box: SecretBox, sealed: readonly { readonly sealed: string }[]): void {
  if (!sealed.every((each) => box.isSealedWithThisKey(each.sealed))) throw secretUnreadableError();
}

interface SandboxEventSenderDependencies {
  readonly payloads: PayloadStore;
  readonly versions: PayloadVersionConverter;
  readonly deliveries: Collection<DeliveryDocument>;
  readonly owner: EndpointShardOwner;
  readonly addresses: PublicAddresses;
}

/** Sends sandbox events to one endpoint. They are recorded like other deliveries and attempted once. */
export class EndpointTestEventSender {
  constructor(private readonly dependencies: SandboxEventSenderDependencies) {}

  async sendTestEventToEndpoint(command: TestEndpointCommand, endpoint: EndpointDocument): Promise<WebhookDelivery> {
    const { payloads, versions, deliveries, owner, addresses } = this.dependencies;
    const type = EVENT_TYPES.find((known) => known === command.type);
    if (type === undefined) {
      const message = `type must be one of ${EVENT_TYPES.join(', ')}.`;
      throw validationError([{ param: 'type', code: 'invalid_value', message }]);
    }
    if (!endpoint.verified) throw endpointNotVerifiedError();
    const { workspace_id, environment } = endpoint;
    const scope = { workspace_id, environment };
    // The event's id is derived from the command, so that a repeated command finds the event.
    const made = { id: `evt_${command.id}`, type, at: command.at, api_version: versions.newest };
    const event = createSandboxWebhookEvent({ ...scope, ...made, addresses });
    const format = computePayloadFormat(event, endpoint, versions);
    const payload_id = createPayloadId(event.id, format);
    const id = createDeliveryId(endpoint.id, event);
    const about = { event_id: event.id, event_type: type, event_created_at: event.created_at, payload_id };
    const origin = command.origin && { origin: command.origin };
    const fields = { ...scope, ...about, ...origin, id, endpoint_id: endpoint.id, sandbox: true };
    const delivery = convertToDeliveryDocument(createDelivery(fields, command.at));
    const body = renderDeliveryBody(event, format, true, versions);
    await payloads.storePayloads([{ id: payload_id, body, created_at: command.at }]);
    const inserted = await deliveries.insert(delivery);
    payloads.cachePayloadBody(payload_id, body);
    if (inserted) {
      await owner.handOverDeliveries({ matches: [{ endpoint, delivery }], unstoredAt: -Infinity });
      return toWebhookDelivery(delivery);
    }
    await owner.notifyOwningProcesses([endpoint.id]);
    return toWebhookDelivery((await deliveries.get(id, toDeliveryShardValuesOfScopes(scope))) ?? delivery);
  }
}
