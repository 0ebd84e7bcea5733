import { Controller, Get, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { ApiKey, KeyOwner, NewApiKey, Page, Principal, Warning } from '@tracking/contracts';
import {
  Audited,
  BodyPipe,
  Cursors,
  NO_BODY,
  Operation,
  OptionalBodyPipe,
  PageDto,
  SETTINGS,
  SentBody,
  etagOf,
  fault,
  invalidRequest,
  principalOf,
  recordPage,
  refusal,
  scopeOf,
} from '@tracking/http';
import type { ReadBody } from '@tracking/http';
import { keyReachOf } from '@tracking/identity';
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
import { IdentityWrites } from './identity-writes.ts';
import type { WithWarnings } from './identity-writes.ts';
import { IDENTITY } from './dependencies.ts';

const Unknown = () => refusal(404, 'No such key in this workspace, or none that you may see.');
const FIELDS = new BodyPipe(ApiKeyDto, ApiKeyCreatedResource);
const ROTATION = new OptionalBodyPipe(RotateApiKeyDto, ApiKeyCreatedResource);

@ApiTags('API keys')
@Controller('v1/api_keys')
export class ApiKeysController {
  constructor(
    @Inject(IDENTITY) private readonly identity: IdentityHttpDependencies['identity'],
    @Inject(IdentityWrites) private readonly writes: IdentityWrites,
    @Inject(Cursors) private readonly cursors: Cursors,
    @Inject(SETTINGS) private readonly settings: IdentityHttpDependencies['settings'],
  ) {}

  @Post()
  @Audited('api_key.created')
  @Operation('createApiKey', {
    summary: 'Make a key of your own, or of a service account',
    description:
      'Those of service accounts need `keys:manage`; of one that is an admin, `workspace:admin`. A key for tests makes keys for tests alone.',
    body: ApiKeyDto,
  })
  @ApiResponse({ status: 201, description: 'Made; the key is shown here only.', type: ApiKeyCreatedResource })
  @refusal(404, 'No such service account in this workspace.')
  @refusal(409, 'The service account is deactivated.')
  async create(
    @SentBody(FIELDS) { value, warnings }: ReadBody<ApiKeyDto>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WithWarnings<NewApiKey>> {
    const principal = principalOf(reply.request);
    const { name, environment, expires_at, service_account_id } = value;
    const request = {
      name,
      environment,
      owner: ownerOf(principal, service_account_id),
      expires_at: expires_at ?? null,
    };
    const made = await this.writes.write<NewApiKey>(reply, warnings, (command) =>
      this.identity.keys.create(command, keyReachOf(principal), request),
    );
    return this.located(reply, made);
  }

  @Get()
  @Operation('listApiKeys', {
    summary: 'List the keys that you may see, the newest first',
    description:
      'Your own; with `keys:manage` those of service accounts that are no admins; with `workspace:admin` all. Never the keys themselves.',
    query: PageDto,
  })
  @ApiResponse({ status: 200, description: 'A page of keys.', type: ApiKeyPageResource })
  async list(@Query() query: PageDto, @Req() request: FastifyRequest): Promise<Page<ApiKey>> {
    const scope = scopeOf(request);
    const reach = keyReachOf(principalOf(request));
    const listing = { list: 'api keys', scope, filter: { ...reach }, sort: '-created_at' };
    return recordPage(query, listing, this.cursors, (asked) =>
      this.identity.keys.list(scope.workspace_id, reach, asked),
    );
  }

  @Get(':id')
  @Operation('getApiKey', { summary: 'Get a key, but not the key itself', conditional: 'read' })
  @ApiResponse({ status: 200, description: 'The key.', type: ApiKeyResource })
  @Unknown()
  async get(@Param('id') id: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<ApiKey> {
    const principal = principalOf(reply.request);
    const key = await this.identity.keys.get(principal.workspace_id, keyReachOf(principal), id);
    reply.header('ETag', etagOf(key.version));
    return key;
  }

  @Post(':id/rotate')
  @HttpCode(201)
  @Audited('api_key.rotated')
  @Operation('rotateApiKey', {
    summary: 'Make a key in the place of another',
    description: 'Of the same owner, environment and end. The old key expires when the grace ends.',
    body: RotateApiKeyDto,
    bodyMayBeOmitted: true,
    conditional: 'write',
  })
  @ApiResponse({ status: 201, description: 'The new key, shown here only.', type: ApiKeyCreatedResource })
  @Unknown()
  @refusal(409, 'The key was rotated or revoked, or has expired; or its owner is deactivated.')
  async rotate(
    @Param('id') id: string,
    @SentBody(ROTATION) { value: { grace_seconds }, warnings }: ReadBody<RotateApiKeyDto>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WithWarnings<NewApiKey>> {
    const reach = keyReachOf(principalOf(reply.request));
    const made = await this.writes.write<NewApiKey>(reply, warnings, async (command) => {
      const rotated = await this.identity.keys.rotate(command, reach, id, grace_seconds ?? 0);
      return { before: null, after: rotated.made, audited: rotated.old };
    });
    return this.located(reply, made);
  }

  @Post(':id/revoke')
  @HttpCode(200)
  @Audited('api_key.revoked')
  @Operation('revokeApiKey', {
    summary: 'End a key for good, within 5 seconds',
    description: 'Admins may end those of other users too. A key that is revoked stays as it is.',
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The key.', type: ApiKeyWrittenResource })
  @Unknown()
  async revoke(
    @Param('id') id: string,
    @SentBody(NO_BODY) ignored: readonly Warning[],
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WithWarnings<ApiKey>> {
    const reach = keyReachOf(principalOf(reply.request));
    return this.writes.write(reply, ignored, (command) => this.identity.keys.revoke(command, reach, id));
  }

  private located<T extends ApiKey>(reply: FastifyReply, key: T): T {
    reply.header('Location', `${this.settings.baseUrl}/v1/api_keys/${key.id}`);
    return key;
  }
}

/** @throws RequestError where it is nobody's */
function ownerOf(principal: Principal, serviceAccountId: string | null | undefined): KeyOwner {
  if (serviceAccountId) return { type: 'service_account', id: serviceAccountId };
  if (principal.type !== 'service_account_key') return principal.actor;
  const message = "Is required of a key that is no user's: it has none of its own.";
  throw invalidRequest(fault('service_account_id', 'required', message));
}
