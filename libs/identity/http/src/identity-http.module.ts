import { type DynamicModule, Module } from '@nestjs/common';
import { AUDITED_ACTOR_INJECTION_TOKEN, AuditTrail, HttpOnlyCookie, TokenSigner } from '@tracking/http';
import { isPasswordQueueFullError } from '@tracking/identity';
import { ApiKeysController } from './api-keys.controller.ts';
import { createClientAuditActorFinder, AuditLogController } from './audit-log.controller.ts';
import {
  IDENTITY_INJECTION_TOKEN,
  type IdentityHttpDependencies,
  WORKSPACE_SETTINGS_INJECTION_TOKEN,
} from './dependencies.ts';
import { IDENTITY_DOCS } from './identity-docs.ts';
import { InvitationsController } from './invitations.controller.ts';
import { ServiceAccountsController } from './service-accounts.controller.ts';
import { SessionController } from './session.controller.ts';
import { SettingsController } from './settings.controller.ts';
import { KnownSignInDevices, SignInThrottle } from './sign-in-throttle.ts';
import { UsersController } from './users.controller.ts';

/**
 * Users, service accounts, keys, sessions, the audit log and the settings of a workspace. Exports the audit trail,
 * which the `@Audited` handlers of all features use.
 */
@Module({})
export class IdentityHttpModule {
  static readonly docs = IDENTITY_DOCS;

  static createModuleWithDependencies({
    identity,
    workspaceSettings,
    logger,
    quota,
    clock,
    settings,
  }: IdentityHttpDependencies): DynamicModule {
    return {
      module: IdentityHttpModule,
      global: true,
      controllers: [
        ServiceAccountsController,
        ApiKeysController,
        UsersController,
        InvitationsController,
        SessionController,
        AuditLogController,
        SettingsController,
      ],
      providers: [
        { provide: IDENTITY_INJECTION_TOKEN, useValue: identity },
        { provide: WORKSPACE_SETTINGS_INJECTION_TOKEN, useValue: workspaceSettings },
        { provide: AuditTrail, useFactory: () => new AuditTrail(identity.auditLog, logger, isPasswordQueueFullError) },
        { provide: AUDITED_ACTOR_INJECTION_TOKEN, useFactory: () => createClientAuditActorFinder(identity) },
        { provide: SignInThrottle, useFactory: () => new SignInThrottle(quota) },
        {
          provide: KnownSignInDevices,
          inject: [TokenSigner],
          useFactory: (sealer: TokenSigner) =>
            new KnownSignInDevices(sealer, new HttpOnlyCookie(settings.baseUrl, 'device'), clock),
        },
      ],
      exports: [AuditTrail, AUDITED_ACTOR_INJECTION_TOKEN],
    };
  }
}
