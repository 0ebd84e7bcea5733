import type { Mode } from './shipment.ts';

/** In ascending order. */
export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** How a workspace has exceptions of one type open by themselves. */
export interface ExceptionSettings {
  readonly enabled: boolean;
  /** After so many hours, where time opens it: docs/reference/exceptions.md#settings tells since when. */
  readonly after_hours: number | null;
  /** Instead of `after_hours` for shipments of these modes. */
  readonly by_mode: Readonly<Partial<Record<Mode, number>>>;
  /** So many hours before a day or time that was given, where the rule knows one. */
  readonly before_hours: number | null;
  /** With which it opens. */
  readonly severity: Severity;
}

const DAY = 24;

/** Of every type that opens by itself, as it is unless a workspace says otherwise. */
export const DEFAULT_EXCEPTION_SETTINGS = {
  eta_slip: rule('medium', { after_hours: 24, by_mode: { air: 4, road: 4 } }),
  departure_overdue: rule('medium', { after_hours: 12 }),
  arrival_overdue: rule('medium', { after_hours: 12 }),
  no_update: rule('medium', {
    after_hours: 7 * DAY,
    by_mode: { air: 2 * DAY, road: 2 * DAY, rail: 3 * DAY, courier: 2 * DAY },
  }),
  missed_connection: rule('high', { after_hours: 12 }),
  customs_hold: rule('high'),
  demurrage_risk: rule('high', { after_hours: 4 * DAY, before_hours: 2 * DAY }),
  detention_risk: rule('medium', { after_hours: 10 * DAY, before_hours: 2 * DAY }),
  missing_document: rule('medium', { before_hours: 3 * DAY }),
  document_rejected: rule('medium'),
  delivery_failed: rule('medium'),
  milestone_conflict: rule('low'),
  movement_after_cancel: rule('high'),
  invalid_container_number: rule('low'),
} as const satisfies Readonly<Record<string, ExceptionSettings>>;

/** An exception that opens by itself. */
export type AutomaticExceptionType = keyof typeof DEFAULT_EXCEPTION_SETTINGS;
export const AUTOMATIC_EXCEPTION_TYPES = Object.keys(DEFAULT_EXCEPTION_SETTINGS) as readonly AutomaticExceptionType[];

function rule(
  severity: Severity,
  hours: Partial<Pick<ExceptionSettings, 'after_hours' | 'by_mode' | 'before_hours'>> = {},
): ExceptionSettings {
  return { enabled: true, after_hours: null, by_mode: {}, before_hours: null, ...hours, severity };
}
