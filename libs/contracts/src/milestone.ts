import type { Timestamp } from './shipment.ts';

export const CLASSIFIERS = ['actual', 'estimated', 'planned'] as const;
export type Classifier = (typeof CLASSIFIERS)[number];

export const MILESTONE_SOURCES = [
  'manual',
  'carrier',
  'terminal',
  'rail',
  'ais',
  'edi',
  'customs',
  'iot',
  'partner',
  'system',
] as const;
export type MilestoneSource = (typeof MILESTONE_SOURCES)[number];

/** Who did something; names are looked up when read. */
export interface Actor {
  readonly type: 'user' | 'service_account' | 'system';
  readonly id: string;
}

/** A milestone as it is answered everywhere. */
export interface Milestone {
  readonly id: string;
  readonly shipment_id: string;
  readonly code: string;
  readonly label: string;
  /** Place in the catalog. */
  readonly sequence: number;
  readonly classifier: Classifier;
  readonly occurred_at: Timestamp;
  readonly location: string | null;
  /** IANA name, for display: as given, else the place's, else null. */
  readonly timezone: string | null;
  readonly source: MilestoneSource;
  readonly reason_code: string | null;
  readonly external_id: string | null;
  readonly container_number: string | null;
  readonly vessel: string | null;
  readonly voyage: string | null;
  readonly note: string | null;
  readonly recorded_at: Timestamp;
  readonly recorded_by: Actor;
  readonly retracted_at: Timestamp | null;
  /** Set on an estimate that a newer one for the same (code, container, location, source) replaced. */
  readonly superseded_at: Timestamp | null;
  /** 1 when recorded; plus one at each correction. */
  readonly revision: number;
}
