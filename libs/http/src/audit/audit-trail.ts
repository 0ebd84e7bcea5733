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
import { type Logger, convertToUnknownOutcomeError } from '@tracking/ports';
import type { FastifyRequest } from 'fastify';
import { defer, lastValueFrom, type Observable } from 'rxjs';
import { RequestError } from '../errors/request-error.ts';
import { getCommandIdentity, createRequestLogFields } from '../server/request.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The change that the handler reported, for the audit log. */
    audited: AuditedChangeWithTargetId | null;
  }
}

interface AuditedChangeWithTargetId extends AuditedChange {
  readonly target_id: string | null;
}

/** The actor of a change, the actor's workspace and the client's address; null for a value that is unknown. */
interface ActorAndAddressOfChange {
  readonly workspace_id: string;
  readonly actor: Actor;
  readonly address: string | null;
  /** Replaces the audit type of the handler if the type depends on the request. */
  readonly type?: AuditType;
}

/**
 * Reports the change of a handler that is `@Audited`. A handler that reports nothing changed something that no field
 * shows, such as a password. If `before` and `after` are equal, the log gets no entry.
 */
export function reportChangeForAudit(request: FastifyRequest, change: AuditedChange, targetId?: string): void {
  request.audited = {
    ...change,
    target_id: targetId ?? readIdOfChangedResource(change.after) ?? readIdOfChangedResource(change.before),
  };
}

function readIdOfChangedResource(content: object | null): string | null {
  return content && 'id' in content ? String(content.id) : null;
}

interface AuditedChangeDescription {
  readonly type: AuditType;
  readonly by: ActorAndAddressOfChange;
  /** Id of the resource; null if it is not known before the change. */
  readonly target: string | null;
  /** Name of this change, if one request makes several audited changes. */
  readonly part?: string;
}

/** A change that the audit log records before the handler makes it. */
interface ChangeToAudit extends Omit<ActorAndAddressOfChange, 'type'> {
  /** Id of the command. A repeat with the same id continues the same audit entry. */
  readonly command_id: string;
  readonly at: Timestamp;
  readonly type: AuditType;
  /** Id of the changed resource. Null if the change creates the resource. */
  readonly target_id: string | null;
  readonly request_id: string;
}

/** An audit entry whose outcome is not known yet. */
export interface PendingAuditEntry {
  readonly id: string;
  readonly workspace_id: string;
  /** True if an earlier attempt of the same command began this entry. That attempt may have made the change. */
  readonly isRepeated: boolean;
}

/** Stores audit entries. Its methods throw `UnavailableError`. */
export interface AuditLog {
  beginAuditEntry(change: ChangeToAudit): Promise<PendingAuditEntry>;
  completeAuditEntry(entry: PendingAuditEntry, targetId: string | null, changes: AuditedChanges): Promise<void>;
  withdrawAuditEntry(entry: PendingAuditEntry): Promise<void>;
}

/** Writes an audit entry before a change and completes it afterwards. */
export class AuditTrail {
  constructor(
    private readonly log: AuditLog,
    private readonly logger: Logger,
    /**
     * Returns true for an error that proves that nothing was written. Refusals prove this too and need no test here.
     */
    private readonly provesNothingWritten: (error: unknown) => boolean,
  ) {}

  /**
   * Runs a change: writes the audit entry before, and completes the entry after the change.
   * @throws the error of `work`, or `UnavailableError` in its place if the error proves only that the last of several
   *   steps wrote nothing: earlier steps may have written
   */
  async runAudited<T>(
    request: FastifyRequest,
    { type, by, target, part }: AuditedChangeDescription,
    work: () => Promise<T>,
  ): Promise<T> {
    const { id, at } = getCommandIdentity(request);
    const command_id = part === undefined ? id : `${id} ${part}`;
    request.audited = null;
    const { workspace_id, actor, address } = by;
    const who = { workspace_id, actor, address, request_id: request.id };
    const entry = await this.log.beginAuditEntry({ ...who, command_id, at, type, target_id: target });
    let answer: T;
    try {
      answer = await work();
    } catch (error) {
      // Withdraw the audit entry only if the error proves that the change wrote nothing.
      const isRefusal =
        error instanceof DomainError || error instanceof RequestError || this.provesNothingWritten(error);
      if (!isRefusal) throw convertToUnknownOutcomeError(error);
      await this.completeAuditEntry(request, entry, false);
      throw error;
    }
    const change = request.audited;
    // Keep the audit entry of a repeated command: an earlier attempt may have made the change.
    await this.completeAuditEntry(request, entry, change === null || hasAuditedChanges(change) || entry.isRepeated);
    return answer;
  }

