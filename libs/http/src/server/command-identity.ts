import { randomUUID } from 'node:crypto';
import type { Timestamp } from '@tracking/contracts';
import type { Clock } from '@tracking/ports';
import type { FastifyRequest } from 'fastify';

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
