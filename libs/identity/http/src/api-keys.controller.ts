import { Controller, Get, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { ApiKey, KeyOwner, CreatedApiKeyWithSecret, Page, Principal, Warning } from '@tracking/contracts';
import {
  RecordInAuditLog,
  RequestBodyValidationPipe,
  PageCursorCodec,
  BODY_IGNORING_PIPE,
  DeclareApiOperation,
  PageDto,
  InjectRequestBody,
  WriteResponder,
  formatEtag,
  createFieldError,
  createInvalidRequestError,
  requirePrincipal,
  readListPageByTextPosition,
  DeclareErrorResponse,
  getRequestScope,
  reportChangeForAudit,
} from '@tracking/http';
import type { RequestBodyWithWarnings, WriteResponse } from '@tracking/http';
import { getKeyAccessOfPrincipal } from '@tracking/identity';
import type { IdentityCommand } from '@tracking/identity';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  ApiKeyCreatedResource,
  ApiKeyDto,
  ApiKeyPageResource,
  ApiKeyResource,
  ApiKeyWrittenResource,
  RotateApiKeyDto,
} from './api-key.resource.ts';
import type { IdentityHttpDependencies } from './dependencies.ts';
import { InjectIdentityCommand } from './identity-command-of.ts';
import { IDENTITY_INJECTION_TOKEN } from './dependencies.ts';

const DeclareKeyNotFoundResponse = () =>
  DeclareErrorResponse(404, 'The workspace has no such key, or you have no access to it.');
const API_KEY_BODY_PIPE = new RequestBodyValidationPipe(ApiKeyDto, ApiKeyCreatedResource, ({ expires_at }, at) =>
  expires_at != null && expires_at <= at
    ? createFieldError('expires_at', 'invalid_value', 'Must be in the future.')
    : [],
);
const KEY_ROTATION_BODY_PIPE = new RequestBodyValidationPipe(RotateApiKeyDto, ApiKeyCreatedResource);

