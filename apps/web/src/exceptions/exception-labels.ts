import type { ShipmentException } from '@tracking/client';

export type ExceptionType = ShipmentException['type'];
export type Severity = ShipmentException['severity'];
export type ExceptionStatus = ShipmentException['status'];
export type ResolutionCode = NonNullable<ShipmentException['resolution']>['code'];

/** Default title of an exception, by type. */
export const EXCEPTION_LABELS: Readonly<Record<ExceptionType, string>> = {
  eta_slip: 'ETA slipped',
  departure_overdue: 'Departure overdue',
  arrival_overdue: 'Arrival overdue',
  no_update: 'No updates',
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
  milestone_conflict: 'Contradictory milestones',
  movement_after_cancel: 'Movement after cancellation',
  invalid_container_number: 'Invalid container number',
  container_damage: 'Container damaged',
  cargo_damage: 'Cargo damaged',
  shortage: 'Shortage',
  temperature_excursion: 'Temperature excursion',
  seal_broken: 'Seal broken',
  delivery_refused: 'Delivery refused',
  lost: 'Cargo lost',
  other: 'Other',
};

/** Labels of severities, ordered from most to least severe. */
export const SEVERITY_LABELS: Readonly<Record<Severity, string>> = {
  critical: 'Critical',
  high: 'High',
  medium: 'Medium',
  low: 'Low',
};
export const SEVERITY_COLORS: Readonly<Record<Severity, string>> = {
  critical: 'red',
  high: 'orange',
  medium: 'yellow',
  low: 'gray',
};

export const EXCEPTION_STATUS_LABELS: Readonly<Record<ExceptionStatus, string>> = {
  open: 'Open',
  acknowledged: 'Acknowledged',
  resolved: 'Resolved',
};

/** Resolution codes that users can choose. */
export const MANUAL_RESOLUTIONS = ['fixed', 'waived', 'false_positive', 'duplicate'] as const;
export const RESOLUTION_LABELS: Readonly<Record<ResolutionCode, string>> = {
  fixed: 'Fixed',
  waived: 'Waived',
  false_positive: 'False positive',
  duplicate: 'Duplicate',
  auto_cleared: 'Cleared automatically',
  shipment_cancelled: 'Shipment cancelled',
};
