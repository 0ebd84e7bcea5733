import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import { ENVIRONMENTS, API_KEY_PERMISSIONS, USER_ROLES } from '@tracking/contracts';
import type { CredentialsOwner, Environment, Permission, Role, Session } from '@tracking/contracts';
import {
  createPageResourceClass,
  PasswordProperty,
  RESPONSE_TIME_SCHEMA,
  TextProperty,
  WithWarnings,
} from '@tracking/http';
import { IdentityNameProperty, NewPasswordProperty } from './user.resource.ts';

@ApiSchema({ name: 'HoldingUser' })
class HoldingUserResource {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'usr_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Name of the user.' })
  readonly name!: string | null;
  @ApiProperty({ description: 'E-mail address of the user.' })
  readonly email!: string;
}

@ApiSchema({ name: 'HoldingServiceAccount' })
class HoldingServiceAccountResource {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'sva_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ApiProperty({ description: 'Name.' })
  readonly name!: string;
}

@ApiSchema({ name: 'HoldingWorkspace' })
class HoldingWorkspaceResource {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'wsp_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ApiProperty({ description: 'Name.' })
  readonly name!: string;
}

@ApiSchema({ name: 'CredentialsHolder' })
export class CredentialsHolderResource implements CredentialsOwner {
  @ApiProperty({
    type: HoldingUserResource,
    nullable: true,
    description: 'The signed-in user, or the user that owns the key; otherwise null.',
  })
  readonly user!: HoldingUserResource | null;
  @ApiProperty({
    type: HoldingServiceAccountResource,
    nullable: true,
    description: 'The service account that owns the key; otherwise null.',
  })
  readonly service_account!: HoldingServiceAccountResource | null;
  @ApiProperty({ type: HoldingWorkspaceResource, description: 'Workspace of the session or key.' })
  readonly workspace!: HoldingWorkspaceResource;
  @ApiProperty({ description: 'Current role.', enum: USER_ROLES })
  readonly role!: Role;
  @ApiProperty({
    type: [String],
    description: 'Permissions of the role in this environment.',
    enum: API_KEY_PERMISSIONS,
  })
  readonly permissions!: Permission[];
  @ApiProperty({
    description: 'Environment of the key; for a session, the value of the header Environment.',
    enum: ENVIRONMENTS,
  })
  readonly environment!: Environment;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Latest end of the session or key; null if it never ends. UTC with milliseconds.',
  })
  readonly expires_at!: string | null;
}

@ApiSchema({ name: 'SignedIn' })
export class SignedInResource extends IntersectionType(CredentialsHolderResource, WithWarnings) {}

@ApiSchema({ name: 'UserSession' })
export class SessionResource implements Session {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'ses_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ApiProperty({ description: 'Browser and operating system, if known.', example: 'Firefox on Windows' })
  readonly device!: string;
  @ApiProperty({ description: 'IP address at sign-in.', example: '203.0.113.7' })
  readonly address!: string;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Time of the sign-in. UTC with milliseconds.' })
  readonly created_at!: string;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Time of the last use, to the minute. UTC with milliseconds.' })
  readonly last_seen_at!: string;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Latest end of the session. UTC with milliseconds.' })
  readonly expires_at!: string;
  @ApiProperty({ description: 'True for the session of this request.' })
  readonly current!: boolean;
}

@ApiSchema({ name: 'SessionPage' })
export class SessionPageResource extends createPageResourceClass(
  SessionResource,
  'The sessions of this page.',
  'Cursor of the next page: send it as `cursor`.',
) {}

@ApiSchema({ name: 'SessionEnded' })
export class SessionEndedResource extends WithWarnings {
  @ApiProperty({ description: 'Id of the ended session.' })
  readonly id!: string;
  @ApiProperty({ type: Boolean, description: 'Always true.' })
  readonly deleted!: true;
}

@ApiSchema({ name: 'PasswordChanged' })
export class PasswordChangedResource extends WithWarnings {
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    description: 'Time of the change, when all other sessions and the former cookie ended. UTC with milliseconds.',
  })
  readonly changed_at!: string;
}

@ApiSchema({ name: 'SignIn' })
export class SignInDto {
  @TextProperty({ description: 'E-mail address of the user, in any case.', example: 'jo@example.com' })
  email!: string;

  @PasswordProperty({ description: 'Password of the user.' })
  password!: string;

  @TextProperty({
    description:
      'Name or id of the workspace, for users of several workspaces. By default, the oldest user with this e-mail address and password is signed in.',
    nullable: true,
  })
  workspace?: string | null;
}

@ApiSchema({ name: 'OwnName' })
export class OwnNameDto {
  @IdentityNameProperty({ description: 'Your name.', example: 'Jo Doe' })
  name!: string;
}

@ApiSchema({ name: 'PasswordChange' })
export class PasswordChangeDto {
  @PasswordProperty({ description: 'The current password.' })
  current_password!: string;

  @NewPasswordProperty({
    description:
      'Password of 10 to 200 characters. Must not be the e-mail address or one of the most common passwords.',
  })
  new_password!: string;
}
