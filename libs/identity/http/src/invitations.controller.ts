import { Controller, Get, HttpCode, Inject, Param, Post, Res } from '@nestjs/common';
import { ApiProperty, ApiResponse, ApiSchema, ApiTags } from '@nestjs/swagger';
import { LINK_PURPOSES, type LinkPurpose, type Role, ROLES, type User } from '@tracking/contracts';
import {
  Audited,
  BodyPipe,
  type CommandIdentity,
  CurrentCommandIdentity,
  jsonBody,
  MayBeUnavailable,
  Operation,
  Password,
  type ReadBody,
  refusal,
  SentBody,
  ANONYMOUS_JSON_BODY_BYTES,
  Text,
  TIME,
  WriteResponder,
  type WriteResponse,
} from '@tracking/http';
import type { FastifyReply } from 'fastify';
import { IDENTITY, type IdentityHttpDependencies } from './dependencies.ts';
import { Email, UserWrittenResource } from './user.resource.ts';

@ApiSchema({ name: 'InvitingWorkspace' })
class InvitingWorkspaceResource {
  @ApiProperty({ description: 'Service-assigned identifier.' })
  readonly id!: string;
  @ApiProperty({ description: 'Name of the workspace.' })
  readonly name!: string;
}

@ApiSchema({ name: 'Invitation' })
class InvitationResource {
  @ApiProperty({ description: 'Purpose of the link.', enum: LINK_PURPOSES })
  readonly purpose!: LinkPurpose;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'E-mail address of the user; null for the first admin, who enters one.',
  })
  readonly email!: string | null;
  @ApiProperty({ type: InvitingWorkspaceResource, description: 'Workspace of the user.' })
  readonly workspace!: InvitingWorkspaceResource;
  @ApiProperty({ description: 'Role of the user in the workspace.', enum: ROLES })
  readonly role!: Role;
  @ApiProperty({ ...TIME, description: 'Time at which the link expires. UTC with milliseconds.' })
  readonly expires_at!: string;
}

@ApiSchema({ name: 'LinkUse' })
class LinkUseDto {
  @Text({
    description: 'The name of the user. Required, except for a password reset.',
    example: 'Jo Doe',
    required: false,
  })
  name?: string;

  @Password({
    description:
      'Password of 10 to 200 characters. Must not be the e-mail address or one of the most common passwords.',
  })
  password!: string;

  @Email({
    description: 'E-mail address of the first admin, used to sign in. Ignored for other users.',
    example: 'jo@example.com',
    nullable: true,
  })
  email?: string | null;
}

const MayBeInvalidLink = () =>
  refusal(404, 'The link is unknown, expired, used or replaced. Links are valid for 7 days.');
const LINK_USE_BODY = new BodyPipe(LinkUseDto, UserWrittenResource);

/** One-time links of invitations, of the first admin and of password resets. The routes need no credentials. */
@ApiTags('One-time links')
@Controller('v1/invitations')
export class InvitationsController {
  constructor(
    @Inject(IDENTITY) private readonly identity: IdentityHttpDependencies['identity'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
  ) {}

  @Get(':token')
  @Operation('getInvitation', { summary: 'Get the purpose of a one-time link' })
  @ApiResponse({ status: 200, description: 'The purpose of the link.', type: InvitationResource })
  @MayBeInvalidLink()
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
    summary: 'Use a one-time link: set the password and accept the invitation',
    description: 'The link can be used once. A refused request leaves it valid. Sign in afterwards.',
    body: LinkUseDto,
    acceptedBody: jsonBody(ANONYMOUS_JSON_BODY_BYTES),
    hasEtag: true,
  })
  @ApiResponse({ status: 200, description: 'The user.', type: UserWrittenResource })
  @MayBeInvalidLink()
  @MayBeUnavailable()
  @refusal(429, 'Too many requests with an Idempotency-Key from this address; see Retry-After.')
  @refusal(409, 'For the first admin: a user with this e-mail address exists already.')
  async use(
    @Param('token') token: string,
    @SentBody(LINK_USE_BODY) { value: { name, password, email }, warnings }: ReadBody<LinkUseDto>,
    @CurrentCommandIdentity() identified: CommandIdentity,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<User>> {
    const used = await this.identity.links.use(identified, token, { name, password, email: email ?? undefined });
    return this.responder.respondToChange(reply, warnings, used);
  }
}

/** Returns the URL of a one-time link. Browsers do not send its fragment to servers, so no log contains the token. */
export function linkAddress(appUrl: string, token: string): string {
  return `${appUrl}/invitation#${token}`;
}
