import type { Environment, PayloadForm, PayloadVersionConverter, PublishedEvent, Timestamp } from '@tracking/contracts';
import type { CollectionSpec, Document } from '@tracking/ports';
import {
  type DeliveryFailureReason,
  type EditableEndpointFields,
  type EndpointState,
  type PayloadFormat,
  HEADER_VALUE_MASK,
  getEndpointUrlRevision,
} from '@tracking/webhooks-domain';
import type { WebhookEndpoint } from '../operation-types.ts';
import type { StoredSecret } from './secrets.ts';

export interface EndpointDocument extends Document, EndpointState, Omit<EditableEndpointFields, 'headers' | 'payload'> {
  readonly workspace_id: string;
  readonly environment: Environment;
  /**
   * Slot of the endpoint in its scope, from 0. A unique index on slots enforces the limit, however many endpoints are
   * created concurrently.
   */
  readonly slot?: number;
  readonly deleted: boolean;
  /** Present on a deleted endpoint while deliveries may be pending for it. */
  readonly backlog?: 'discarding';
  /** Form of the payloads; absent, and then `full`, if the endpoint was stored before forms existed. */
  readonly payload?: PayloadForm;
  /** Custom headers, with sealed values. */
  readonly headers: Readonly<Record<string, string>>;
  /** Signing secrets, newest first. Some may have expired. */
  readonly secrets: readonly StoredSecret[];
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
  readonly revision: number;
  /** Id of the last command that changed the endpoint; absent if no command has since its creation. */
  readonly changed_by?: string;
}

export const ENDPOINTS_COLLECTION_SPEC: CollectionSpec = {
  name: 'webhook_endpoints',
  indexes: [
    { name: 'slot', fields: ['workspace_id', 'environment', 'slot'], unique: true },
    { name: 'scope', fields: ['workspace_id', 'environment', 'deleted', 'created_at', 'id'] },
    { name: 'deleted', fields: ['deleted', 'updated_at', 'id'] },
    { name: 'backlog', fields: ['backlog'], only: 'backlog' },
  ],
};

/**
 * Returns true if both revisions of the endpoint have the same URL, without a change in between. Setting a former URL
 * again counts as a change.
 */
export function isEndpointUrlUnchangedBetween(one: EndpointDocument, other: EndpointDocument): boolean {
  return getEndpointUrlRevision(one) === getEndpointUrlRevision(other);
}

/** Returns the format in which the endpoint receives the event. */
export function computePayloadFormat(
  event: Pick<PublishedEvent, 'api_version'>,
  { api_version, payload = 'full' }: Pick<EndpointDocument, 'api_version' | 'payload'>,
  versions: PayloadVersionConverter,
): PayloadFormat {
  return { version: versions.choosePayloadVersion(event, api_version), form: payload };
}

export function toEndpoint(document: EndpointDocument): WebhookEndpoint {
  return {
    id: document.id,
    url: document.url,
    event_types: document.event_types,
    description: document.description,
    api_version: document.api_version,
    payload: document.payload ?? 'full',
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
 * Health of an endpoint, as far as it must outlive the process. Only the owner of the endpoint's shard writes it, with
 * its own clock. If the clocks of two owners differ, a hold or failure lasts longer or shorter by the difference.
 */
export interface EndpointHealth {
  readonly held_until: Timestamp | null;
  /** Start of the first failed attempt since the last success. */
  readonly failing_since: Timestamp | null;
  /** Error of the first failed attempt since the last success. */
  readonly failing_reason?: DeliveryFailureReason | null;
  /** Time of the event that reports the failures. Stored before the other endpoints are notified. */
  readonly failing_event_at?: Timestamp | null;
  /** True if the other endpoints were notified. */
  readonly failing_told?: boolean;
  /** Start of the recovery: time at which the endpoint answered again after a long failure. Null outside a recovery. */
  readonly recovering_since: Timestamp | null;
}

export interface EndpointHealthDocument extends Document, EndpointHealth {
  /** Epoch of the lease under which the document was written. A write of an earlier owner is refused. */
  readonly epoch: number;
  /** Revision of the URL that the health belongs to; absent for the endpoint's first URL. */
  readonly url_revision?: number;
}

export const ENDPOINT_HEALTH_COLLECTION_SPEC: CollectionSpec = { name: 'webhook_endpoint_conditions', indexes: [] };
