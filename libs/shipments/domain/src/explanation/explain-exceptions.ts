import type { ShipmentException, ExplainedException } from '@tracking/contracts';
import { CONTAINER_TAKEN_OFF } from '../exceptions/remedies.ts';
import { type Found, keyOf } from '../exceptions/reconcile.ts';

/** Those that are open, and those that will be. */
export function explainExceptions(
  exceptions: readonly ShipmentException[],
  findings: Map<string, Found>,
): readonly ExplainedException[] {
  const open = exceptions.flatMap((exception): ExplainedException[] => {
    const { id, type, container_number, status, rule, detail, milestone_id } = exception;
    if (status === 'resolved') return [];
    const key = keyOf(type, container_number);
    // What a person opened only a person resolves.
    const resolved_by = resolvedBy(container_number, rule === null ? undefined : findings.get(key));
    findings.delete(key);
    const told = { type, container_number, status, rule, because: detail, milestone_id };
    return [{ exception_id: id, ...told, opens_at: null, resolved_by }];
  });
  const expected = [...findings.values()].map((found): ExplainedException => {
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
  });
  return [...open, ...expected];
}

function resolvedBy(container_number: string | null, found: Found | undefined): ExplainedException['resolved_by'] {
  const ofRule = found?.finding.resolvedBy() ?? [];
  return container_number === null ? ofRule : [...ofRule, CONTAINER_TAKEN_OFF];
}
