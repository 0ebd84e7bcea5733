import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Scope, Timestamp } from '@tracking/contracts';
import type { FastifyRequest } from 'fastify';
import { ifMatchOf } from '../preconditions/preconditions.ts';
import { commandIdentityOf } from './command-identity.ts';
import type { CommandIdentity } from './command-identity.ts';
import { commandContext, isStrict, scopeOf } from './request.ts';
import type { CommandContext } from './request.ts';

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
