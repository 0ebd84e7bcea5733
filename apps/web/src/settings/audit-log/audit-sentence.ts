import { ROLE_LABELS } from '../../session/roles.ts';
import { AUDIT_SENTENCES } from './audit-labels.ts';
import type { AuditEntry } from './audit-queries.ts';

/** What something is called now, by its id; undefined where nobody knows any more. */
export type NameOf = (id: string) => string | undefined;

/** Where a change says what it is about, what it is called. */
const NAMING_FIELDS = ['name', 'email', 'url', 'file_name'] as const;
export const COMMAND_LINE = 'administration';
const SYSTEMS: Readonly<Record<string, string>> = {
  [COMMAND_LINE]: 'The command line',
  first_admin: 'The first start',
};

/** Who did it, by the name of now. */
export function actorOf({ actor }: Pick<AuditEntry, 'actor'>, nameOf: NameOf): string {
  if (actor.type === 'system') return SYSTEMS[actor.id] ?? 'The system';
  return actor.name ?? nameOf(actor.id) ?? actor.id;
}

/** What they did, as in "revoked the key “Nightly import”". */
export function deedOf(entry: Pick<AuditEntry, 'type' | 'target' | 'changes' | 'actor'>, nameOf: NameOf): string {
  const { type, target, actor } = entry;
  if (type === 'user.changed' && target.id === actor.id) return 'changed their own name';
  return AUDIT_SENTENCES[type].replace('…', () => targetOf(entry, nameOf));
}

function targetOf({ target, changes }: Pick<AuditEntry, 'target' | 'changes'>, nameOf: NameOf): string {
  const told = NAMING_FIELDS.map((field) => changes[field]?.to ?? changes[field]?.from).find(
    (name) => typeof name === 'string',
  );
  const name = (target.id === null ? undefined : nameOf(target.id)) ?? told;
  return typeof name === 'string' ? `“${name}”` : (target.id ?? 'that has no id yet');
}

export interface FieldChange {
  readonly field: string;
  /** Undefined where there was nothing, or is nothing any more. */
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** What changed, field by field, in words. */
export function changesIn({ changes }: Pick<AuditEntry, 'changes'>): readonly FieldChange[] {
  return Object.entries(changes).map(([field, { from, to }]) => ({
    field: fieldLabel(field),
    from: inWords(field, from),
    to: inWords(field, to),
  }));
}

function fieldLabel(field: string): string {
  const words = field.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function inWords(field: string, value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (field === 'role' && typeof value === 'string' && Object.hasOwn(ROLE_LABELS, value)) {
    return ROLE_LABELS[value as keyof typeof ROLE_LABELS];
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}
