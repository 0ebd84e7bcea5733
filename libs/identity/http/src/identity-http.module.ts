import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { AUDITED_BY, AuditTrail } from '@tracking/http';
import type { FeatureDocs } from '@tracking/http';
import { isPasswordsBusy } from '@tracking/identity';
import { ApiKeysController } from './api-keys.controller.ts';
import { AuditLogController } from './audit/audit-log.controller.ts';
import { auditedByClient } from './audit/audited-by-client.ts';
import { IDENTITY, WORKSPACE_SETTINGS } from './dependencies.ts';
import type { IdentityHttpDependencies } from './dependencies.ts';
import { ERRORS, REFUSALS } from './docs/codes.ts';
import { PATH_PARAMETERS, RESOURCES, SAMPLES, VALUES } from './docs/samples.ts';
import { InvitationsController } from './invitations.controller.ts';
import { ServiceAccountsController } from './service-accounts.controller.ts';
import { SessionController } from './session.controller.ts';
import { SessionsController } from './sessions.controller.ts';
import { RequiredDocumentsController } from './settings/required-documents.controller.ts';
import { SettingsController } from './settings/settings.controller.ts';
import { SignInThrottle } from './sign-in-throttle.ts';
import { UsersController } from './users.controller.ts';

/**
 * Users, service accounts, keys, sessions, the audit log and the settings of a workspace. Exports the audit trail, with
 * which `@Audited` handlers of all features write to that log.
 */
@Module({})
export class IdentityHttpModule {
  static readonly docs: FeatureDocs = {
    errors: ERRORS,
    refusals: REFUSALS,
    resources: RESOURCES,
    pathParameters: PATH_PARAMETERS,
    samples: SAMPLES,
    values: VALUES,
  };

  static with({ identity, workspaceSettings, logger, quota }: IdentityHttpDependencies): DynamicModule {
    return {
      module: IdentityHttpModule,
      global: true,
      controllers: [
        ServiceAccountsController,
        ApiKeysController,
        UsersController,
        InvitationsController,
        SessionController,
        SessionsController,
        AuditLogController,
        SettingsController,
        RequiredDocumentsController,
      ],
      providers: [
        { provide: IDENTITY, useValue: identity },
        { provide: WORKSPACE_SETTINGS, useValue: workspaceSettings },
        { provide: AuditTrail, useFactory: () => new AuditTrail(identity.auditLog, logger, isPasswordsBusy) },
        { provide: AUDITED_BY, useFactory: () => auditedByClient(identity) },
        { provide: SignInThrottle, useFactory: () => new SignInThrottle(quota) },
      ],
      exports: [AuditTrail, AUDITED_BY],
    };
  }
}
