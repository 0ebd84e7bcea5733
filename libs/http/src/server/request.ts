import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { type Principal, type Scope, type Timestamp, traceOf } from '@tracking/contracts';
import { type Clock, originFields, type RequestOrigin } from '@tracking/ports';
import type { FastifyRequest } from 'fastify';
import { ifMatchOf } from '../preconditions/preconditions.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who makes it; set on every route that is not open, before its handler runs. */
    principal: Principal | null;
    /** The client's where it sent a valid one, else made for this request. */
    traceparent: string;
    /** Ids of what the request was about, for its log line. */
    about: Readonly<Record<string, string>> | null;
    /** Whether its handler was called, and may have done something. */
    begun: boolean;
  }
}

/** Who made a request, in its log line. */
export function principalFields(principal: Principal | null): Readonly<Record<string, string>> {
  if (!principal) return {};
  const { type, credential_id, workspace_id } = principal;
  return { [type === 'session' ? 'session_id' : 'key_id']: credential_id, workspace_id };
}

/** Always our own: an id that a client chose could be made to collide with another's in the logs. */
export function newRequestId(): string {
  return `req_${randomHex()}`;
}

/** 32 digits, never all of them zero. */
function randomHex(): string {
  return randomUUID().replaceAll('-', '');
}

/** Who asks. Only for routes that are not open. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new Error('an open route has no principal');
  return request.principal;
}

export function scopeOf(request: FastifyRequest): Scope {
  const { workspace_id, environment } = principalOf(request);
  return { workspace_id, environment };
}

/** `Prefer: handling=strict` (RFC 7240): what would be ignored or warned about is refused. */
export function isStrict(request: FastifyRequest): boolean {
  const prefer = request.headers['prefer'];
  return prefer !== undefined && /(?:^|,)\s*handling\s*=\s*"?strict"?\s*(?:$|[,;])/i.test(String(prefer));
}

/** The trace that the request belongs to; a new one, not sampled, where the client began none. */
export function traceparentOf({ headers }: FastifyRequest): string {
  const given = headers['traceparent'];
  if (typeof given === 'string' && traceOf(given) !== undefined) return given;
  // Node draws UUIDs in bulk: a fiftieth of a request's time less than its own random bytes for each.
  return `00-${randomHex()}-${randomHex().slice(16)}-00`;
}

/** What every line about a request begins with. */
export function requestFields({ id, traceparent }: FastifyRequest) {
  return originFields({ request_id: id, traceparent });
}

const origins = new AsyncLocalStorage<RequestOrigin>();

/** The request that is being handled, for calls to other services; undefined outside of any. */
export function currentRequest(): RequestOrigin | undefined {
  return origins.getStore();
}

/** Handles a request: what `work` calls finds it as {@link currentRequest}. */
export function during(request: FastifyRequest, work: () => void): void {
  origins.run({ request_id: request.id, traceparent: request.traceparent }, work);
}

/** What every command carries. */
export function commandContext(request: FastifyRequest) {
  const { workspace_id, environment, actor } = principalOf(request);
  const { id, at } = commandIdentityOf(request);
  const { expectedVersions } = request;
  return {
    id,
    at,
    workspace_id,
    environment,
    actor,
    request_id: request.id,
    traceparent: request.traceparent,
    strict: isStrict(request),
    ...(expectedVersions !== null && { expected_versions: expectedVersions }),
  };
}
export type CommandContext = ReturnType<typeof commandContext>;

/** What a command is known by, however often it is carried out. */
export interface CommandIdentity {
  readonly id: string;
  /** When the request was accepted: the time of all events that come of it. */
  readonly at: Timestamp;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Of requests that may write; given before the handler runs. */
    commandIdentity: CommandIdentity | null;
  }
}

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * The one place where a command gets its id and time: after the body was read, before the handler. Under an
 * `Idempotency-Key` it has them already, from the key's claim.
 */
export function giveCommandIdentity(request: FastifyRequest, clock: Clock): void {
  if (READING.has(request.method)) return;
  request.commandIdentity ??= { id: randomUUID(), at: clock().toISOString() };
}

export function commandIdentityOf({ commandIdentity, method }: FastifyRequest): CommandIdentity {
  if (!commandIdentity) throw new Error(`a request with ${method} asks for no command`);
  return commandIdentity;
}

/**
 * Parameters of handlers, beside Nest's own `@Param`, `@Query` and `@Res`. Nest reads parameters from the last to the
 * first: where several are refused, what is wrong with the last of them is answered.
 */
function parameter<T>(read: (request: FastifyRequest) => T): () => ParameterDecorator {
  return createParamDecorator((_data: unknown, context: ExecutionContext) => read(requestOf(context)));
}

/** Whose data the request is about: a {@link Scope}. */
export const CurrentScope = parameter<Scope>(scopeOf);

/** What the command of the request carries: a {@link CommandContext}. */
export const Command = parameter<CommandContext>(commandContext);

/** For commands that nobody's principal carries: a {@link CommandIdentity}. */
export const Identified = parameter<CommandIdentity>(commandIdentityOf);

/** Versions that `If-Match` names, for a command to expect; undefined where it names none in particular. */
export const IfMatch = parameter<readonly number[] | undefined>(ifMatchOf);

/** The body as it was parsed, and how it is to be read. */
export interface Sent {
  readonly body: unknown;
  /** Whether what would be ignored or warned about is refused. */
  readonly strict: boolean;
  /** Of the command that it asks for. */
  readonly at: Timestamp;
}

/** The body, for a pipe that reads a {@link Sent}. */
export const SentBody = createParamDecorator((_data: unknown, context: ExecutionContext): Sent => {
  const request = requestOf(context);
  return { body: request.body, strict: isStrict(request), at: commandIdentityOf(request).at };
});

function requestOf(context: ExecutionContext): FastifyRequest {
  return context.switchToHttp().getRequest<FastifyRequest>();
}
