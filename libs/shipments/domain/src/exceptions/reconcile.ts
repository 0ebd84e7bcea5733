import type { Actor, Timestamp } from '@tracking/contracts';
import { SHIPMENT_LIMITS } from '../check-shipment.ts';
import type { DecideContext } from '../commands/command.ts';
import type { Derived } from '../derive.ts';
import type { ShipmentException } from '../events/event-data.ts';
import type { ExceptionOpened } from '../events/exception-opened.ts';
import type { ExceptionResolved } from '../events/exception-resolved.ts';
import type { ShipmentState, TimelineEntry } from '../state.ts';
import { type Finding, RULES, type Rule } from './rules.ts';

/** Who opens and resolves by rule. */
const SYSTEM: Actor = { type: 'system', id: 'system' };

/** A command of whose shipment exceptions open or resolve. */
export interface Occasion {
  /** The command's time. */
  readonly at: Timestamp;
  readonly newId: DecideContext['newId'];
}

/**
 * The exceptions that open and resolve by themselves with the shipment as it is after a command. At most one that is not
 * resolved per type and container. Cancelling resolves whatever is open.
 * @param before undefined when the shipment is new
 */
export function reconcile(
  before: Pick<ShipmentState, 'record' | 'exceptions'> | undefined,
  derived: Derived,
  timeline: readonly TimelineEntry[],
  occasion: Occasion,
): readonly (ExceptionOpened | ExceptionResolved)[] {
  const present = before?.exceptions ?? [];
  const findings = dueOf(findingsOf(derived, timeline), occasion.at);
  const isCancelling = derived.record.status === 'cancelled' && before?.record.status !== 'cancelled';
  const onShipment = new Set<string | null>([null, ...derived.record.container_numbers]);
  const events: (ExceptionOpened | ExceptionResolved)[] = [];
  let open = derived.record.open_exceptions_count;
  for (const exception of present) {
    if (exception.status === 'resolved') continue;
    const key = keyOf(exception.type, exception.container_number);
    const isFound = findings.has(key) || !isByRule(exception);
    const code = isCancelling ? 'shipment_cancelled' : whyResolved(exception, isFound, onShipment);
    findings.delete(key);
    if (code === undefined) continue;
    const resolution = { code, note: null, by: SYSTEM };
    const resolved: ShipmentException = { ...exception, status: 'resolved', resolution, resolved_at: occasion.at };
    events.push({ type: 'exception.resolved.v1', data: { exception: resolved, open_exceptions_count: --open } });
  }
  const room = Math.max(0, SHIPMENT_LIMITS.exceptions - present.length);
  for (const [index, found] of [...findings.values()].slice(0, room).entries()) {
    const exception = openedBy(found, derived.record.id, occasion.newId('exc', index), occasion.at);
    events.push({ type: 'exception.opened.v1', data: { exception, open_exceptions_count: ++open } });
  }
  return events;
}

/** What is wrong, and what time will make wrong, by exception type and container. */
export function findingsOf(
  derived: Derived,
  timeline: readonly TimelineEntry[],
  rules: readonly Rule[] = RULES,
): Map<string, Found> {
  const isCancelled = derived.record.status === 'cancelled';
  const findings = new Map<string, Found>();
  for (const rule of rules) {
    if (isCancelled !== (rule.afterCancel ?? false)) continue;
    for (const finding of rule.find(derived, timeline)) {
      findings.set(keyOf(rule.type, finding.container_number), { rule, finding });
    }
  }
  return findings;
}

/** Without those that only time will open. Changes the map. */
function dueOf(findings: Map<string, Found>, at: Timestamp): Map<string, Found> {
  for (const [key, { finding }] of findings) {
    if (finding.opens_at !== undefined && finding.opens_at > at) findings.delete(key);
  }
  return findings;
}

export interface Found {
  readonly rule: Rule;
  readonly finding: Finding;
}

export function keyOf(type: string, container: string | null): string {
  return `${type} ${container ?? ''}`;
}

function whyResolved(
  exception: ShipmentException,
  isFound: boolean,
  onShipment: ReadonlySet<string | null>,
): string | undefined {
  return isFound && onShipment.has(exception.container_number) ? undefined : 'auto_cleared';
}

function isByRule({ rule }: ShipmentException): boolean {
  return RULES.some(({ type }) => type === rule);
}

function openedBy({ rule, finding }: Found, shipment_id: string, id: string, at: Timestamp): ShipmentException {
  return {
    id,
    shipment_id,
    container_number: finding.container_number,
    type: rule.type,
    severity: rule.severity,
    status: 'open',
    title: rule.title,
    detail: finding.detail,
    detected_by: 'system',
    rule: rule.type,
    milestone_id: finding.milestone?.milestone.id ?? null,
    reason_code: finding.milestone?.milestone.reason_code ?? null,
    assignee: null,
    metrics: {},
    resolution: null,
    opened_at: at,
    acknowledged_at: null,
    resolved_at: null,
  };
}
