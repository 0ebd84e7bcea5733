import { Inject, Injectable } from '@nestjs/common';
import type { Warning } from '@tracking/contracts';
import type { WebhookCommand } from '@tracking/webhooks';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DEPENDENCIES } from '../dependencies.ts';
import type { HttpApiDependencies } from '../dependencies.ts';
import { ReadYourWrites } from '../read-your-writes/read-your-writes.ts';
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
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
  ) {}

  /** @param warnings of the request's body; without, the operation takes none */
  async write<T extends object>(
    request: FastifyRequest,
    reply: FastifyReply,
    run: (command: WebhookCommand) => Promise<T>,
    warnings = readNoBody(request),
  ): Promise<WithWarnings<T>> {
    const written = await run(this.command(request));
    await this.readYourWrites.wrote(request, reply, undefined);
    return { ...written, warnings };
  }

  /**
   * The same for what takes a place in the log. It is answered as a write at the log's end is, and so behind the writes
   * before that place: one that is answered later stands after it.
   */
  async writeInOrder<T extends object>(
    request: FastifyRequest,
    reply: FastifyReply,
    run: (command: WebhookCommand) => Promise<T>,
  ): Promise<WithWarnings<T>> {
    const warnings = readNoBody(request);
    const written = await run(this.command(request));
    // It is done; where the end of the log cannot be had, nothing is written that could be answered later.
    const end = await this.dependencies.head().catch(() => undefined);
    await this.readYourWrites.wrote(request, reply, end);
    return { ...written, warnings };
  }

  private command(request: FastifyRequest): WebhookCommand {
    const context = commandContext(request);
    const { id, at, workspace_id, environment, request_id, traceparent } = context;
    const origin = { request_id, ...(traceparent !== null && { traceparent }) };
    return { id, at, workspace_id, environment, origin };
  }
}
