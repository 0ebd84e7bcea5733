import type { Actor, MilestoneSource } from './milestone.ts';
import type { Timestamp } from './shipment.ts';

/** What an entry of a shipment's history tells of. */
export const HISTORY_TYPES = [
  'shipment.created',
  'shipment.updated',
  'shipment.cancelled',
  'shipment.reopened',
  'milestone.recorded',
  'milestone.corrected',
  'milestone.retracted',
  'exception.opened',
  'exception.updated',
  'exception.resolved',
  'document.requested',
  'document.uploaded',
  'document.approved',
  'document.rejected',
  'document.expired',
  'document.deleted',
] as const;
export type HistoryType = (typeof HISTORY_TYPES)[number];

/** By field, what it was and what it is since; `milestone`, `exception` and `document` are whole, null where there is none. */
export type HistoryChanges = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

/** Something that happened to a shipment. */
export interface HistoryEntry {
  /** Of the public event, where it was announced. */
  readonly id: string;
  readonly type: HistoryType;
  readonly at: Timestamp;
  readonly actor: Actor & { readonly name: string | null };
  readonly changes: HistoryChanges;
  /** Of the shipment right after. */
  readonly version: number;
}

/** Where an estimated arrival comes from: a milestone's source, or `client` for what was set on the shipment. */
export type EtaSource = MilestoneSource | 'client';

/** What set an estimated arrival. */
export interface EtaSetBy {
  readonly source: EtaSource;
  /** Null where a client set it. */
  readonly milestone_id: string | null;
  /** Of the milestone. */
  readonly reason_code: string | null;
}

/** A change of a shipment's `eta`. */
export interface EtaChange extends EtaSetBy {
  readonly eta: Timestamp | null;
  readonly previous_eta: Timestamp | null;
  /** By how many hours it moved, to the hundredth; negative when it is earlier, null without one of the two. */
  readonly slip_hours: number | null;
  readonly reported_at: Timestamp;
}
