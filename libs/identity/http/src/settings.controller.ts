import { Controller, Get, Inject, Patch, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import {
  DEFAULT_RULE_SETTINGS,
  type JsonObject,
  type RuleSettings,
  type WorkspaceScope,
  type WorkspaceSettings,
} from '@tracking/contracts';
import {
  RecordInAuditLog,
  InjectWorkspaceScope,
  formatEtag,
  isJsonObject,
  createMergePatchBodyRule,
  DeclareApiOperation,
  type RequestBodyWithWarnings,
  InjectRequestBody,
  reportChangeForAudit,
  WriteResponder,
  type WriteResponse,
} from '@tracking/http';
import type { IdentityCommand } from '@tracking/identity';
import type { FastifyReply } from 'fastify';
import { type IdentityHttpDependencies, WORKSPACE_SETTINGS_INJECTION_TOKEN } from './dependencies.ts';
import { InjectIdentityCommand } from './identity-command-of.ts';
import {
  RequiredDocumentsResource,
  SETTINGS_PATCH_PIPE,
  type WorkspaceSettingsAndDefaults,
  WorkspaceSettingsChangesDto,
  WorkspaceSettingsResource,
  WorkspaceSettingsWrittenResource,
} from './settings.resource.ts';

@Controller('v1')
export class SettingsController {
  constructor(
    @Inject(WORKSPACE_SETTINGS_INJECTION_TOKEN)
    private readonly settings: IdentityHttpDependencies['workspaceSettings'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
  ) {}

  @Get('settings')
  @ApiTags('Settings')
  // Never respond with 304, because `recheck` can change without a new version.
  @DeclareApiOperation('getSettings', { summary: 'Get the settings of the workspace', hasEtag: true })
  @ApiResponse({
    status: 200,
    description: 'The settings, with their defaults. They apply to both environments.',
    type: WorkspaceSettingsResource,
  })
  async getWorkspaceSettings(
    @InjectWorkspaceScope() { workspace_id }: WorkspaceScope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WorkspaceSettingsAndDefaults> {
    const settings = await this.settings.getWorkspaceSettings(workspace_id);
    reply.header('ETag', formatEtag(settings.version));
    return { ...settings, defaults: DEFAULT_RULE_SETTINGS };
  }

  @Patch('settings')
  @ApiTags('Settings')
  @DeclareApiOperation('changeSettings', {
    summary: 'Change the settings of the workspace',
    description: 'A JSON merge patch (RFC 7396). Omitted settings keep their value; null restores the default.',
    body: WorkspaceSettingsChangesDto,
    acceptedBody: createMergePatchBodyRule(),
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The settings.', type: WorkspaceSettingsWrittenResource })
  @RecordInAuditLog('settings.changed')
  async changeSettings(
    @InjectRequestBody(SETTINGS_PATCH_PIPE) { value: patch, warnings }: RequestBodyWithWarnings<JsonObject>,
    @InjectIdentityCommand() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<WorkspaceSettingsAndDefaults>> {
    const { before, after } = await this.settings.changeSettings({ ...command, patch });
    reportChangeForAudit(
      reply.request,
      { before: flattenSettings(before), after: flattenSettings(after) },
      command.workspace_id,
    );
    const body = { ...after, defaults: DEFAULT_RULE_SETTINGS };
    return this.responder.respondToWrite(reply, warnings, { body, version: after.version });
  }

  /** Open to callers who may not read the other settings. */
  @Get('required_documents')
  @ApiTags('Documents')
  @DeclareApiOperation('getRequiredDocuments', {
    summary: 'Get the required documents by transport mode',
    description: 'The required documents according to the settings of the workspace.',
    conditional: 'read',
  })
  @ApiResponse({
    status: 200,
    description: 'Required document types by transport mode.',
    type: RequiredDocumentsResource,
  })
  async getRequiredDocuments(
    @InjectWorkspaceScope() { workspace_id }: WorkspaceScope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Pick<WorkspaceSettings, 'required_documents' | 'version'>> {
    const { required_documents, version } = await this.settings.getWorkspaceSettings(workspace_id);
    reply.header('ETag', formatEtag(version));
    return { required_documents, version };
  }
}

/** Returns each setting by its path, such as `exceptions.eta_slip.by_mode.air`, for the audit log. */
function flattenSettings({ exceptions, required_documents }: RuleSettings): Readonly<Record<string, unknown>> {
  return Object.fromEntries(listSettingPathsAndValues({ exceptions, required_documents }, []));
}

function listSettingPathsAndValues(value: object, path: readonly string[]): readonly (readonly [string, unknown])[] {
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) =>
    isJsonObject(inner)
      ? listSettingPathsAndValues(inner, [...path, name])
      : [[[...path, name].join('.'), inner] as const],
  );
}
