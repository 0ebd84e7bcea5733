import { Controller, Get, Inject, Patch, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { DEFAULT_RULE_SETTINGS } from '@tracking/contracts';
import type { JsonObject, RuleSettings, Scope } from '@tracking/contracts';
import {
  Audited,
  Command,
  CurrentScope,
  IfMatch,
  Operation,
  SentBody,
  WriteResponder,
  etagOf,
  isObject,
  mergePatch,
  tellAudit,
} from '@tracking/http';
import type { CommandContext, ReadBody, WriteResponse } from '@tracking/http';
import type { FastifyReply } from 'fastify';
import type { IdentityHttpDependencies } from '../dependencies.ts';
import {
  SETTINGS_PATCH,
  WorkspaceSettingsChangesDto,
  WorkspaceSettingsResource,
  WorkspaceSettingsWrittenResource,
} from './settings.resource.ts';
import type { SettingsWithDefaults } from './settings.resource.ts';
import { WORKSPACE_SETTINGS } from '../dependencies.ts';

@ApiTags('Settings')
@Controller('v1/settings')
export class SettingsController {
  constructor(
    @Inject(WORKSPACE_SETTINGS) private readonly settings: IdentityHttpDependencies['workspaceSettings'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
  ) {}

  @Get()
  // No 304: `recheck` moves on while the version, and so the ETag, stays.
  @Operation('getSettings', { summary: 'Get the settings of the workspace, defaults included' })
  @ApiResponse({ status: 200, description: 'The settings, of live and test alike.', type: WorkspaceSettingsResource })
  async get(
    @CurrentScope() { workspace_id }: Scope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SettingsWithDefaults> {
    const settings = await this.settings.get(workspace_id);
    reply.header('ETag', etagOf(settings.version));
    return { ...settings, defaults: DEFAULT_RULE_SETTINGS };
  }

  @Patch()
  @Operation('changeSettings', {
    summary: 'Change settings: what is left out stays, null brings back the default',
    description: 'A JSON merge patch (RFC 7396).',
    body: WorkspaceSettingsChangesDto,
    takes: mergePatch(),
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The settings.', type: WorkspaceSettingsWrittenResource })
  @Audited('settings.changed')
  async change(
    @SentBody(SETTINGS_PATCH) { value: patch, warnings }: ReadBody<JsonObject>,
    @Command() { id, at, actor, workspace_id }: CommandContext,
    @IfMatch() if_match: readonly number[] | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<SettingsWithDefaults>> {
    const { before, after } = await this.settings.change({ id, at, actor, workspace_id, patch, if_match });
    tellAudit(reply.request, { before: byPath(before), after: byPath(after) }, workspace_id);
    const body = { ...after, defaults: DEFAULT_RULE_SETTINGS };
    return this.responder.respond(reply, warnings, { body, version: after.version });
  }
}

/** Each single setting under its path, as `exceptions.eta_slip.by_mode.air`: what the audit log compares. */
function byPath({ exceptions, required_documents }: RuleSettings): Readonly<Record<string, unknown>> {
  return Object.fromEntries(leavesOf({ exceptions, required_documents }, []));
}

function leavesOf(value: object, path: readonly string[]): readonly (readonly [string, unknown])[] {
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) =>
    isObject(inner) ? leavesOf(inner, [...path, name]) : [[[...path, name].join('.'), inner] as const],
  );
}
