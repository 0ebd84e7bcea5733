import { Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import {
  type CredentialsOwner,
  DomainError,
  type Page,
  type Principal,
  type Timestamp,
  type Warning,
} from '@tracking/contracts';
import {
  RecordInAuditLog,
  RequestBodyValidationPipe,
  getCommandIdentity,
  PageCursorCodec,
  readEnvironmentOfRequest,
  computeContentEtag,
  createInvalidRequestError,
  createJsonBodyRule,
  DeclareServiceUnavailableOpenApiResponse,
  BODY_IGNORING_PIPE,
  createNotFoundError,
  DeclareApiOperation,
  PageDto,
  requirePrincipal,
  type RequestBodyWithWarnings,
  readListPageByTextPosition,
  DeclareErrorResponse,
  getRequestScope,
  InjectRequestBody,
  SessionCookie,
  ANONYMOUS_JSON_BODY_BYTES,
  reportChangeForAudit,
  createUnauthenticatedError,
  WriteResponder,
  type WriteResponse,
} from '@tracking/http';
import type { StartedSession, IdentityCommand } from '@tracking/identity';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { IDENTITY_INJECTION_TOKEN, type IdentityHttpDependencies } from './dependencies.ts';
import { InjectIdentityCommand } from './identity-command-of.ts';
import {
  CredentialsHolderResource,
  OwnNameDto,
  PasswordChangedResource,
  PasswordChangeDto,
  SessionEndedResource,
  SessionPageResource,
  type SessionResource,
  SignedInResource,
  SignInDto,
} from './session.resource.ts';
import { KnownSignInDevices, SignInThrottle } from './sign-in-throttle.ts';

type SessionEnded = WriteResponse<{ readonly id: string; readonly deleted: true }>;

const SESSION_ENDED_MESSAGE =
  'The session that this request started has ended. To start another one, sign in with another Idempotency-Key.';
const SET_COOKIE_HEADER_DOCS = {
  'Set-Cookie': { description: 'The session cookie.', schema: { type: 'string' as const } },
};

@ApiTags('Session')
@Controller('v1')
export class SessionController {
  @Inject(IDENTITY_INJECTION_TOKEN) private readonly identity!: IdentityHttpDependencies['identity'];
  @Inject(SignInThrottle) private readonly throttle!: SignInThrottle;
  @Inject(KnownSignInDevices) private readonly origins!: KnownSignInDevices;
  @Inject(SessionCookie) private readonly cookie!: SessionCookie;
  @Inject(WriteResponder) private readonly responder!: WriteResponder;
  @Inject(PageCursorCodec) private readonly cursors!: PageCursorCodec;

  @Post('session')
  @HttpCode(200)
  @DeclareApiOperation('signIn', {
    summary: 'Sign in',
    description:
      'Needs the header `X-Requested-With`, with any value. A repeat with the same `Idempotency-Key` returns the same session. After the session has ended, a repeat gets 401 `invalid_credentials`.',
    body: SignInDto,
    acceptedBody: createJsonBodyRule(ANONYMOUS_JSON_BODY_BYTES),
    beginsSession: true,
    hasEtag: true,
  })
  @ApiResponse({
    status: 200,
    description:
      'The user is signed in. One `Set-Cookie` header contains the session cookie, another one the cookie of the known device.',
    type: SignedInResource,
    headers: SET_COOKIE_HEADER_DOCS,
  })
  @DeclareErrorResponse(401, 'No active user has this e-mail address and password.')
  @DeclareErrorResponse(403, 'The request comes from another site, or lacks `X-Requested-With`.')
  @DeclareErrorResponse(429, 'Too many attempts with this e-mail address or from this IP address; see Retry-After.')
  @DeclareServiceUnavailableOpenApiResponse()
  async signIn(
    @InjectRequestBody(new RequestBodyValidationPipe(SignInDto, SignedInResource))
    { value, warnings }: RequestBodyWithWarnings<SignInDto>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<CredentialsOwner>> {
    const { request } = reply;
    const environment = readEnvironmentOfRequest(request);
    const { email, password, workspace } = value;
    const { device, client } = this.origins.recognizeKnownSignInDevice(request, email);
    await this.throttle.countSignInAttempt(email, { address: request.ip, device });
    const command = getCommandIdentity(request);
    const begun = await this.identity.signIn(command, {
      email,
      password,
      workspace: workspace ?? undefined,
      client,
      request_id: request.id,
      address: request.ip,
      user_agent: request.headers['user-agent'],
    });
    const principal = await this.identity.authenticateSession(begun.token, environment);
    // Refuse a repeated sign-in whose session was ended or whose user was deactivated.
    if (!principal) throw new DomainError('invalid_credentials', SESSION_ENDED_MESSAGE);
    request.principal = principal;
    const holder = await this.readCredentialsOwner(principal, reply);
    this.setCookie(reply, begun);
    reply.header('Set-Cookie', this.origins.rememberSignInDevice(request, email, command));
    return this.responder.respondToWrite(reply, warnings, { body: holder });
  }

  @Get('session')
  @DeclareApiOperation('getSession', {
    summary: 'Get the signed-in user or service account',
    conditional: 'read',
  })
  @ApiResponse({
    status: 200,
    description: 'The holder of the session or key, with the workspace and permissions.',
    type: CredentialsHolderResource,
  })
  async getSession(@Res({ passthrough: true }) reply: FastifyReply): Promise<CredentialsOwner> {
    return this.readCredentialsOwner(requirePrincipal(reply.request), reply);
  }

  @Patch('session')
  @DeclareApiOperation('changeOwnName', { summary: 'Change your name', body: OwnNameDto, hasEtag: true })
  @ApiResponse({ status: 200, description: 'The holder of the session, with the new name.', type: SignedInResource })
  @RecordInAuditLog('user.changed')
  async changeName(
    @InjectRequestBody(new RequestBodyValidationPipe(OwnNameDto, SignedInResource))
    { value: { name }, warnings }: RequestBodyWithWarnings<OwnNameDto>,
    @InjectIdentityCommand() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<CredentialsOwner>> {
    const { request } = reply;
    reportChangeForAudit(request, await this.identity.users.changeUser(command, command.actor.id, { name }));
    return this.responder.respondToWrite(reply, warnings, {
      body: await this.readCredentialsOwner(requirePrincipal(request), reply),
    });
  }

  @Delete('session')
  @DeclareApiOperation('signOut', { summary: 'Sign out' })
  @ApiResponse({
    status: 200,
    description: 'The session has ended and its cookie is removed.',
    type: SessionEndedResource,
    headers: SET_COOKIE_HEADER_DOCS,
  })
  @DeclareErrorResponse(404, 'The request was made with an API key, not with a session.')
  @RecordInAuditLog('session.ended')
  async signOut(
    @InjectRequestBody(BODY_IGNORING_PIPE) warnings: readonly Warning[],
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionEnded> {
    const { type, credential_id } = requirePrincipal(reply.request);
    if (type !== 'session') throw createNotFoundError('session: the request was made with an API key');
    const ended = await this.endSessionById(credential_id, warnings, reply);
    reply.header('Set-Cookie', this.cookie.formatRemoveCookie());
    return ended;
  }

  @Post('session/password')
  @HttpCode(200)
  @DeclareApiOperation('changePassword', {
    summary: 'Change your password',
    description:
      'Ends all sessions of the user. A request with a session gets a new cookie for its session. If the response is lost, sign in with the new password.',
    body: PasswordChangeDto,
  })
  @ApiResponse({
    status: 200,
    description: 'The password is changed. For a request with a session, `Set-Cookie` contains the new session cookie.',
    type: PasswordChangedResource,
    headers: SET_COOKIE_HEADER_DOCS,
  })
  @RecordInAuditLog('user.password_changed')
  async changePassword(
    @InjectRequestBody(new RequestBodyValidationPipe(PasswordChangeDto, PasswordChangedResource))
    { value, warnings }: RequestBodyWithWarnings<PasswordChangeDto>,
    @InjectIdentityCommand() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<{ readonly changed_at: Timestamp }>> {
    const { request } = reply;
    const { actor, type, credential_id } = requirePrincipal(request);
    await this.throttle.countPasswordChangeAttempt(actor.id);
    const { current_password, new_password } = value;
    const { sessions_epoch: epoch } = await this.identity.userPasswords
      .changePassword(command, actor.id, { current_password, new_password })
      .catch(throwAsPasswordFieldError);
    if (type === 'session') {
      const renewed = await this.identity.sessions.replaceSessionTokenForNewEpoch(command, {
        id: credential_id,
        epoch,
      });
      if (renewed) this.setCookie(reply, renewed);
    }
    reportChangeForAudit(request, { before: null, after: {} }, actor.id);
    return this.responder.respondToWrite(reply, warnings, { body: { changed_at: command.at } });
  }

  @Get('sessions')
  @DeclareApiOperation('listSessions', { summary: 'List your sessions, newest first', query: PageDto })
  @ApiResponse({ status: 200, description: 'A page of sessions.', type: SessionPageResource })
  async listSessions(@Query() query: PageDto, @Req() request: FastifyRequest): Promise<Page<SessionResource>> {
    const { actor, credential_id } = requirePrincipal(request);
    const listing = {
      list: `sessions of ${actor.id}`,
      scope: getRequestScope(request),
      filter: {},
      sort: '-created_at',
    };
    return readListPageByTextPosition(query, listing, this.cursors, async (asked) => {
      const found = await this.identity.sessions.listSessions(actor.id, asked);
      return { ...found, items: found.items.map((each) => ({ ...each, current: each.id === credential_id })) };
    });
  }

  @Delete('sessions/:id')
  @DeclareApiOperation('endSession', { summary: 'End one of your sessions' })
  @ApiResponse({ status: 200, description: 'Ended.', type: SessionEndedResource })
  @DeclareErrorResponse(404, 'You have no such session.')
  @RecordInAuditLog('session.ended')
  endSession(
    @Param('id') id: string,
    @InjectRequestBody(BODY_IGNORING_PIPE) warnings: readonly Warning[],
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionEnded> {
    return this.endSessionById(id, warnings, reply);
  }

  private async endSessionById(id: string, ignored: readonly Warning[], reply: FastifyReply): Promise<SessionEnded> {
    const { actor } = requirePrincipal(reply.request);
    const { device, address } = await this.identity.sessions.endSession(actor.id, id);
    reportChangeForAudit(reply.request, { before: { device, address }, after: null }, id);
    return this.responder.respondToWrite(reply, ignored, { body: { id, deleted: true } });
  }

  private setCookie(reply: FastifyReply, { token, session }: StartedSession): void {
    reply.header('Set-Cookie', this.cookie.formatSetCookie(token, new Date(session.expires_at)));
  }

  /**
   * Returns the holder of the credentials and sets the ETag. The ETag is computed from the content, because the
   * response combines several resources.
   */
  private async readCredentialsOwner(principal: Principal, reply: FastifyReply): Promise<CredentialsOwner> {
    const holder = await this.identity.findCredentialsHolder(principal);
    if (!holder) throw createUnauthenticatedError('invalid_session', 'The session or key has ended.');
    reply.header('ETag', computeContentEtag(holder));
    return holder;
  }
}

/** Report a wrong current password as an invalid field, because the caller is already signed in. */
function throwAsPasswordFieldError(error: unknown): never {
  if (!(error instanceof DomainError && error.code === 'invalid_credentials')) throw error;
  throw createInvalidRequestError([
    { param: 'current_password', code: 'invalid_value', message: 'Is not your current password.' },
  ]);
}
