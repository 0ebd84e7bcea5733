import { DomainError, PreconditionFailedError } from '@tracking/contracts';
import type { Actor, Timestamp } from '@tracking/contracts';
import type { Collection, Document } from '@tracking/ports';
import { retryConflicts } from '@tracking/resilience';

/** Fields of every command about identity. A repeated command with the same id changes nothing. */
export interface IdentityCommand {
  readonly id: string;
  /** Time at which the command was accepted, used for all its changes. */
  readonly at: Timestamp;
  readonly actor: Actor;
  readonly workspace_id: string;
  /** Versions of the document that the command may change; any version if absent. */
  readonly if_match?: readonly number[];
}

/**
 * The result of a change. `before` is null if the command created the document, and equals `after` if nothing changed.
 */
export interface ChangeResult<T> {
  readonly before: T | null;
  readonly after: T;
}

/**
 * A stored document of a workspace that commands change. Documents written before versions existed have only the first
 * two fields.
 */
export interface VersionedDocument extends Document {
  readonly workspace_id: string;
  /** Version of the document, from 1. Every change increases the version by one. */
  readonly version: number;
  /** Id of the command that created or last changed the document. */
  readonly changed_by: string;
  /**
   * Values that the command replaced, by field; null if the command created the document. A repeated command returns
   * the same result with the help of these values.
   */
  readonly changed_from: object | null;
}

/** Collection of one kind of document, with the kind's properties. */
export interface VersionedDocumentCollectionDescription<T extends VersionedDocument> {
  readonly documents: Collection<T>;
  /** Name of the resource, as in "No such key in this workspace." */
  readonly name: string;
  /** Fields whose former value is not stored, such as a password. */
  readonly forgotten?: readonly (keyof T)[];
  /**
   * Writes a change that depends on more than the document; returns undefined if the document changed since it was
   * read.
   */
  readonly write?: (present: T, set: Partial<T>) => Promise<T | undefined>;
}

export type Versionless<T> = Omit<T, 'version' | 'changed_by' | 'changed_from'>;

/**
 * Stores a new document, whose id derives from the command. Returns the stored document if it exists already.
 * @throws DuplicateKeyError
 */
export async function insertDocumentOncePerCommand<T extends VersionedDocument>(
  documents: Collection<T>,
  command: Pick<IdentityCommand, 'id'>,
  content: Versionless<T>,
): Promise<T> {
  return (await insertDocumentOfCommand(documents, command, content)).document;
}

/**
 * Does the same as {@link insertDocumentOncePerCommand}, and also returns true if this call stored the document.
 * @throws DuplicateKeyError
 */
export async function insertDocumentOfCommand<T extends VersionedDocument>(
  documents: Collection<T>,
  command: Pick<IdentityCommand, 'id'>,
  content: Versionless<T>,
): Promise<{ readonly document: T; readonly isNew: boolean }> {
  const document = { ...content, version: 1, changed_by: command.id, changed_from: null } as unknown as T;
  if (await documents.insert(document)) return { document, isNew: true };
  return { document: (await documents.get(document.id)) ?? document, isNew: false };
}

/**
 * Changes one document of the command's workspace. `decide` returns the new values of fields, none if nothing changes;
 * `decide` may run again on a later version. Fields that `decide` does not return keep their value, even if another
 * write changes them concurrently.
 * @throws DomainError `not_found`, also in another workspace; `precondition_failed`; BusyError; errors of `decide`
 */
export function changeVersionedDocumentOfWorkspace<T extends VersionedDocument>(
  { documents, name, forgotten = [], write }: VersionedDocumentCollectionDescription<T>,
  id: string,
  command: IdentityCommand,
  decide: (present: T) => Partial<Versionless<T>>,
): Promise<ChangeResult<T>> {
  return retryConflicts(documents, `${name} ${id}`, async () => {
    const present = await documents.get(id);
    if (present?.workspace_id !== command.workspace_id) throw createNotFoundError(name);
    if (present.changed_by === command.id) return { before: restoreDocumentBeforeCommand(present), after: present };
    throwIfIdentityVersionDiffers(present, command);
    const fields = selectChangedFields(present, decide(present));
    if (Object.keys(fields).length === 0) return { before: present, after: present };
    const recordFormerValues = Object.keys(fields).filter((field) => !forgotten.includes(field as keyof T));
    const set = {
      ...fields,
      version: present.version + 1,
      changed_by: command.id,
      changed_from: copyFieldsOrNull(present, recordFormerValues),
    } as Partial<T>;
    const after = await (write
      ? write(present, set)
      : documents.claim({ filter: createUnchangedVersionGuard(present) }, set));
    return after && { before: present, after };
  });
}

/** Creates the error for an unknown resource. A resource of another workspace gets the same error. */
export function createNotFoundError(name: string): DomainError {
  return new DomainError('not_found', `No such ${name} in this workspace.`);
}

/** @throws PreconditionFailedError */
export function throwIfIdentityVersionDiffers(
  { version }: { readonly version: number },
  { if_match }: IdentityCommand,
): void {
  if (if_match === undefined || if_match.includes(version)) return;
  throw new PreconditionFailedError(version);
}

function createUnchangedVersionGuard<T extends VersionedDocument>({ id, version }: T) {
  return { id, version };
}

function restoreDocumentBeforeCommand<T extends VersionedDocument>(present: T): T | null {
  const { changed_from, version } = present;
  return changed_from === null ? null : { ...present, ...changed_from, version: version - 1 };
}

/** Returns the given fields whose value differs from the present one. */
function selectChangedFields<T extends object>(present: T, fields: Partial<T>): Partial<T> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined) as [keyof T, unknown][];
  const changed = given.filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(present[field] ?? null));
  return Object.fromEntries(changed) as Partial<T>;
}

/** Copies fields of an object. An absent field becomes null, because readers treat both alike. */
function copyFieldsOrNull<T extends object>(from: T, fields: readonly string[]): object {
  return Object.fromEntries(fields.map((field) => [field, from[field as keyof T] ?? null]));
}
