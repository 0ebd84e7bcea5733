import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import { ENVIRONMENTS, PERMISSIONS, ROLES } from '@tracking/contracts';
import type { CredentialsHolder, Environment, Permission, Role, Session } from '@tracking/contracts';
import { PageType, Password, TIME, Text, WithWarnings } from '@tracking/http';

@ApiSchema({ name: 'HoldingUser' })
class HoldingUserResource {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'usr_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Their name.' })
  readonly name!: string | null;
  @ApiProperty({ description: 'Their e-mail.' })
  readonly email!: string;
}

@ApiSchema({ name: 'HoldingServiceAccount' })
class HoldingServiceAccountResource {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'sva_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ApiProperty({ description: 'Its name.' })
  readonly name!: string;
}

@ApiSchema({ name: 'HoldingWorkspace' })
class HoldingWorkspaceResource {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'wsp_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ApiProperty({ description: 'Its name.' })
  readonly name!: string;
}

@ApiSchema({ name: 'CredentialsHolder' })
export class CredentialsHolderResource implements CredentialsHolder {
  @ApiProperty({
    type: HoldingUserResource,
    nullable: true,
    description: 'The user who is signed in, or whose key it is; else null.',
  })
  readonly user!: HoldingUserResource | null;
  @ApiProperty({
    type: HoldingServiceAccountResource,
    nullable: true,
    description: 'The service account whose key it is; else null.',
  })
  readonly service_account!: HoldingServiceAccountResource | null;
  @ApiProperty({ type: HoldingWorkspaceResource, description: 'Where they work.' })
  readonly workspace!: HoldingWorkspaceResource;
  @ApiProperty({ description: 'Their role now.', enum: ROLES })
  readonly role!: Role;
  @ApiProperty({ type: [String], description: 'What the role allows in this environment.', enum: PERMISSIONS })
  readonly permissions!: Permission[];
  @ApiProperty({ description: 'Of the key; for a session what the header Environment says.', enum: ENVIRONMENTS })
  readonly environment!: Environment;
  @ApiProperty({
    ...TIME,
    nullable: true,
    description: 'When the key or session ends at the latest; null: never. UTC with milliseconds.',
  })
  readonly expires_at!: string | null;
}

@ApiSchema({ name: 'SignedIn' })
export class SignedInResource extends IntersectionType(CredentialsHolderResource, WithWarnings) {}

@ApiSchema({ name: 'Session' })
export class SessionResource implements Session {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'ses_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ApiProperty({ description: 'The browser and its system, as far as it tells.', example: 'Firefox on Windows' })
  readonly device!: string;
  @ApiProperty({ description: 'Where it was begun from.', example: '203.0.113.7' })
  readonly address!: string;
  @ApiProperty({ ...TIME, description: 'When it was begun. UTC with milliseconds.' })
  readonly created_at!: string;
  @ApiProperty({ ...TIME, description: 'When it was last used, to the minute. UTC with milliseconds.' })
  readonly last_seen_at!: string;
  @ApiProperty({ ...TIME, description: 'When it ends at the latest. UTC with milliseconds.' })
  readonly expires_at!: string;
  @ApiProperty({ description: 'Whether it is the one that asks.' })
  readonly current!: boolean;
}

@ApiSchema({ name: 'SessionPage' })
export class SessionPageResource extends PageType(
  SessionResource,
  'The sessions of this page.',
  'Send it as `cursor` for the next page.',
) {}

@ApiSchema({ name: 'SessionEnded' })
export class SessionEndedResource extends WithWarnings {
  @ApiProperty({ description: 'The session that was.' })
  readonly id!: string;
  @ApiProperty({ type: Boolean, description: 'Always true.', enum: [true] })
  readonly deleted!: true;
}

@ApiSchema({ name: 'PasswordChanged' })
export class PasswordChangedResource extends WithWarnings {
  @ApiProperty({
    ...TIME,
    description: 'From then on the new password holds, and the other sessions have ended. UTC with milliseconds.',
  })
  readonly changed_at!: string;
}

@ApiSchema({ name: 'SignIn' })
export class SignInDto {
  @Text({ description: 'E-mail of the user, in any case.', example: 'jo@example.com' })
  email!: string;

  @Password({ description: 'Their password.' })
  password!: string;

  @Text({
    description: 'Name or id of the workspace, for who is in several. Without it: the oldest whose password it is.',
    nullable: true,
  })
  workspace?: string | null;
}

@ApiSchema({ name: 'OwnName' })
export class OwnNameDto {
  @Text({ description: 'What one is called.', example: 'Jo Doe' })
  name!: string;
}

@ApiSchema({ name: 'PasswordChange' })
export class PasswordChangeDto {
  @Password({ description: 'The password until now.' })
  current_password!: string;

  @Password({ description: '10 to 200 characters; neither the e-mail nor one of the most common passwords.' })
  new_password!: string;
}
