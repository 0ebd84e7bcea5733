import type { AuditedChanges } from '@tracking/contracts';

/** What a change made of something: null where it was not there before, or is not any more. */
export interface AuditedChange {
  readonly before: object | null;
  readonly after: object | null;
}

/** Fields that hold a secret, or the address of one. */
const SECRET = /secret|password|token|hash|^key$|^(invitation|reset)_url$/;
/** Values of headers are often credentials. */
const NAMES_ALONE: ReadonlySet<string> = new Set(['headers']);
/** What every change changes, and what says nothing that the entry does not say. */
const UNTOLD: ReadonlySet<string> = new Set([
  'id',
  'workspace_id',
  'version',
  'warnings',
  'created_at',
  'created_by',
  'updated_at',
  'last_seen_at',
  'last_used_at',
]);

/** Whether anything is not as it was. */
export function isChange({ before, after }: AuditedChange): boolean {
  return JSON.stringify(before) !== JSON.stringify(after);
}

/** The fields that differ, without what no log may hold. */
export function changesOf({ before, after }: AuditedChange): AuditedChanges {
  const [from, to] = [tellable(before), tellable(after)];
  const fields = new Set([...from.keys(), ...to.keys()]);
  const differing = [...fields].filter((field) => JSON.stringify(from.get(field)) !== JSON.stringify(to.get(field)));
  return Object.fromEntries(
    differing.map((field) => [field, { from: from.get(field) ?? null, to: to.get(field) ?? null }]),
  );
}

/** Absent and null are the same. */
function tellable(content: object | null): ReadonlyMap<string, unknown> {
  const told = Object.entries(content ?? {}).filter(
    ([field, value]) => value !== null && value !== undefined && !UNTOLD.has(field) && !SECRET.test(field),
  );
  return new Map(
    told.map(([field, value]) => [field, NAMES_ALONE.has(field) ? Object.keys(value as object).sort() : value]),
  );
}
