import { Controller, Get, HttpCode, Inject, Param, Post, Res } from '@nestjs/common';
import { ApiProperty, ApiResponse, ApiSchema, ApiTags } from '@nestjs/swagger';
import {
  DomainError,
  type FieldError,
  LINK_PURPOSES,
  type LinkPurpose,
  type Role,
  USER_ROLES,
  type User,
} from '@tracking/contracts';
import {
  RecordInAuditLog,
  type CommandIdAndTime,
  InjectCommandIdentity,
  parseBodyAndCollectFaults,
  createFieldError,
  createJsonBodyRule,
  DeclareServiceUnavailableOpenApiResponse,
  DeclareApiOperation,
  DeclareErrorResponse,
  InjectRequestBody,
  type RequestBodyToCheck,
  ANONYMOUS_JSON_BODY_BYTES,
  RESPONSE_TIME_SCHEMA,
  WriteResponder,
  type WriteResponse,
} from '@tracking/http';
import type { FastifyReply } from 'fastify';
import { IDENTITY_INJECTION_TOKEN, type IdentityHttpDependencies } from './dependencies.ts';
import { EmailProperty, IdentityNameProperty, NewPasswordProperty, UserWrittenResource } from './user.resource.ts';

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
  @ApiProperty({ description: 'Role of the user in the workspace.', enum: USER_ROLES })
  readonly role!: Role;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Time at which the link expires. UTC with milliseconds.' })
  readonly expires_at!: string;
}

@ApiSchema({ name: 'LinkUse' })
class LinkUseDto {
  @IdentityNameProperty({
    description: 'The name of the user. Required, except for a password reset.',
    example: 'Jo Doe',
    nullable: true,
  })
  name?: string | null;

  @NewPasswordProperty({
    description:
      'Password of 10 to 200 characters. Must not be the e-mail address or one of the most common passwords.',
  })
  password!: string;

  @EmailProperty({
    description: 'E-mail address of the first admin, used to sign in. Ignored for other users.',
    example: 'jo@example.com',
    nullable: true,
  })
  email?: string | null;
}

const DeclareInvalidLinkResponse = () =>
  DeclareErrorResponse(404, 'The link is unknown, expired, used or replaced. Links are valid for 7 days.');

/** One-time links of invitations, of the first admin and of password resets. The routes need no credentials. */
@ApiTags('One-time links')
@Controller('v1/invitations')
export class InvitationsController {
  constructor(
    @Inject(IDENTITY_INJECTION_TOKEN) private readonly identity: IdentityHttpDependencies['identity'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
  ) {}

  @Get(':token')
  @DeclareApiOperation('getInvitation', { summary: 'Get the purpose of a one-time link' })
  @ApiResponse({ status: 200, description: 'The purpose of the link.', type: InvitationResource })
  @DeclareInvalidLinkResponse()
  @DeclareServiceUnavailableOpenApiResponse()
  async getInvitation(@Param('token') token: string): Promise<InvitationResource> {
    const { workspace_id, ...link } = await this.identity.links.getLinkDetails(token);
    const { id, name } = await this.identity.workspaces.getWorkspace(workspace_id);
    return { ...link, workspace: { id, name } };
  }

  @Post(':token')
  @HttpCode(200)
  @RecordInAuditLog('user.joined')
  @DeclareApiOperation('useInvitation', {
    summary: 'Use a one-time link: set the password and accept the invitation',
    description: 'The link can be used once. A refused request leaves it valid. Sign in afterwards.',
    body: LinkUseDto,
    acceptedBody: createJsonBodyRule(ANONYMOUS_JSON_BODY_BYTES),
    hasEtag: true,
  })
  @ApiResponse({ status: 200, description: 'The user.', type: UserWrittenResource })
  @DeclareInvalidLinkResponse()
  @DeclareServiceUnavailableOpenApiResponse()
  @DeclareErrorResponse(429, 'Too many requests with an Idempotency-Key from this address; see Retry-After.')
  @DeclareErrorResponse(409, 'For the first admin: a user with this e-mail address exists already.')
  async redeemInvitation(
    @Param('token') token: string,
    @InjectRequestBody() sent: RequestBodyToCheck,
    @InjectCommandIdentity() identified: CommandIdAndTime,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<User>> {
    const { value, throwRequestBodyErrorsOrListWarnings: accept } = parseBodyAndCollectFaults(
      LinkUseDto,
      UserWrittenResource,
      sent,
    );
    const { name, password, email } = value;
    const use = { name: name ?? undefined, password, email: email ?? undefined };
    const warnings = accept(await this.listMissingFieldsForLinkUse(token, value));
    const used = await this.identity.links.redeemOneTimeLink(identified, token, use);
    return this.responder.auditChangeAndRespond(reply, warnings, used);
  }

  /** Returns a fault for each field that the purpose of the link requires. Reports no invalid link. */
  private async listMissingFieldsForLinkUse(
    token: string,
    { name, email }: LinkUseDto,
  ): Promise<readonly FieldError[]> {
    const link = await this.identity.links.getLinkDetails(token).catch((error: unknown) => {
      if (error instanceof DomainError) return undefined;
      throw error;
    });
    const isMissing = (param: string) => createFieldError(param, 'required', 'Is required.');
    return [
      ...(link !== undefined && link.purpose !== 'password_reset' && name == null ? isMissing('name') : []),
      ...(link?.purpose === 'first_admin' && email == null ? isMissing('email') : []),
    ];
  }
}

/** Returns the URL of a one-time link. Browsers do not send its fragment to servers, so no log contains the token. */
export function createOneTimeLinkUrl(appUrl: string, token: string): string {
  return `${appUrl}/invitation#${token}`;
}
