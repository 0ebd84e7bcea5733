import { Inject, Injectable, SetMetadata, UseInterceptors, applyDecorators } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { AuditType } from '@tracking/contracts';
import type { FastifyRequest } from 'fastify';
import { type Observable, defer, lastValueFrom } from 'rxjs';
import { AuditTrail } from './audit-trail.ts';
import type { AuditedBy } from './audit-trail.ts';

const AUDITED = 'audited';

/** Under which a module tells who makes its requests. */
export const AUDITED_BY = Symbol('audited by');

/** Who makes a request; undefined where it names no workspace, so that nothing of it can be changed. */
export type AuditedByRequest = (request: FastifyRequest) => Promise<AuditedBy | undefined>;

/** Anything else may be a key that somebody took for an id: it would be stored. */
const ID_FORM = /^[a-z]{3}_[0-9a-z]{1,60}$/;

@Injectable()
class AuditInterceptor implements NestInterceptor {
  constructor(
    @Inject(AuditTrail) private readonly trail: AuditTrail,
    @Inject(AUDITED_BY) private readonly auditedBy: AuditedByRequest,
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const type = this.reflector.get<AuditType>(AUDITED, context.getHandler());
    return defer(async () => {
      const handle = () => lastValueFrom(next.handle(), { defaultValue: undefined });
      const by = await this.auditedBy(request);
      if (!by) return handle();
      const { id = null } = request.params as { readonly id?: string };
      const target = id !== null && ID_FORM.test(id) ? id : null;
      return this.trail.during(request, { type: by.type ?? type, by, target }, handle);
    });
  }
}

/**
 * Every change that the handler makes is in the audit log, as of this type; its target is what the path's `:id` names, or
 * what the handler tells with `tellAudit`. The entry is stored before the handler and its pipes run: ADR 0023.
 */
export function Audited(type: AuditType): MethodDecorator {
  return applyDecorators(SetMetadata(AUDITED, type), UseInterceptors(AuditInterceptor));
}
