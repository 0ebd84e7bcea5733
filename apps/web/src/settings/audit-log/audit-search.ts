import { AUDIT_TYPE_LABELS, type AuditType } from './audit-labels.ts';

/** What of the log stands in the address. */
export interface AuditSearch {
  /** Id of a user or service account, or `administration`. */
  readonly actor?: string | undefined;
  readonly type?: AuditType | undefined;
  /** The first day and the last one, as 2026-11-23, in the reader's zone. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** What an address says; what it says wrongly counts as not said. */
export function readAuditSearch(raw: Record<string, unknown>): AuditSearch {
  const { actor, type } = raw;
  const day = (value: unknown) =>
    typeof value === 'string' && DAY.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;
  const [from, to] = [day(raw['from']), day(raw['to'])];
  return {
    ...(typeof actor === 'string' && actor !== '' && { actor }),
    ...(typeof type === 'string' && Object.hasOwn(AUDIT_TYPE_LABELS, type) && { type: type as AuditType }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}

/** As the API is asked: from the first moment of a day to the last of another. */
export function auditQueryOf({ from, to, ...filters }: AuditSearch) {
  return {
    ...filters,
    ...(from !== undefined && { from: new Date(`${from}T00:00:00`).toISOString() }),
    ...(to !== undefined && { to: new Date(`${to}T23:59:59.999`).toISOString() }),
  };
}
