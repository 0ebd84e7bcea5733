import { Inject, Injectable } from '@nestjs/common';
import type { Warning } from '@tracking/contracts';
import type { WebhookCommand } from '@tracking/webhooks';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DEPENDENCIES } from '../dependencies.ts';
import type { HttpApiDependencies } from '../dependencies.ts';
import { OwnWrites } from '../own-writes/own-writes.ts';
import { commandContext } from '../server/request.ts';
import { readNoBody } from '../validation/read-body.ts';

/** Under which {@link WebhooksService} is injected. */
export const WEBHOOKS = Symbol('WebhooksService');
export type WebhooksService = HttpApiDependencies['webhooks'];

export type WithWarnings<T> = T & { readonly warnings: readonly Warning[] };

/** Carries out what a request asks of webhooks, and answers as every write does: with warnings and a token. */
@Injectable()
export class WebhookWrites {
  constructor(
    @Inject(DEPENDENCIES) private readonly dependencies: HttpApiDependencies,
    @Inject(OwnWrites) private readonly ownWrites: OwnWrites,
  ) {}

  /** @param warnings of the request's body; without, the operation takes none */
  async write<T extends object>(
    request: FastifyRequest,
    reply: FastifyReply,
    run: (command: WebhookCommand) => Promise<T>,
    warnings = readNoBody(request),
  ): Promise<WithWarnings<T>> {
    const { id, at, workspace_id, environment } = commandContext(request, this.dependencies.clock);
    const written = await run({ id, at, workspace_id, environment });
    await this.ownWrites.wrote(request, reply, undefined);
    return { ...written, warnings };
  }
}
