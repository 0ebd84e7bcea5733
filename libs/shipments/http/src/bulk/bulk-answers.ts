import { Inject, Injectable } from '@nestjs/common';
import type { Warning } from '@tracking/contracts';
import { ErrorFilter, ReadYourWrites } from '@tracking/http';
import type { FastifyReply } from 'fastify';
import type { BulkRequest } from './bulk-request.ts';

export const NOT_ATOMIC =
  'Each item is carried out and answered as the single call would be, those of one shipment in their order. It is not atomic: an item that is refused leaves the others as they are. One request for the rate limit.';

/** Answers requests of many items: with the token of the last write, and an answer for each. */
@Injectable()
export class BulkAnswers {
  constructor(
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
    @Inject(ErrorFilter) private readonly errors: ErrorFilter,
  ) {}

  /**
   * @param ignored warnings of the request's body
   * @returns JSON
   * @throws what every item failed with, where that was on our side
   */
  async answer<T, R extends object>(
    reply: FastifyReply,
    bulk: BulkRequest<T, R>,
    ignored: readonly Warning[],
  ): Promise<string> {
    const { request } = reply;
    request.about = bulk.counts;
    const failure = bulk.failure((error) => this.errors.ofItem(error, request));
    if (failure.isOfAll) throw failure.error;
    request.keepsAnswer = !failure.isOfSome;
    await this.readYourWrites.wrote(reply, bulk.position);
    if (bulk.looksForOthers) await this.readYourWrites.shownSoon('shipments', bulk.position);
    reply.type('application/json; charset=utf-8');
    return bulk.answer(ignored);
  }
}
