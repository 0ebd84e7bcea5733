import { DomainError } from '@tracking/contracts';
import type { Actor, AuditType, AuditedChanges, Timestamp } from '@tracking/contracts';
import { type Logger, withUnknownOutcome } from '@tracking/ports';
import type { FastifyRequest } from 'fastify';
import { RequestError } from '../errors/request-error.ts';
import { commandIdentityOf } from '../server/command-identity.ts';
import { requestFields } from '../server/request.ts';
import { changesOf, isChange } from './audited-changes.ts';
import type { AuditedChange } from './audited-changes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What its handler changed, for the audit log. */
    audited: ToldChange | null;
  }
}

interface ToldChange extends AuditedChange {
  readonly target_id: string | null;
}

/** Who changes something, in which workspace, and from where; the address is null where there is none. */
export interface AuditedBy {
  readonly workspace_id: string;
  readonly actor: Actor;
  readonly address: string | null;
  /** Where it depends on the request what its handler does. */
  readonly type?: AuditType;
}

/**
 * A handler that is `@Audited` tells what it changed; one that tells nothing changed what no field shows, as a password.
 * Where both are alike there is no entry.
 */
export function tellAudit(request: FastifyRequest, change: AuditedChange, targetId?: string): void {
  request.audited = { ...change, target_id: targetId ?? idOf(change.after) ?? idOf(change.before) };
}

function idOf(content: object | null): string | null {
  return content && 'id' in content ? String(content.id) : null;
}

export interface DuringOptions {
  readonly type: AuditType;
  readonly by: AuditedBy;
  /** Where it is known before. */
  readonly target: string | null;
  /** Of a request that changes several things, each with an entry: which one this is. */
  readonly part?: string;
}

/** A change as its entry is begun. */
export interface ChangeToAudit extends Omit<AuditedBy, 'type'> {
  /** Of the command that makes the change: a repeat with the same id continues the same entry. */
  readonly command_id: string;
  readonly at: Timestamp;
  readonly type: AuditType;
  /** Null where the target is only being made. */
  readonly target_id: string | null;
  readonly request_id: string;
}

/** An entry whose outcome is not known yet. */
export interface OpenAuditEntry {
  readonly id: string;
  /** Whether an earlier try of the same command began it, and may have made the change. */
  readonly isRepeated: boolean;
}

/** Stores the entries. @throws Unavailable */
export interface AuditLog {
  begin(change: ChangeToAudit): Promise<OpenAuditEntry>;
  complete(entry: OpenAuditEntry, targetId: string | null, changes: AuditedChanges): Promise<void>;
  withdraw(entry: OpenAuditEntry): Promise<void>;
}

/** Writes entries ahead of changes, and completes them. */
export class AuditTrail {
  constructor(
    private readonly log: AuditLog,
    private readonly logger: Logger,
    /** Recognises errors other than refusals after which certainly nothing was written. */
    private readonly isUndone: (error: unknown) => boolean,
  ) {}

  /**
   * Runs what changes something for a request, between the two writes of its entry.
   * @throws what `work` throws; `Unavailable` in place of an error that only its last step did nothing
   */
  async during<T>(
    request: FastifyRequest,
    { type, by, target, part }: DuringOptions,
    work: () => Promise<T>,
  ): Promise<T> {
    const { id, at } = commandIdentityOf(request);
    const command_id = part === undefined ? id : `${id} ${part}`;
    request.audited = null;
    const { workspace_id, actor, address } = by;
    const who = { workspace_id, actor, address, request_id: request.id };
    const entry = await this.log.begin({ ...who, command_id, at, type, target_id: target });
    let answer: T;
    try {
      answer = await work();
    } catch (error) {
      // Certain that nothing was written; after any other error the change may have been made.
      const isRefusal = error instanceof DomainError || error instanceof RequestError || this.isUndone(error);
      if (!isRefusal) throw withUnknownOutcome(error);
      await this.end(request, entry, false);
      throw error;
    }
    const told = request.audited;
    // Of a repeat both may be alike, since an earlier try made the change.
    await this.end(request, entry, told === null || isChange(told) || entry.isRepeated);
    return answer;
  }

  /** What was done is answered, whatever becomes of its entry: that one says `unknown` then. */
  private async end(request: FastifyRequest, entry: OpenAuditEntry, changed: boolean): Promise<void> {
    const { audited: told } = request;
    const ending = changed
      ? this.log.complete(entry, told?.target_id ?? null, told ? changesOf(told) : {})
      : this.log.withdraw(entry);
    await ending.catch((error: unknown) =>
      this.logger.warn(
        { ...requestFields(request), entry: entry.id, error: String(error) },
        'audit entry not completed',
      ),
    );
  }
}
