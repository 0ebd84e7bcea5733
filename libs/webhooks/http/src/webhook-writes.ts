import { Inject, Injectable } from '@nestjs/common';
import type { Warning } from '@tracking/contracts';
import { commandContext, etagOf, ReadYourWrites } from '@tracking/http';
import { type Position, withUnknownOutcome } from '@tracking/ports';
import type { WebhookCommand } from '@tracking/webhooks';
import type { FastifyReply } from 'fastify';
import type { WebhooksHttpDependencies } from './dependencies.ts';
import { HEAD } from './dependencies.ts';

export type WithWarnings<T> = T & { readonly warnings: readonly Warning[] };

/** Carries out what a request asks of webhooks, and answers as every write does: with warnings, a token, and
 * the ETag of what it answers. */
@Injectable()
export class WebhookWrites {
  constructor(
    @Inject(HEAD) private readonly head: WebhooksHttpDependencies['head'],
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
  ) {}

  /**
   * @param warnings of the request's body
   * @param positionAfter asked when it is done: as which write it is answered, where it has a place in the log
   * @throws what `run` throws; `Unavailable` in place of an error that only its last step did nothing
   */
  async write<T extends object>(
    reply: FastifyReply,
    warnings: readonly Warning[],
    run: (command: WebhookCommand) => Promise<T>,
    positionAfter: () => Promise<Position | undefined> = () => Promise.resolve(undefined),
  ): Promise<WithWarnings<T>> {
    const written = await run(webhookCommand(reply)).catch((error: unknown) => {
      // It writes more than one document, and calls another process.
      throw withUnknownOutcome(error);
    });
    await this.readYourWrites.wrote(reply, await positionAfter());
    if ('version' in written) reply.header('ETag', etagOf(Number(written.version)));
    return { ...written, warnings };
  }

  /**
   * The same for what takes a place in the log. It is answered as a write at the log's end is, and so behind the writes
   * before that place: one that is answered later stands after it.
   */
  async writeInOrder<T extends object>(
    reply: FastifyReply,
    warnings: readonly Warning[],
    run: (command: WebhookCommand) => Promise<T>,
  ): Promise<WithWarnings<T>> {
    // It is done; where the end of the log cannot be had, nothing is written that could be answered later.
    return this.write(reply, warnings, run, () => this.head().catch(() => undefined));
  }
}

function webhookCommand({ request }: FastifyReply): WebhookCommand {
  const { request_id, traceparent, actor: _actor, strict: _strict, ...command } = commandContext(request);
  const origin = { request_id, ...(traceparent !== null && { traceparent }) };
  return { ...command, origin };
}
