import type { ExplainedException } from '@tracking/contracts';
import { SHIPMENT_LIMITS } from '../check-shipment.ts';
import { CONTAINER_TAKEN_OFF } from '../exceptions/remedies.ts';
import { type RuleFinding, isSuppressed, keyOf } from '../exceptions/reconcile.ts';
import type { ShipmentState } from '../state.ts';

/** Those that are open, those that a person's word keeps from opening again, and those that will open. */
export function explainExceptions(
  { exceptions, endedConditions, record }: ShipmentState,
  findings: Map<string, RuleFinding>,
): readonly ExplainedException[] {
  const notResolved = new Set(
    exceptions
      .filter(({ status }) => status !== 'resolved')
      .map(({ type, container_number }) => keyOf(type, container_number)),
  );
  const present = exceptions.flatMap((exception): ExplainedException[] => {
    const { id, type, container_number, status, rule, detail, milestone_id } = exception;
    const key = keyOf(type, container_number);
    const found = findings.get(key);
    if (status === 'resolved') {
      if (found === undefined || notResolved.has(key) || endedConditions.has(id)) return [];
      if (!isSuppressed(exception, found, record.updated_at)) return [];
      findings.delete(key);
      return [{ ...foundOut(found), exception_id: id, status: 'suppressed', opens_at: null }];
    }
    findings.delete(key);
    const told = { type, container_number, status, rule, because: detail, milestone_id };
    // What a person opened only a person resolves.
    const resolved_by = resolvedBy(container_number, rule === null ? undefined : found);
    return [{ exception_id: id, ...told, opens_at: null, resolved_by }];
  });
  const isFull = exceptions.length >= SHIPMENT_LIMITS.exceptions;
  return isFull ? present : [...present, ...[...findings.values()].map(foundOut)];
}

/** What a rule found, as it will open. */
function foundOut(found: RuleFinding): ExplainedException {
  const { type } = found.rule;
  const { container_number, detail, milestone, opens_at = null } = found.finding;
  return {
    exception_id: null,
    type,
    container_number,
    status: 'expected',
    rule: type,
    because: detail,
    milestone_id: milestone?.milestone.id ?? null,
    opens_at,
    resolved_by: resolvedBy(container_number, found),
  };
}

function resolvedBy(
  container_number: string | null,
  found: RuleFinding | undefined,
): ExplainedException['resolved_by'] {
  const ofRule = found?.finding.resolvedBy() ?? [];
  return container_number === null ? ofRule : [...ofRule, CONTAINER_TAKEN_OFF];
}
