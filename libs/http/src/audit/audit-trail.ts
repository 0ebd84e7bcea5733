import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
  SetMetadata,
  UseInterceptors,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type Actor, type AuditedChanges, type AuditType, DomainError, type Timestamp } from '@tracking/contracts';
import { type Logger, withUnknownOutcome } from '@tracking/ports';
import type { FastifyRequest } from 'fastify';
import { defer, lastValueFrom, type Observable } from 'rxjs';
import { RequestError } from '../errors/request-error.ts';
import { commandIdentityOf, requestFields } from '../server/request.ts';

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
interface AuditedBy {
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

interface DuringOptions {
  readonly type: AuditType;
  readonly by: AuditedBy;
  /** Where it is known before. */
  readonly target: string | null;
  /** Of a request that changes several things, each with an entry: which one this is. */
  readonly part?: string;
}

/** A change as its entry is begun. */
interface ChangeToAudit extends Omit<AuditedBy, 'type'> {
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

const AUDITED = 'audited';

/** Under which a module tells who makes its requests. */
export const AUDITED_BY = Symbol('audited by');

/** Who makes a request; undefined where it names no workspace, so that nothing of it can be changed. */
export type AuditedByRequest = (request: FastifyRequest) => Promise<AuditedBy | undefined>;

/** Anything else may be a key that somebody took for an id: it would be stored. */
const ID_FORM = /^[a-z]{3}_[0-9a-z]{1,60}$/;

@Injectable()
class AuditInterceptor implements NestInterceptor {
  constructor(
    @Inject(AuditTrail) private readonly trail: AuditTrail,
    @Inject(AUDITED_BY) private readonly auditedBy: AuditedByRequest,
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const type = this.reflector.get<AuditType>(AUDITED, context.getHandler());
    return defer(async () => {
      const handle = () => lastValueFrom(next.handle(), { defaultValue: undefined });
      const by = await this.auditedBy(request);
      if (!by) return handle();
      const { id = null } = request.params as { readonly id?: string };
      const target = id !== null && ID_FORM.test(id) ? id : null;
      return this.trail.during(request, { type: by.type ?? type, by, target }, handle);
    });
  }
}

/**
 * Every change that the handler makes is in the audit log, as of this type; its target is what the path's `:id` names, or
 * what the handler tells with `tellAudit`. The entry is stored before the handler and its pipes run: ADR 0023.
 */
export function Audited(type: AuditType): MethodDecorator {
  return applyDecorators(SetMetadata(AUDITED, type), UseInterceptors(AuditInterceptor));
}

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
