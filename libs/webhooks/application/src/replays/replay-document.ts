import type { Timestamp } from '@tracking/contracts';
import type { CollectionSpec, Document, Position } from '@tracking/ports';
import { type NewReplay, type Replay, newReplay } from '@tracking/webhooks-domain';
import type { WebhookReplay } from '../requests-and-answers.ts';

/** How far a replay has come: up to what was taken of the deliveries and of the events. */
export interface ReplayCursor {
  /** `created_at` and `id` of a delivery; null before the first. */
  readonly deliveries: readonly [created_at: string, id: string] | null;
  /** As of `EventLog.page`; null before the first. */
  readonly events: string | null;
}

/** A delivery that was taken, and of which the outcome is not counted yet. */
export interface TakenDelivery {
  readonly id: string;
  /** Where the delivery is not recorded yet it is made of this event. */
  readonly event_id: string;
}

export interface ReplayDocument extends Document, Replay {
  /** The endpoint while the replay runs: there is never a second one beside it. Absent once it has ended. */
  readonly running_for?: string;
  /** Of a discard while it runs. */
  readonly discarding?: true;
  /** Id of the command that began it together with others; absent where it was begun alone. */
  readonly requested_by?: string;
  /** How far the event store had come when it was made: what was missed by then is part of it. Absent where nothing is. */
  readonly log_head?: Position;
  readonly cursor: ReplayCursor;
  /** Stored before they are given their new schedule, so that the next owner finds those that were not. */
  readonly under_way: readonly TakenDelivery[];
  /** Id of the last command that changed it; absent where none did since it was made. */
  readonly changed_by?: string;
}

const ORDER = ['created_at', 'id'];

export const REPLAYS: CollectionSpec = {
  name: 'webhook_replays',
  indexes: [
    { name: 'running', fields: ['running_for'], unique: true },
    { name: 'scope', fields: ['workspace_id', 'environment', ...ORDER] },
    { name: 'endpoint', fields: ['endpoint_id', ...ORDER] },
    { name: 'age', fields: ORDER },
    { name: 'discarding', fields: ['discarding', ...ORDER], only: 'discarding' },
    { name: 'requested', fields: ['requested_by'], only: 'requested_by' },
  ],
};

/** The progress is written with every page, and found again from the deliveries where a power cut takes it back. */
export const REPLAY_PROGRESS: CollectionSpec = { ...REPLAYS, durability: 'ordered' };

/** One that begins. */
export function replayDocument(about: NewReplay, at: Timestamp): ReplayDocument {
  const cursor = { deliveries: null, events: null };
  return placed({ ...newReplay(about, at), cursor, under_way: [] });
}

/** With the place that only one which runs takes. */
export function placed({ running_for: _place, discarding: _job, ...document }: ReplayDocument): ReplayDocument {
  if (document.status !== 'running') return document;
  return document.action === 'replay'
    ? { ...document, running_for: document.endpoint_id }
    : { ...document, discarding: true };
}

export function toReplay(document: ReplayDocument): WebhookReplay {
  return {
    id: document.id,
    endpoint_id: document.endpoint_id,
    action: document.action,
    since: document.since,
    until: document.until,
    event_types: document.event_types,
    statuses: document.statuses,
    reasons: document.reasons,
    delivery_ids: document.delivery_ids ?? null,
    status: document.status,
    matched: document.matched,
    done: document.done,
    failed: document.failed,
    created_at: document.created_at,
    completed_at: document.completed_at,
    version: document.revision,
  };
}
