import { Controller, Get, HttpCode, Inject, Param, Post, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { User } from '@tracking/contracts';
import {
  Audited,
  BodyPipe,
  Identified,
  MayBeUnavailable,
  Operation,
  STRANGERS_BODY_LIMIT,
  SentBody,
  WriteResponder,
  json,
  refusal,
  tellAudit,
} from '@tracking/http';
import type { CommandIdentity, ReadBody, WriteResponse } from '@tracking/http';
import type { FastifyReply } from 'fastify';
import type { IdentityHttpDependencies } from './dependencies.ts';
import { InvitationResource, LinkUseDto } from './invitation.resource.ts';
import { UserWrittenResource } from './user.resource.ts';
import { IDENTITY } from './dependencies.ts';

const NotGood = () => refusal(404, 'The link was used or replaced, is older than 7 days, or never was.');
const USE = new BodyPipe(LinkUseDto, UserWrittenResource);

/** One-time links: invitations, the first admin's, forgotten passwords. Who holds one needs nothing else. */
@ApiTags('One-time links')
@Controller('v1/invitations')
export class InvitationsController {
  constructor(
    @Inject(IDENTITY) private readonly identity: IdentityHttpDependencies['identity'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
  ) {}

  @Get(':token')
  @Operation('getInvitation', { summary: 'What a one-time link is for' })
  @ApiResponse({ status: 200, description: 'What it is for.', type: InvitationResource })
  @NotGood()
  @MayBeUnavailable()
  async get(@Param('token') token: string): Promise<InvitationResource> {
    const { workspace_id, ...link } = await this.identity.links.find(token);
    const { id, name } = await this.identity.workspaces.get(workspace_id);
    return { ...link, workspace: { id, name } };
  }

  @Post(':token')
  @HttpCode(200)
  @Audited('user.joined')
  @Operation('useInvitation', {
    summary: 'Set the password, and accept where it is an invitation; sign in then',
    description: 'It is good once. What is refused leaves it good.',
    body: LinkUseDto,
    takes: json(STRANGERS_BODY_LIMIT),
  })
  @ApiResponse({ status: 200, description: 'The user.', type: UserWrittenResource })
  @NotGood()
  @MayBeUnavailable()
  @refusal(429, 'Too many requests with an Idempotency-Key from this address; see Retry-After.')
  @refusal(409, 'Of the first admin: there is a user with this e-mail already.')
  async use(
    @Param('token') token: string,
    @SentBody(USE) { value: { name, password, email }, warnings }: ReadBody<LinkUseDto>,
    @Identified() identified: CommandIdentity,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<User>> {
    const used = await this.identity.links.use(identified, token, { name, password, email: email ?? undefined });
    tellAudit(reply.request, used);
    return this.responder.respond(reply, warnings, { body: used.after, version: used.after.version });
  }
}