  /**
   * Completes the audit entry. Never throws, because the change is already made. An entry that cannot be completed keeps
   * the outcome `unknown`.
   */
  private async completeAuditEntry(request: FastifyRequest, entry: PendingAuditEntry, changed: boolean): Promise<void> {
    const { audited } = request;
    const ending = changed
      ? this.log.completeAuditEntry(entry, audited?.target_id ?? null, audited ? computeAuditFieldChanges(audited) : {})
      : this.log.withdrawAuditEntry(entry);
    await ending.catch((error: unknown) =>
      this.logger.warn(
        { ...createRequestLogFields(request), entry: entry.id, error: String(error) },
        'could not complete an audit entry; its outcome stays unknown',
      ),
    );
  }
}

const AUDIT_TYPE_METADATA_KEY = 'audited';

/** Injection token of an {@link AuditedByRequest}. */
export const AUDITED_ACTOR_INJECTION_TOKEN = Symbol('audited by');

/** Finds the actor of a request; undefined if the request names no workspace, so that it cannot change anything. */
export type AuditedByRequest = (request: FastifyRequest) => Promise<ActorAndAddressOfChange | undefined>;

/** Store only texts that look like an id: a client may have sent a key instead. */
const ID_PATTERN = /^[a-z]{3}_[0-9a-z]{1,60}$/;

@Injectable()
class AuditInterceptor implements NestInterceptor {
  constructor(
    @Inject(AuditTrail) private readonly trail: AuditTrail,
    @Inject(AUDITED_ACTOR_INJECTION_TOKEN) private readonly auditedBy: AuditedByRequest,
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const type = this.reflector.get<AuditType>(AUDIT_TYPE_METADATA_KEY, context.getHandler());
    return defer(async () => {
      const handle = () => lastValueFrom(next.handle(), { defaultValue: undefined });
      const by = await this.auditedBy(request);
      if (!by) return handle();
      const { id = null } = request.params as { readonly id?: string };
      const target = id !== null && ID_PATTERN.test(id) ? id : null;
      return this.trail.runAudited(request, { type: by.type ?? type, by, target }, handle);
    });
  }
}

/**
 * Records the change of a handler in the audit log, with this type. The target of the entry is the `:id` of the path,
 * or the resource that the handler reports with `reportChangeForAudit`. The entry is stored before the handler and its
 * pipes run: ADR 0023.
 */
export function RecordInAuditLog(type: AuditType): MethodDecorator {
  return applyDecorators(SetMetadata(AUDIT_TYPE_METADATA_KEY, type), UseInterceptors(AuditInterceptor));
}

/** A resource before and after a change. `before` is null for a new resource; `after` is null for a deleted one. */
export interface AuditedChange {
  readonly before: object | null;
  readonly after: object | null;
}

/** Fields that hold a secret, or a URL that contains one. */
const SECRET_FIELD_PATTERN = /secret|password|token|hash|^key$|^(invitation|reset)_url$/;
/** Fields of which only the keys are logged: values of headers are often credentials. */
const FIELDS_LOGGED_WITHOUT_VALUES: ReadonlySet<string> = new Set(['headers']);
/** Fields that change with every write, or that repeat the entry. */
const UNAUDITED_FIELDS: ReadonlySet<string> = new Set([
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

/** Returns true if any field differs. */
export function hasAuditedChanges({ before, after }: AuditedChange): boolean {
  return JSON.stringify(before) !== JSON.stringify(after);
}

/** Returns the fields that differ, without secrets. */
export function computeAuditFieldChanges({ before, after }: AuditedChange): AuditedChanges {
  const [from, to] = [selectFieldsForAuditLog(before), selectFieldsForAuditLog(after)];
  const fields = new Set([...from.keys(), ...to.keys()]);
  const differing = [...fields].filter((field) => JSON.stringify(from.get(field)) !== JSON.stringify(to.get(field)));
  return Object.fromEntries(
    differing.map((field) => [field, { from: from.get(field) ?? null, to: to.get(field) ?? null }]),
  );
}

/** Returns the fields that the audit log may hold. Null counts as absent. */
function selectFieldsForAuditLog(content: object | null): ReadonlyMap<string, unknown> {
  const fields = Object.entries(content ?? {}).filter(
    ([field, value]) =>
      value !== null && value !== undefined && !UNAUDITED_FIELDS.has(field) && !SECRET_FIELD_PATTERN.test(field),
  );
  return new Map(
    fields.map(([field, value]) => [
      field,
      FIELDS_LOGGED_WITHOUT_VALUES.has(field) ? Object.keys(value as object).sort() : value,
    ]),
  );
}
