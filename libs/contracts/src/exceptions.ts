import type { JsonValue } from './common.ts';
import type { DocumentType } from './documents.ts';
import { type Actor, type Mode, TRANSPORT_MODES, type Timestamp } from './shipment.ts';

/** Severities in ascending order. */
export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Settings of the rule of one exception type in a workspace. */
export interface ExceptionSettings {
  readonly enabled: boolean;
  /** Hours after which the rule opens an exception. docs/reference/exceptions.md#settings defines when they start. */
  readonly after_hours: number | null;
  /** Hours that apply instead of `after_hours` to shipments of the given modes. */
  readonly by_mode: Readonly<Partial<Record<Mode, number>>>;
  /** Hours before a known day or time at which the rule opens an exception. */
  readonly before_hours: number | null;
  /** Severity of the exceptions that the rule opens. */
  readonly severity: Severity;
}

const HOURS_PER_DAY = 24;

/** Default settings of every rule. */
export const DEFAULT_EXCEPTION_SETTINGS = {
  eta_slip: createDefaultRule('medium', { after_hours: 24, by_mode: { air: 4, road: 4 } }),
  departure_overdue: createDefaultRule('medium', { after_hours: 12 }),
  arrival_overdue: createDefaultRule('medium', { after_hours: 12 }),
  no_update: createDefaultRule('low', {
    after_hours: 7 * HOURS_PER_DAY,
    by_mode: { air: 2 * HOURS_PER_DAY, road: 2 * HOURS_PER_DAY, rail: 3 * HOURS_PER_DAY, courier: 2 * HOURS_PER_DAY },
  }),
  missed_connection: createDefaultRule('high', { after_hours: 12 }),
  customs_hold: createDefaultRule('high'),
  terminal_hold: createDefaultRule('medium'),
  freight_hold: createDefaultRule('medium'),
  off_route: createDefaultRule('medium'),
  demurrage_risk: createDefaultRule('high', { after_hours: 4 * HOURS_PER_DAY, before_hours: 2 * HOURS_PER_DAY }),
  detention_risk: createDefaultRule('medium', { after_hours: 10 * HOURS_PER_DAY, before_hours: 2 * HOURS_PER_DAY }),
  missing_document: createDefaultRule('medium', { before_hours: 3 * HOURS_PER_DAY }),
  document_rejected: createDefaultRule('medium'),
  delivery_failed: createDefaultRule('medium'),
  return_to_sender: createDefaultRule('high'),
  milestone_conflict: createDefaultRule('low'),
  movement_after_cancel: createDefaultRule('high'),
  invalid_container_number: createDefaultRule('low'),
} as const satisfies Readonly<Record<string, ExceptionSettings>>;

/** Exception types for which a rule exists. */
export type AutomaticExceptionType = keyof typeof DEFAULT_EXCEPTION_SETTINGS;
export const AUTOMATIC_EXCEPTION_TYPES = Object.keys(DEFAULT_EXCEPTION_SETTINGS) as readonly AutomaticExceptionType[];

/** Exception types without a rule. A person can open an exception of these types or of any other type. */
export const MANUAL_EXCEPTION_TYPES = [
  'container_damage',
  'cargo_damage',
  'shortage',
  'temperature_excursion',
  'seal_broken',
  'delivery_refused',
  'lost',
  'other',
] as const;
export const EXCEPTION_TYPES = [...AUTOMATIC_EXCEPTION_TYPES, ...MANUAL_EXCEPTION_TYPES] as const;
export type ExceptionType = (typeof EXCEPTION_TYPES)[number];

/** Default title of the exceptions of each type. */
export const EXCEPTION_TITLES: Readonly<Record<ExceptionType, string>> = {
  eta_slip: 'ETA slipped',
  departure_overdue: 'Departure overdue',
  arrival_overdue: 'Arrival overdue',
  no_update: 'No news',
  missed_connection: 'Missed connection',
  customs_hold: 'Customs hold',
  terminal_hold: 'Terminal hold',
  freight_hold: 'Freight hold',
  off_route: 'Off route',
  demurrage_risk: 'Demurrage risk',
  detention_risk: 'Detention risk',
  missing_document: 'Missing document',
  document_rejected: 'Document rejected',
  delivery_failed: 'Delivery failed',
  return_to_sender: 'Return to sender',
  milestone_conflict: 'Milestones contradict each other',
  movement_after_cancel: 'Movement after cancellation',
  invalid_container_number: 'Invalid container number',
  container_damage: 'Container damaged',
  cargo_damage: 'Cargo damaged',
  shortage: 'Shortage',
  temperature_excursion: 'Temperature excursion',
  seal_broken: 'Seal broken',
  delivery_refused: 'Delivery refused',
  lost: 'Lost',
  other: 'Other',
};

