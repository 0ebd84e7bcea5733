import { type ItemPage, type PageRequest, type Timestamp, isResourceInScope } from '@tracking/contracts';
import {
  type Collection,
  type CollectionSpec,
  type Document,
  type DocumentStore,
  DuplicateKeyError,
  type EventStore,
} from '@tracking/ports';
import { retryConflicts } from '@tracking/resilience';
import { LOG_START_POSITION, type RequestTimeWithLogHead } from '@tracking/webhooks-domain';
import type { EndpointCommand, WorkspaceScope } from '../operation-types.ts';
import { isRepeatedCommand, endpointNotFoundError, createTooManyEndpointsError } from '../webhooks-api.ts';
import { ENDPOINTS_COLLECTION_SPEC, type EndpointDocument } from './endpoint-document.ts';
import { SecretBox, parseSealingKeyId } from './secrets.ts';

/** Maximum number of endpoints in each environment of a workspace: docs/reference/delivery.md#endpoints. */
const MAX_ENDPOINTS = 50;

export type EndpointChange = (document: EndpointDocument) => EndpointDocument | Promise<EndpointDocument>;

/** Store of endpoint documents. Deleted endpoints are included, because the log of their deliveries outlives them. */
export class EndpointStore {
  constructor(private readonly documents: Collection<EndpointDocument>) {}

  getEndpoint(id: string): Promise<EndpointDocument | undefined> {
    return this.documents.get(id);
  }

  /** Returns the endpoints with these ids, deleted ones included. */
  async findEndpointsByIds(ids: readonly string[]): Promise<ReadonlyMap<string, EndpointDocument>> {
    const found = await this.documents.getMany([...new Set(ids)]);
    return new Map(found.map((endpoint) => [endpoint.id, endpoint]));
  }

  /** @throws not_found if the endpoint is not in this scope, or is deleted */
  async requireEndpoint(scope: WorkspaceScope, id: string): Promise<EndpointDocument> {
    const found = await this.documents.get(id);
    if (found === undefined || found.deleted || !isResourceInScope(found, scope)) throw endpointNotFoundError();
    return found;
  }

  /** Returns all endpoints of a scope except deleted ones; at most {@link MAX_ENDPOINTS}. */
  listEndpointsOfScope(scope: WorkspaceScope): Promise<readonly EndpointDocument[]> {
    return this.documents.find({ filter: createScopeFilter(scope), limit: MAX_ENDPOINTS });
  }

  async listEndpoints(scope: WorkspaceScope, { limit, after }: PageRequest): Promise<ItemPage<EndpointDocument>> {
    const found = await this.documents.find({
      filter: createScopeFilter(scope),
      sort: { fields: ['created_at', 'id'], descending: true },
      limit: limit + 1,
      ...(after === undefined ? {} : { after }),
    });
    const items = found.slice(0, limit);
    const last = items.at(-1);
    return { items, next: found.length > limit && last !== undefined ? [last.created_at, last.id] : null };
  }

  /**
   * Stores an endpoint in a free slot of its scope. If the id already exists, the command was repeated, and the stored
   * endpoint is returned.
   * @throws limit_exceeded, BusyError
   */
  addEndpoint(document: Omit<EndpointDocument, 'slot'>): Promise<EndpointDocument> {
    const { workspace_id, environment } = document;
    return retryConflicts(this.documents, `the ${environment} endpoints of ${workspace_id}`, async () => {
      const existing = await this.documents.get(document.id);
      if (existing !== undefined) return existing;
      const taken = new Set((await this.listEndpointsOfScope(document)).map(({ slot }) => slot));
      const slot = [...Array(MAX_ENDPOINTS).keys()].find((place) => !taken.has(place));
      if (slot === undefined) throw createTooManyEndpointsError(MAX_ENDPOINTS);
      const placed = { ...document, slot };
      try {
        return (await this.documents.insert(placed)) ? placed : undefined;
      } catch (error) {
        // Try the next free slot: another process stored an endpoint in this one.
        if (error instanceof DuplicateKeyError) return undefined;
        throw error;
      }
    });
  }

  /**
   * Applies a change to the stored endpoint. If another process changed the endpoint in the meantime, applies the
   * change again to the new version. A change that returns its argument writes nothing.
   * @throws not_found, BusyError, and errors of `change`
   */
  updateEndpoint(id: string, at: Timestamp, change: EndpointChange): Promise<EndpointDocument> {
    return retryConflicts(this.documents, `endpoint ${id}`, async () => {
      const before = await this.documents.get(id);
      if (before === undefined || before.deleted) throw endpointNotFoundError();
      const after = await change(before);
      if (after === before) return before;
      const written = { ...after, updated_at: at, revision: before.revision + 1 };
      return (await this.documents.replace(written, { revision: before.revision })) ? written : undefined;
    });
  }

  /**
   * Applies a command's change to the stored endpoint. Idempotent: a repeated command changes nothing.
   * @param isDone returns true if the command was already carried out, even if other commands changed the endpoint
   *   since
   * @throws PreconditionFailedError, and errors of {@link updateEndpoint}
   */
  async applyCommandToStoredEndpoint(
    command: EndpointCommand,
    change: EndpointChange,
    isDone: (before: EndpointDocument) => boolean = () => false,
  ): Promise<EndpointDocument> {
    return this.updateEndpoint(command.endpoint_id, command.at, async (before) => {
      if (isDone(before) || isRepeatedCommand(before, command)) return before;
      const after = await change(before);
      return after === before ? before : { ...after, changed_by: command.id };
    });
  }

