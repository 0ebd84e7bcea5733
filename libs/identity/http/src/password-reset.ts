import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { DomainError } from '@tracking/contracts';
import {
  type AuditTrail,
  CheckedProperty,
  createFieldError,
  reportChangeForAudit,
  RESPONSE_TIME_SCHEMA,
  WithWarnings,
} from '@tracking/http';
import { ACCESS_TO_ALL_KEYS, type IdentityServices, type IdentityCommand } from '@tracking/identity';
import type { FastifyRequest } from 'fastify';
import { createOneTimeLinkUrl } from './invitations.controller.ts';

/** The optional field of a password reset that also revokes the user's API keys. */
export const RevokeApiKeysProperty = (): PropertyDecorator =>
  CheckedProperty(
    (value, param) =>
      typeof value === 'boolean' ? [] : createFieldError(param, 'invalid_type', 'Must be true or false.'),
    {
      description: 'True to also revoke all valid API keys of the user, in both environments. False by default.',
      example: true,
      nullable: true,
    },
    { type: Boolean },
  );

@ApiSchema({ name: 'PasswordResetFields' })
export class PasswordResetDto {
  @RevokeApiKeysProperty()
  readonly revoke_api_keys?: boolean | null;
}

@ApiSchema({ name: 'PasswordReset' })
export class PasswordResetResource extends WithWarnings {
  @ApiProperty({
    description: 'One-time link with which the user sets a new password. Returned only once, in this response.',
    example: 'https://app.example.com/invitation#inv_0aB1cD2eF3gH4iJ5kL6mN7oP',
  })
  readonly reset_url!: string;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Time at which the link expires. UTC with milliseconds.' })
  readonly expires_at!: string;
  @ApiProperty({ type: 'integer', description: 'Number of API keys that the request revoked.' })
  readonly revoked_api_keys_count!: number;
}

interface PasswordResetDependencies {
  readonly identity: Pick<IdentityServices, 'users' | 'keys'>;
  readonly trail: AuditTrail;
  /** URL of the web application, for the link. */
  readonly appUrl: string;
}

interface PasswordResetRequest {
  readonly command: IdentityCommand;
  readonly user_id: string;
  readonly revoke_api_keys?: boolean | null | undefined;
  /** IP address of the client; null for the command line. */
  readonly address: string | null;
}

/**
 * Resets the password of a user. The sessions end before the keys are listed, so that no session of this replica can
 * create another key. Other replicas accept the sessions and keys for up to 5 s. Each revoked key has its own audit
 * entry.
 */
export async function resetPassword(
  { identity, trail, appUrl }: PasswordResetDependencies,
  request: FastifyRequest,
  { command, user_id, revoke_api_keys, address }: PasswordResetRequest,
) {
  const { link, ...reset } = await identity.users.resetPassword(command, user_id);
  const { if_match: _, ...unconditional } = command;
  const { workspace_id, actor } = command;
  const by = { workspace_id, actor, address };
  let revoked_api_keys_count = 0;
  for (const id of revoke_api_keys === true ? await identity.keys.listKeyIdsOfOwnerToRevoke(command, user_id) : []) {
    try {
      await trail.runAudited(request, { type: 'api_key.revoked', by, target: id, part: id }, async () =>
        reportChangeForAudit(request, await identity.keys.revokeKey(unconditional, ACCESS_TO_ALL_KEYS, id)),
      );
      revoked_api_keys_count += 1;
    } catch (error) {
      // Skip a key that no longer exists: its own creation was refused, for example because of too many keys.
      if (!(error instanceof DomainError && error.code === 'not_found')) throw error;
    }
  }
  reportChangeForAudit(request, reset);
  const body = {
    reset_url: createOneTimeLinkUrl(appUrl, link.token),
    expires_at: link.expires_at,
    revoked_api_keys_count,
  };
  return { body, version: reset.after.version };
}