export const EXCEPTION_STATUSES = ['open', 'acknowledged', 'resolved'] as const;
export type ExceptionStatus = (typeof EXCEPTION_STATUSES)[number];

/** Origins of an exception: a rule, a person or a carrier. */
export const EXCEPTION_ORIGINS = ['system', 'manual', 'carrier'] as const;

/** Codes with which a person resolves an exception. */
export const MANUAL_RESOLUTION_CODES = ['fixed', 'waived', 'false_positive', 'duplicate'] as const;
export type ManualResolutionCode = (typeof MANUAL_RESOLUTION_CODES)[number];
/** Reasons why an exception is resolved. */
export const RESOLUTION_CODES = [...MANUAL_RESOLUTION_CODES, 'auto_cleared', 'shipment_cancelled'] as const;
export type ResolutionCode = (typeof RESOLUTION_CODES)[number];

/** A problem of a shipment or of one of its containers: docs/reference/exceptions.md#fields. */
export interface ShipmentException {
  readonly id: string;
  readonly shipment_id: string;
  readonly container_number: string | null;
  readonly type: ExceptionType;
  readonly severity: Severity;
  readonly status: ExceptionStatus;
  readonly title: string;
  readonly detail: string | null;
  readonly detected_by: (typeof EXCEPTION_ORIGINS)[number];
  /** The rule that opened the exception; null if a person opened it. */
  readonly rule: AutomaticExceptionType | null;
  readonly milestone_id: string | null;
  readonly reason_code: string | null;
  /** Name of the person responsible for the exception, as the client sent it. */
  readonly assignee: string | null;
  /** Values that the rule measured: docs/reference/exceptions.md#metrics. */
  readonly metrics: Readonly<Record<string, JsonValue>>;
  readonly resolution: { readonly code: ResolutionCode; readonly note: string | null; readonly by: Actor } | null;
  readonly opened_at: Timestamp;
  readonly acknowledged_at: Timestamp | null;
  readonly resolved_at: Timestamp | null;
}

function createDefaultRule(
  severity: Severity,
  hours: Partial<Pick<ExceptionSettings, 'after_hours' | 'by_mode' | 'before_hours'>> = {},
): ExceptionSettings {
  return { enabled: true, after_hours: null, by_mode: {}, before_hours: null, ...hours, severity };
}

/** Settings of a workspace, for live and test shipments. Settings that were never changed have their defaults. */
export interface WorkspaceSettings {
  readonly exceptions: Readonly<Record<AutomaticExceptionType, ExceptionSettings>>;
  /**
   * Document types that a shipment of each mode requires. A `missing_document` exception opens if one of them is
   * missing.
   */
  readonly required_documents: Readonly<Record<Mode, readonly DocumentType[]>>;
  /** Version of the settings: starts at 1 and grows by 1 with each change. */
  readonly version: number;
  readonly updated_at: Timestamp | null;
  readonly updated_by: Actor | null;
  /**
   * The re-check of open shipments after the last change; null if the settings never changed. Its progress does not
   * change `version`.
   */
  readonly recheck: SettingsRecheckStatus | null;
}

/** States of a re-check: `pending` until every replica uses the new settings, then `running`, then `done`. */
export const RECHECK_STATES = ['pending', 'running', 'done'] as const;
export type RecheckState = (typeof RECHECK_STATES)[number];

/** Progress of re-checking the workspace's open shipments after a change of settings. */
export interface SettingsRecheckStatus {
  readonly state: RecheckState;
  /** Number of shipments checked so far. */
  readonly checked: number;
  readonly started_at: Timestamp | null;
  readonly finished_at: Timestamp | null;
}

/** The settings that rules read. */
export type RuleSettings = Pick<WorkspaceSettings, 'exceptions' | 'required_documents'>;

/** Rule settings of a workspace that never changed them. */
export const DEFAULT_RULE_SETTINGS: RuleSettings = {
  exceptions: DEFAULT_EXCEPTION_SETTINGS,
  required_documents: Object.fromEntries(
    TRANSPORT_MODES.map((mode) => [mode, []]),
  ) as unknown as RuleSettings['required_documents'],
};
