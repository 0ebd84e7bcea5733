import { Inject, Injectable } from '@nestjs/common';
import type { Warning } from '@tracking/contracts';
import type { Position } from '@tracking/ports';
import type { FastifyReply } from 'fastify';
import { type AuditedChange, reportChangeForAudit } from '../audit/audit-trail.ts';
import { type HttpSettings, SETTINGS_INJECTION_TOKEN } from '../http-feature.ts';
import { formatEtag } from '../preconditions/preconditions.ts';
import { ReadYourWrites } from './read-your-writes.ts';

export type WriteResponse<Body> = Body & { readonly warnings: readonly Warning[] };

/** A resource after a write, and the data about the write that the response shows. */
export interface WrittenResource<Body extends object> {
  readonly body: Body;
  /** Position of the write in the event store; undefined for a write outside the event store. */
  readonly position?: Position | undefined;
  /** Version in the `ETag`; undefined if the response has none. */
  readonly version?: number | undefined;
  readonly warnings?: readonly Warning[];
  /** HTTP status of the response; by default the status of the route. */
  readonly status?: number;
  /** Path of a resource that the write created. */
  readonly location?: string | undefined;
  /** Resource ids for the log line of the request. */
  readonly about?: Readonly<Record<string, string>>;
}

/** Responds to writes: status, `Location`, `Consistency-Token`, `ETag`, and the resource with its warnings. */
@Injectable()
export class WriteResponder {
  constructor(
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
    @Inject(SETTINGS_INJECTION_TOKEN) private readonly settings: HttpSettings,
  ) {}

  /** @param ignored warnings about the request's body, listed first */
  async respondToWrite<Body extends object>(
    reply: FastifyReply,
    ignored: readonly Warning[],
    { body, position, version, warnings = [], status, location, about }: WrittenResource<Body>,
  ): Promise<WriteResponse<Body>> {
    if (about !== undefined) reply.request.resourceIds = about;
    await this.readYourWrites.rememberWriteAndAddToken(reply, position);
    if (status !== undefined) reply.code(status);
    if (location !== undefined) reply.header('Location', `${this.settings.baseUrl}${location}`);
    if (version !== undefined) reply.header('ETag', formatEtag(version));
    return { ...body, warnings: [...ignored, ...warnings] };
  }

  /**
   * Reports a change for the audit log, and responds with the resource after it.
   * @param ignored warnings about the request's body
   * @param location path of a resource that the change created
   */
  auditChangeAndRespond<Body extends { readonly version: number }>(
    reply: FastifyReply,
    ignored: readonly Warning[],
    change: AuditedChange & { readonly after: Body },
    location?: string,
  ): Promise<WriteResponse<Body>> {
    reportChangeForAudit(reply.request, change);
    return this.respondToWrite(reply, ignored, { body: change.after, version: change.after.version, location });
  }
}