@ApiTags('API keys')
@Controller('v1/api_keys')
export class ApiKeysController {
  constructor(
    @Inject(IDENTITY_INJECTION_TOKEN) private readonly identity: IdentityHttpDependencies['identity'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
    @Inject(PageCursorCodec) private readonly cursors: PageCursorCodec,
  ) {}

  @Post()
  @RecordInAuditLog('api_key.created')
  @DeclareApiOperation('createApiKey', {
    summary: 'Create an API key for yourself or a service account',
    description:
      'Keys of service accounts need `keys:manage`, and `workspace:admin` if the role of the account exceeds yours in the environment of the key. A test key can create only test keys.',
    body: ApiKeyDto,
  })
  @ApiResponse({
    status: 201,
    description: 'The created key. The response is the only one that contains the key itself.',
    type: ApiKeyCreatedResource,
  })
  @DeclareErrorResponse(404, 'No such service account in this workspace.')
  @DeclareErrorResponse(409, 'The service account is deactivated, or the owner has too many keys.')
  async createKey(
    @InjectRequestBody(API_KEY_BODY_PIPE) { value, warnings }: RequestBodyWithWarnings<ApiKeyDto>,
    @InjectIdentityCommand() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<CreatedApiKeyWithSecret>> {
    const principal = requirePrincipal(reply.request);
    const { name, environment, expires_at, service_account_id } = value;
    const request = {
      name,
      environment,
      owner: getOwnerOfNewKey(principal, service_account_id),
      expires_at: expires_at ?? null,
    };
    const change = await this.identity.keys.createKey(command, getKeyAccessOfPrincipal(principal), request);
    return this.responder.auditChangeAndRespond(reply, warnings, change, `/v1/api_keys/${change.after.id}`);
  }

  @Get()
  @DeclareApiOperation('listApiKeys', {
    summary: 'List the API keys that you can access, newest first',
    description:
      'Lists your own keys. With `keys:manage`, the list also contains keys of service accounts whose role is not admin. With `workspace:admin`, the list contains all keys. The list never contains the keys themselves.',
    query: PageDto,
  })
  @ApiResponse({ status: 200, description: 'A page of keys.', type: ApiKeyPageResource })
  async listKeys(@Query() query: PageDto, @Req() request: FastifyRequest): Promise<Page<ApiKey>> {
    const scope = getRequestScope(request);
    const reach = getKeyAccessOfPrincipal(requirePrincipal(request));
    const listing = { list: 'api keys', scope, filter: { ...reach }, sort: '-created_at' };
    return readListPageByTextPosition(query, listing, this.cursors, (asked) =>
      this.identity.keys.listKeys(scope.workspace_id, reach, asked),
    );
  }

  @Get(':id')
  @DeclareApiOperation('getApiKey', { summary: 'Get an API key, without the key itself', conditional: 'read' })
  @ApiResponse({ status: 200, description: 'The key.', type: ApiKeyResource })
  @DeclareKeyNotFoundResponse()
  async getApiKey(@Param('id') id: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<ApiKey> {
    const principal = requirePrincipal(reply.request);
    const key = await this.identity.keys.findAccessibleApiKeyOrThrow(
      principal.workspace_id,
      getKeyAccessOfPrincipal(principal),
      id,
    );
    reply.header('ETag', formatEtag(key.version));
    return key;
  }

  @Post(':id/rotate')
  @HttpCode(201)
  @RecordInAuditLog('api_key.rotated')
  @DeclareApiOperation('rotateApiKey', {
    summary: 'Rotate an API key',
    description:
      'Creates a key with the same owner, environment and expiry. The old key expires at the end of the grace period.',
    body: RotateApiKeyDto,
    bodyMayBeOmitted: true,
    conditional: 'write',
  })
  @ApiResponse({
    status: 201,
    description: 'The new key. The response is the only one that contains the key itself.',
    type: ApiKeyCreatedResource,
  })
  @DeclareKeyNotFoundResponse()
  @DeclareErrorResponse(
    409,
    'The key was rotated or revoked or has expired, or its owner is deactivated or has too many keys for a grace period.',
  )
  async rotateKey(
    @Param('id') id: string,
    @InjectRequestBody(KEY_ROTATION_BODY_PIPE)
    { value: { grace_seconds }, warnings }: RequestBodyWithWarnings<RotateApiKeyDto>,
    @InjectIdentityCommand() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<CreatedApiKeyWithSecret>> {
    const reach = getKeyAccessOfPrincipal(requirePrincipal(reply.request));
    const { made, old } = await this.identity.keys.rotateKey(command, reach, id, grace_seconds ?? 0);
    reportChangeForAudit(reply.request, old);
    const location = `/v1/api_keys/${made.id}`;
    return this.responder.respondToWrite(reply, warnings, { body: made, version: made.version, location });
  }

  @Post(':id/revoke')
  @HttpCode(200)
  @RecordInAuditLog('api_key.revoked')
  @DeclareApiOperation('revokeApiKey', {
    summary: 'Revoke an API key',
    description:
      'The key stops working within 5 seconds, permanently. Admins can also revoke keys of other users. Revoking a revoked key changes nothing.',
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The key.', type: ApiKeyWrittenResource })
  @DeclareKeyNotFoundResponse()
  async revokeKey(
    @Param('id') id: string,
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @InjectIdentityCommand() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ApiKey>> {
    const reach = getKeyAccessOfPrincipal(requirePrincipal(reply.request));
    const change = await this.identity.keys.revokeKey(command, reach, id);
    return this.responder.auditChangeAndRespond(reply, ignored, change);
  }
}

/** @throws RequestError if no owner is named */
function getOwnerOfNewKey(principal: Principal, serviceAccountId: string | null | undefined): KeyOwner {
  if (serviceAccountId) return { type: 'service_account', id: serviceAccountId };
  if (principal.type !== 'service_account_key') return principal.actor;
  const message = 'Is required if the request uses a key of a service account, which cannot have keys of its own.';
  throw createInvalidRequestError(createFieldError('service_account_id', 'required', message));
}
