import { type DynamicModule, Module } from '@nestjs/common';
import { AUDITED_BY_TOKEN, AuditTrail, HttpOnlyCookie, TokenSealer } from '@tracking/http';
import { isPasswordQueueFull } from '@tracking/identity';
import { ApiKeysController } from './api-keys.controller.ts';
import { createClientAuditActor, AuditLogController } from './audit-log.controller.ts';
import { IDENTITY_TOKEN, type IdentityHttpDependencies, WORKSPACE_SETTINGS_TOKEN } from './dependencies.ts';
import { IDENTITY_DOCS } from './identity-docs.ts';
import { InvitationsController } from './invitations.controller.ts';
import { ServiceAccountsController } from './service-accounts.controller.ts';
import { SessionController } from './session.controller.ts';
import { SettingsController } from './settings.controller.ts';
import { KnownSignInOrigins, SignInThrottle } from './sign-in-throttle.ts';
import { UsersController } from './users.controller.ts';

/**
 * Users, service accounts, keys, sessions, the audit log and the settings of a workspace. Exports the audit trail,
 * which the `@Audited` handlers of all features use.
 */
@Module({})
export class IdentityHttpModule {
  static readonly docs = IDENTITY_DOCS;

  static withDependencies({
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
        { provide: IDENTITY_TOKEN, useValue: identity },
        { provide: WORKSPACE_SETTINGS_TOKEN, useValue: workspaceSettings },
        { provide: AuditTrail, useFactory: () => new AuditTrail(identity.auditLog, logger, isPasswordQueueFull) },
        { provide: AUDITED_BY_TOKEN, useFactory: () => createClientAuditActor(identity) },
        { provide: SignInThrottle, useFactory: () => new SignInThrottle(quota) },
        {
          provide: KnownSignInOrigins,
          inject: [TokenSealer],
          useFactory: (sealer: TokenSealer) =>
            new KnownSignInOrigins(sealer, new HttpOnlyCookie(settings.baseUrl, 'device'), clock),
        },
      ],
      exports: [AuditTrail, AUDITED_BY_TOKEN],
    };
  }
}
