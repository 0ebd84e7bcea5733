import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { type AuditTrail, field, fault, reportChange, TIME, WithWarnings } from '@tracking/http';
import { EVERY_KEY, type Identity, type IdentityCommand } from '@tracking/identity';
import type { FastifyRequest } from 'fastify';
import { linkAddress } from './invitations.controller.ts';

/** The optional field of a password reset that also revokes the user's API keys. */
export const RevokesApiKeys = (): PropertyDecorator =>
  field(
    (value, param) => (typeof value === 'boolean' ? [] : fault(param, 'invalid_type', 'Must be true or false.')),
    {
      description: 'True to also revoke all valid API keys of the user, in both environments. False by default.',
      example: true,
      nullable: true,
    },
    { type: Boolean },
  );

@ApiSchema({ name: 'PasswordResetFields' })
export class PasswordResetDto {
  @RevokesApiKeys()
  readonly revoke_api_keys?: boolean | null;
}

@ApiSchema({ name: 'PasswordReset' })
export class PasswordResetResource extends WithWarnings {
  @ApiProperty({
    description: 'One-time link with which the user sets a new password. Returned only once, in this response.',
    example: 'https://app.example.com/invitation#inv_0aB1cD2eF3gH4iJ5kL6mN7oP',
  })
  readonly reset_url!: string;
  @ApiProperty({ ...TIME, description: 'Time at which the link expires. UTC with milliseconds.' })
  readonly expires_at!: string;
  @ApiProperty({ type: 'integer', description: 'Number of API keys that the request revoked.' })
  readonly revoked_api_keys_count!: number;
}

interface PasswordResetParts {
  readonly identity: Pick<Identity, 'users' | 'keys'>;
  readonly trail: AuditTrail;
  /** URL of the web application, for the link. */
  readonly appUrl: string;
}

interface RequestedReset {
  readonly command: IdentityCommand;
  readonly user_id: string;
  readonly revoke_api_keys?: boolean | null | undefined;
  /** IP address of the client; null for the command line. */
  readonly address: string | null;
}

/**
 * Resets the password of a user. The sessions end before the keys are listed, so that no session can create another
 * key. Each revoked key has its own audit entry.
 */
export async function resetPassword(
  { identity, trail, appUrl }: PasswordResetParts,
  request: FastifyRequest,
  { command, user_id, revoke_api_keys, address }: RequestedReset,
) {
  const { link, ...reset } = await identity.users.resetPassword(command, user_id);
  const { if_match: _, ...unconditional } = command;
  const { workspace_id, actor } = command;
  const revoked = revoke_api_keys === true ? await identity.keys.revocable(command, user_id) : [];
  for (const id of revoked) {
    const by = { workspace_id, actor, address };
    await trail.record(request, { type: 'api_key.revoked', by, target: id, part: id }, async () =>
      reportChange(request, await identity.keys.revoke(unconditional, EVERY_KEY, id)),
    );
  }
  reportChange(request, reset);
  const body = {
    reset_url: linkAddress(appUrl, link.token),
    expires_at: link.expires_at,
    revoked_api_keys_count: revoked.length,
  };
  return { body, version: reset.after.version };
}
