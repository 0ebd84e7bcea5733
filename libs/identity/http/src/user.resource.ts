import { ApiProperty, type ApiPropertyOptions, ApiSchema, IntersectionType } from '@nestjs/swagger';
import { type Role, ROLES, type User, USER_STATUSES, type UserStatus } from '@tracking/contracts';
import {
  ActorResource,
  fault,
  field,
  type FieldCheck,
  type FieldOptions,
  InputType,
  OneOf,
  PageType,
  Resource,
  Text,
  TIME,
  WithWarnings,
} from '@tracking/http';
import { describeEmailFault, MAX_EMAIL_LENGTH } from '@tracking/identity';

const checkEmail: FieldCheck = (value, param) => {
  if (typeof value !== 'string') return fault(param, 'invalid_type', 'Must be a string.');
  const wrong = describeEmailFault(value.trim());
  return wrong ? fault(param, wrong.code, wrong.message) : [];
};

/** The e-mail address of a person. */
export const Email = (options: FieldOptions): PropertyDecorator =>
  field(
    checkEmail,
    options,
    { type: String, format: 'email', maxLength: MAX_EMAIL_LENGTH },
    { answer: { format: undefined } as unknown as ApiPropertyOptions },
  );

@ApiSchema({ name: 'User' })
export class UserResource extends Resource implements User {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'usr_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ApiProperty({ description: 'Id of the workspace.' })
  readonly workspace_id!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Name of the user; null until the invitation is accepted.',
  })
  readonly name!: string | null;
  @Email({
    description: 'E-mail address used to sign in. Unique in the workspace, regardless of case.',
    example: 'jo@example.com',
  })
  readonly email!: string;
  @OneOf(ROLES, { description: 'Role of the user, which applies to all sessions and keys.' })
  readonly role!: Role;
  @ApiProperty({
    description: '`invited` until the one-time link is used. Only an `active` user can sign in and has valid keys.',
    enum: USER_STATUSES,
  })
  readonly status!: UserStatus;
  @ApiProperty({ type: ActorResource, description: 'Actor that invited the user.' })
  readonly created_by!: ActorResource;
  @ApiProperty({ ...TIME, description: 'Time of the invitation. UTC with milliseconds.' })
  readonly created_at!: string;
  @ApiProperty({
    ...TIME,
    nullable: true,
    description: 'Time of the last use of a session, to the minute; null if never. UTC with milliseconds.',
  })
  readonly last_seen_at!: string | null;
  @ApiProperty({ type: 'integer', description: 'Version number, which grows with every change.' })
  readonly version!: number;
}

@ApiSchema({ name: 'UserInvitation' })
export class UserDto extends InputType(UserResource, { required: ['email', 'role'] }) {}

/** Fields of a change. Omitted fields keep their value. */
@ApiSchema({ name: 'UserChanges' })
export class UserChangesDto extends InputType(UserResource, { kept: ['role'] }) {
  @Text({ description: 'Name of the user.', example: 'Jo Doe', required: false })
  readonly name?: string;
}

@ApiSchema({ name: 'UserWritten' })
export class UserWrittenResource extends IntersectionType(UserResource, WithWarnings) {}

@ApiSchema({ name: 'UserInvited' })
export class UserInvitedResource extends UserWrittenResource {
  @ApiProperty({
    description: 'One-time link with which the user sets a name and a password. Returned only once, in this response.',
    example: 'https://app.example.com/invitation#inv_0aB1cD2eF3gH4iJ5kL6mN7oP',
  })
  readonly invitation_url!: string;
  @ApiProperty({ ...TIME, description: 'Time at which the link expires. UTC with milliseconds.' })
  readonly invitation_expires_at!: string;
}

@ApiSchema({ name: 'UserReactivated' })
export class UserReactivatedResource extends UserWrittenResource {
  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'One-time link if the user never set a password; otherwise null. Returned only once, in this response.',
    example: 'https://app.example.com/invitation#inv_0aB1cD2eF3gH4iJ5kL6mN7oP',
  })
  readonly invitation_url!: string | null;
  @ApiProperty({
    ...TIME,
    nullable: true,
    description: 'Time at which the link expires; null without a link. UTC with milliseconds.',
  })
  readonly invitation_expires_at!: string | null;
}

@ApiSchema({ name: 'UserPage' })
export class UserPageResource extends PageType(
  UserResource,
  'The users of this page.',
  'Cursor of the next page: send it as `cursor`.',
) {}
