import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import { getCommandIdentity, getExpectedVersions, requirePrincipal } from '@tracking/http';
import type { IdentityCommand } from '@tracking/identity';
import type { FastifyRequest } from 'fastify';

/**
 * Parameter of a handler: the {@link IdentityCommand} that the request asks for. `If-Match` becomes the versions that the
 * changed record may have.
 */
export const InjectIdentityCommand = createParamDecorator(
  (_data: unknown, context: ExecutionContext): IdentityCommand => {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { workspace_id, actor } = requirePrincipal(request);
    const if_match = getExpectedVersions(request);
    return { ...getCommandIdentity(request), actor, workspace_id, ...(if_match && { if_match }) };
  },
);
