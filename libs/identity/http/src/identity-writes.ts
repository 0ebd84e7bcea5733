import { Inject, Injectable } from '@nestjs/common';
import type { Warning } from '@tracking/contracts';
import { commandIdentityOf, etagOf, ifMatchOf, principalOf, ReadYourWrites, tellAudit } from '@tracking/http';
import type { AuditedChange } from '@tracking/http';
import type { Changed, IdentityCommand } from '@tracking/identity';
import type { FastifyReply, FastifyRequest } from 'fastify';

interface Versioned {
  readonly version: number;
}

export type WithWarnings<T> = T & { readonly warnings: readonly Warning[] };

/** What a change did, and what of it the audit log tells where that is not the same. */
export interface IdentityWritten<T> extends Changed<T> {
  readonly audited?: AuditedChange;
}

/**
 * Carries out what a request asks of identity, and answers as every write does: with warnings, a token and an ETag. Tells
 * the audit log what changed.
 */
@Injectable()
export class IdentityWrites {
  constructor(@Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites) {}

  /** @param warnings of the request's body */
  async write<T extends Versioned>(
    reply: FastifyReply,
    warnings: readonly Warning[],
    run: (command: IdentityCommand) => Promise<IdentityWritten<T>>,
  ): Promise<WithWarnings<T>> {
    const { before, after, audited = { before, after } } = await run(identityCommand(reply.request));
    tellAudit(reply.request, audited);
    // Beside the event store: every replica shows it at once.
    await this.readYourWrites.wrote(reply, undefined);
    reply.header('ETag', etagOf(after.version));
    return { ...after, warnings };
  }
}

/** What the change that a request asks for carries. */
function identityCommand(request: FastifyRequest): IdentityCommand {
  const { workspace_id, actor } = principalOf(request);
  const if_match = ifMatchOf(request);
  return { ...commandIdentityOf(request), actor, workspace_id, ...(if_match && { if_match }) };
}
