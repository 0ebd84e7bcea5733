import type { Environment, Timestamp } from '@tracking/contracts';
import type { CollectionSpec, Document } from '@tracking/ports';
import {
  type DeliveryError,
  type EndpointFields,
  type EndpointState,
  HEADER_VALUE_MASK,
  urlRevision,
} from '@tracking/webhooks-domain';
import type { WebhookEndpoint } from '../operation-types.ts';
import type { StoredSecret } from './secrets.ts';

export interface EndpointDocument extends Document, EndpointState, Omit<EndpointFields, 'headers'> {
  readonly workspace_id: string;
  readonly environment: Environment;
  /** Its place in its scope, from 0, which enforces the limit however many endpoints are created at once. */
  readonly slot?: number;
  readonly deleted: boolean;
  /** Set when it is deleted, until no delivery waits for it. */
  readonly backlog?: 'discarding';
  /** Values are sealed. */
  readonly headers: Readonly<Record<string, string>>;
  /** The newest first; some may have expired. */
  readonly secrets: readonly StoredSecret[];
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
  readonly revision: number;
  /** Id of the last command that changed it; absent if none did since it was made. */
  readonly changed_by?: string;
}

export const ENDPOINTS: CollectionSpec = {
  name: 'webhook_endpoints',
  indexes: [
    { name: 'slot', fields: ['workspace_id', 'environment', 'slot'], unique: true },
    { name: 'scope', fields: ['workspace_id', 'environment', 'deleted', 'created_at', 'id'] },
    { name: 'deleted', fields: ['deleted', 'updated_at', 'id'] },
    { name: 'backlog', fields: ['backlog'], only: 'backlog' },
  ],
};

/** Returns true if neither got another URL since the other. A URL that is set again is another one. */
export function hasSameUrl(one: EndpointDocument, other: EndpointDocument): boolean {
  return urlRevision(one) === urlRevision(other);
}

export function toEndpoint(document: EndpointDocument): WebhookEndpoint {
  return {
    id: document.id,
    url: document.url,
    event_types: document.event_types,
    description: document.description,
    api_version: document.api_version,
    environment: document.environment,
    status: document.status,
    disabled_reason: document.disabled_reason,
    last_verification: document.last_verification,
    headers: Object.fromEntries(Object.keys(document.headers).map((name) => [name, HEADER_VALUE_MASK])),
    max_concurrency: document.max_concurrency,
    created_at: document.created_at,
    updated_at: document.updated_at,
    version: document.revision,
  };
}

/**
 * How an endpoint has been answering, as far as it must outlive the process. Only the owner of its shard writes it, by its
 * own clock: if the clock of the next owner differs, a hold or a failure lasts as much longer or shorter.
 */
export interface EndpointHealth {
  readonly held_until: Timestamp | null;
  /** Begin of the first attempt since the last success. */
  readonly failing_since: Timestamp | null;
  /** Why that attempt failed. */
  readonly failing_reason?: DeliveryError | null;
  /** Time of the event that reports it; stored before the other endpoints are told. */
  readonly failing_event_at?: Timestamp | null;
  /** True if the other endpoints were told. */
  readonly failing_told?: boolean;
  /** When it answered again after a long failure: deliveries that waited until then are being sent. */
  readonly recovering_since: Timestamp | null;
}

export interface EndpointHealthDocument extends Document, EndpointHealth {
  /** Of the lease under which it was written: a write of an earlier owner is refused. */
  readonly epoch: number;
  /** Revision of the URL that answered so; absent for the endpoint's first URL. */
  readonly url_revision?: number;
}

export const ENDPOINT_HEALTH: CollectionSpec = { name: 'webhook_endpoint_conditions', indexes: [] };
