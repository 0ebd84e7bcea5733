import type { AutomaticExceptionType } from '@tracking/contracts';
import { demurrageRiskRule, detentionRiskRule, missedConnectionRule, offRouteRule } from './container-rules.ts';
import { documentRejectedRule, missingDocumentRule } from './document-rules.ts';
import {
  customsHoldRule,
  deliveryFailedRule,
  freightHoldRule,
  invalidContainerNumberRule,
  milestoneConflictRule,
  movementAfterCancelRule,
  returnToSenderRule,
  terminalHoldRule,
} from './milestone-rules.ts';
import type { ExceptionRule } from './rule.ts';
import { arrivalOverdueRule, departureOverdueRule, etaSlipRule, noUpdateExceptionRule } from './schedule-rules.ts';

/** Exception rules by exception type. */
const EXCEPTION_RULES_BY_TYPE: Readonly<Record<AutomaticExceptionType, Omit<ExceptionRule, 'type'>>> = {
  eta_slip: { find: etaSlipRule },
  departure_overdue: { find: departureOverdueRule },
  arrival_overdue: { find: arrivalOverdueRule },
  no_update: { find: noUpdateExceptionRule },
  missed_connection: { find: missedConnectionRule },
  customs_hold: { find: customsHoldRule },
  terminal_hold: { find: terminalHoldRule },
  freight_hold: { find: freightHoldRule },
  off_route: { find: offRouteRule },
  demurrage_risk: { find: demurrageRiskRule },
  detention_risk: { find: detentionRiskRule },
  missing_document: { find: missingDocumentRule },
  document_rejected: { find: documentRejectedRule },
  delivery_failed: { find: deliveryFailedRule },
  return_to_sender: { find: returnToSenderRule },
  milestone_conflict: { find: milestoneConflictRule },
  movement_after_cancel: { find: movementAfterCancelRule, afterCancel: true },
  invalid_container_number: { find: invalidContainerNumberRule },
};

/** All rules of automatic exceptions. */
export const EXCEPTION_RULES: readonly ExceptionRule[] = Object.entries(EXCEPTION_RULES_BY_TYPE).map(
  ([type, rule]) => ({
    type: type as AutomaticExceptionType,
    ...rule,
  }),
);
