import type { AutomaticExceptionType } from '@tracking/contracts';
import { demurrageRisk, detentionRisk, missedConnection } from './container-rules.ts';
import { documentRejected, missingDocument } from './document-rules.ts';
import {
  customsHold,
  deliveryFailed,
  invalidContainerNumber,
  milestoneConflict,
  movementAfterCancel,
} from './milestone-rules.ts';
import type { Rule } from './rule.ts';
import { arrivalOverdue, departureOverdue, etaSlip, noUpdate } from './schedule-rules.ts';

/** Every type that opens by itself. */
const BY_TYPE: Readonly<Record<AutomaticExceptionType, Omit<Rule, 'type'>>> = {
  eta_slip: { find: etaSlip },
  departure_overdue: { find: departureOverdue },
  arrival_overdue: { find: arrivalOverdue },
  no_update: { find: noUpdate },
  missed_connection: { find: missedConnection },
  customs_hold: { find: customsHold },
  demurrage_risk: { find: demurrageRisk },
  detention_risk: { find: detentionRisk },
  missing_document: { find: missingDocument },
  document_rejected: { find: documentRejected },
  delivery_failed: { find: deliveryFailed },
  milestone_conflict: { find: milestoneConflict },
  movement_after_cancel: { find: movementAfterCancel, afterCancel: true },
  invalid_container_number: { find: invalidContainerNumber },
};

export const RULES: readonly Rule[] = Object.entries(BY_TYPE).map(([type, rule]) => ({
  type: type as AutomaticExceptionType,
  ...rule,
}));
