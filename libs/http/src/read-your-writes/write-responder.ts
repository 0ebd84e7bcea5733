import { Inject, Injectable } from '@nestjs/common';
import type { Warning } from '@tracking/contracts';
import type { Position } from '@tracking/ports';
import type { FastifyReply } from 'fastify';
import { type HttpSettings, SETTINGS } from '../http-feature.ts';
import { etagOf } from '../preconditions/preconditions.ts';
import { ReadYourWrites } from './read-your-writes.ts';

export type WriteResponse<Body> = Body & { readonly warnings: readonly Warning[] };

/** A resource after a write, and what the response says about the write. */
export interface WrittenResource<Body extends object> {
  readonly body: Body;
  /** Of the write in the event store; undefined for a write beside it. */
  readonly position?: Position | undefined;
  /** The version in the `ETag`; undefined where the response has none. */
  readonly version?: number | undefined;
  readonly warnings?: readonly Warning[];
  /** Where it differs from the status that the route declares. */
  readonly status?: number;
  /** Path of a resource that the write created. */
  readonly location?: string | undefined;
  /** Ids for the log line of the request. */
  readonly about?: Readonly<Record<string, string>>;
}

/** Responds to writes: status, `Location`, `Consistency-Token`, `ETag`, and the resource with its warnings. */
@Injectable()
export class WriteResponder {
  constructor(
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
    @Inject(SETTINGS) private readonly settings: HttpSettings,
  ) {}

  /** @param ignored warnings about the request's body, which come first */
  async respond<Body extends object>(
    reply: FastifyReply,
    ignored: readonly Warning[],
    { body, position, version, warnings = [], status, location, about }: WrittenResource<Body>,
  ): Promise<WriteResponse<Body>> {
    if (about !== undefined) reply.request.about = about;
    await this.readYourWrites.wrote(reply, position);
    if (status !== undefined) reply.code(status);
    if (location !== undefined) reply.header('Location', `${this.settings.baseUrl}${location}`);
    if (version !== undefined) reply.header('ETag', etagOf(version));
    return { ...body, warnings: [...ignored, ...warnings] };
  }
}