  /** Lists endpoints that were deleted before this time, in the order of their deletion. */
  listEndpointsDeletedBefore(
    before: Timestamp,
    limit: number,
    after?: EndpointDocument,
  ): Promise<readonly EndpointDocument[]> {
    return this.documents.find({
      filter: { deleted: true, updated_at: { lt: before } },
      sort: { fields: ['updated_at', 'id'] },
      limit,
      ...(after !== undefined && { after: [after.updated_at, after.id] }),
    });
  }

  /** Deletes the document of a deleted endpoint, unless it changed since it was read. */
  async deleteEndpointDocument({ id, revision }: EndpointDocument): Promise<void> {
    await this.documents.delete(id, { revision });
  }

  /** Lists deleted endpoints with possibly pending deliveries. */
  listDeletedEndpointsWithBacklog(limit: number): Promise<readonly EndpointDocument[]> {
    return this.documents.find({ filter: { backlog: 'discarding' }, limit });
  }

  /**
   * Marks a deleted endpoint as having pending deliveries. Renews an existing mark, because a delivery may have become
   * pending since. @throws BusyError
   */
  async markDeletedEndpointBacklog(id: string): Promise<void> {
    await retryConflicts(this.documents, `endpoint ${id}`, async () => {
      const before = await this.documents.get(id);
      if (before?.deleted !== true) return true;
      const written = { ...before, backlog: 'discarding', revision: before.revision + 1 } as const;
      return (await this.documents.replace(written, { revision: before.revision })) || undefined;
    });
  }

  /** Removes the backlog mark of an endpoint. Keeps a mark that was set after the endpoint was read. */
  async removeBacklogMark({ backlog: _mark, ...endpoint }: EndpointDocument): Promise<void> {
    const { revision } = endpoint;
    await this.documents.replace({ ...endpoint, revision: revision + 1 }, { revision });
  }
}

function createScopeFilter({ workspace_id, environment }: WorkspaceScope) {
  return { workspace_id, environment, deleted: false };
}

/**
 * Reads the head of the log for an endpoint that is about to be enabled or disabled. Read it again for each attempt to
 * write the endpoint: an older head would omit events that were acknowledged since.
 * @throws UnavailableError
 */
export async function readLogHeadForEndpointChange(
  eventStore: Pick<EventStore, 'head'>,
  at: Timestamp,
): Promise<RequestTimeWithLogHead> {
  return { at, head: (await eventStore.head()) ?? LOG_START_POSITION };
}

interface SecretsKeyIdDocument extends Document {
  readonly key_id: string;
}

/**
 * Collection that names the secrets key in use. It is in the same store as the secrets, so that one backup contains
 * both.
 */
const SECRETS_KEY_COLLECTION_SPEC: CollectionSpec = { name: 'webhook_secrets_key', indexes: [] };
const SECRETS_KEY_DOCUMENT_ID = 'in_use';

/** Returns the id of the key that this store's secrets are sealed with; undefined if there is none yet. */
export async function getSecretsKeyId(store: DocumentStore): Promise<string | undefined> {
  const keys = await store.collection<SecretsKeyIdDocument>(SECRETS_KEY_COLLECTION_SPEC);
  const stored = await keys.get(SECRETS_KEY_DOCUMENT_ID);
  if (stored !== undefined) return stored.key_id;
  // Derive the key id from a stored secret: the key may have been used before its id was stored.
  const endpoints = await store.collection<EndpointDocument>(ENDPOINTS_COLLECTION_SPEC);
  const [endpoint] = await endpoints.find({ filter: { deleted: false }, limit: 1 });
  const sealed = endpoint?.secrets[0]?.sealed;
  return sealed === undefined ? undefined : parseSealingKeyId(sealed);
}

/**
 * Stores the key as the one in use if no key is. If several processes call this concurrently, one key wins. Returns the
 * id of the key in use if it differs from this key, because a key cannot open secrets that another key sealed.
 * @param key 32 bytes, as passed to `WebhooksFeature.start`
 * @param lost id of a lost key, which this key replaces
 */
export async function storeOrCheckSecretsKey(
  store: DocumentStore,
  key: Uint8Array,
  lost?: string,
): Promise<string | undefined> {
  const { keyId } = new SecretBox(key);
  const before = await getSecretsKeyId(store);
  if (before !== undefined && before !== keyId && before !== lost) return before;
  const keys = await store.collection<SecretsKeyIdDocument>(SECRETS_KEY_COLLECTION_SPEC);
  const mine = { id: SECRETS_KEY_DOCUMENT_ID, key_id: keyId };
  if (!(await keys.insert(mine)) && lost !== undefined) await keys.replace(mine, { key_id: lost });
  const stored = await keys.get(SECRETS_KEY_DOCUMENT_ID);
  return stored?.key_id === keyId ? undefined : stored?.key_id;
}
