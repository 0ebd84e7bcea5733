import { DomainError, PreconditionFailed } from '@tracking/contracts';
import type { Actor, Timestamp } from '@tracking/contracts';
import type { Collection, Document } from '@tracking/ports';
import { retryConflicts } from '@tracking/resilience';

/** What every change of identity carries, whoever asks for it. A repeat with the same id changes nothing a second time. */
export interface IdentityCommand {
  readonly id: string;
  /** When it was accepted: the time of all that comes of it. */
  readonly at: Timestamp;
  readonly actor: Actor;
  readonly workspace_id: string;
  /** Versions of which the present one must be; without, any will do. */
  readonly if_match?: readonly number[];
}

/** What a change did; `before` is null where it made something, the same as `after` where it changed nothing. */
export interface Changed<T> {
  readonly before: T | null;
  readonly after: T;
}

/** A stored document of a workspace that commands change. Documents of before there were versions lack all but the first two. */
export interface VersionedDocument extends Document {
  readonly workspace_id: string;
  /** 1 when made, plus one at each change. */
  readonly version: number;
  /** Id of the command that made or last changed it. */
  readonly changed_by: string;
  /** What that command replaced, by field; null where it made the document. A repeat answers by it. */
  readonly changed_from: object | null;
}

/** The documents of one kind. */
export interface Kind<T extends VersionedDocument> {
  readonly documents: Collection<T>;
  /** What one of them is called, as in "No such key in this workspace." */
  readonly name: string;
  /** Fields whose former value is forgotten, as of a password. */
  readonly forgotten?: readonly (keyof T)[];
  /** Writes a change where more than the document decides; undefined where it is not as it was read any more. */
  readonly write?: (present: T, set: Partial<T>) => Promise<T | undefined>;
}

export type Versionless<T> = Omit<T, 'version' | 'changed_by' | 'changed_from'>;

/**
 * Stores a new document, whose id derives from the command's; where it is there already, that one is answered.
 * @throws DuplicateKey
 */
export async function make<T extends VersionedDocument>(
  documents: Collection<T>,
  command: Pick<IdentityCommand, 'id'>,
  content: Versionless<T>,
): Promise<T> {
  const document = { ...content, version: 1, changed_by: command.id, changed_from: null } as unknown as T;
  if (await documents.insert(document)) return document;
  return (await documents.get(document.id)) ?? document;
}

/**
 * Changes one document of the command's workspace. `decide` tells which fields get which values, none where there is
 * nothing to change; it may run again, on a later version. Other fields, as of a last use, are left alone, also where
 * they change meanwhile.
 * @throws DomainError `not_found`, also in another workspace; `precondition_failed`; Busy; whatever `decide` throws
 */
export function change<T extends VersionedDocument>(
  { documents, name, forgotten = [], write }: Kind<T>,
  id: string,
  command: IdentityCommand,
  decide: (present: T) => Partial<Versionless<T>>,
): Promise<Changed<T>> {
  return retryConflicts(`${name} ${id}`, async () => {
    const present = await documents.get(id);
    if (present?.workspace_id !== command.workspace_id) throw noSuch(name);
    if (present.changed_by === command.id) return { before: beforeOf(present), after: present };
    requireVersion(present, command);
    const fields = differing(present, decide(present));
    if (Object.keys(fields).length === 0) return { before: present, after: present };
    const remembered = Object.keys(fields).filter((field) => !forgotten.includes(field as keyof T));
    const set = {
      ...fields,
      version: present.version + 1,
      changed_by: command.id,
      changed_from: pick(present, remembered),
    } as Partial<T>;
    const after = await (write ? write(present, set) : documents.claim({ filter: asRead(present) }, set));
    return after && { before: present, after };
  });
}

/** The refusal of what never was, and of what belongs to somebody else, alike. */
export function noSuch(name: string): DomainError {
  return new DomainError('not_found', `No such ${name} in this workspace.`);
}

/** @throws PreconditionFailed */
export function requireVersion({ version }: { readonly version: number }, { if_match }: IdentityCommand): void {
  if (if_match === undefined || if_match.includes(version)) return;
  throw new PreconditionFailed(version);
}

function asRead<T extends VersionedDocument>({ id, version }: T) {
  return { id, version };
}

function beforeOf<T extends VersionedDocument>(present: T): T | null {
  const { changed_from, version } = present;
  return changed_from === null ? null : { ...present, ...changed_from, version: version - 1 };
}

/** Those that are told and are not as they are already. */
function differing<T extends object>(present: T, fields: Partial<T>): Partial<T> {
  const told = Object.entries(fields).filter(([, value]) => value !== undefined) as [keyof T, unknown][];
  const changed = told.filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(present[field] ?? null));
  return Object.fromEntries(changed) as Partial<T>;
}

/** Null stands for a field that was absent: to readers they are the same. */
function pick<T extends object>(from: T, fields: readonly string[]): object {
  return Object.fromEntries(fields.map((field) => [field, from[field as keyof T] ?? null]));
}
