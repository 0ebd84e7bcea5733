import { ApiProperty, type ApiPropertyOptions, ApiSchema, IntersectionType } from '@nestjs/swagger';
import { type FieldError, type Role, USER_ROLES, type User, USER_STATUSES, type UserStatus } from '@tracking/contracts';
import {
  ActorResource,
  checkPasswordFieldIsNonEmptyString,
  DEFAULT_MAX_CHARS,
  createFieldError,
  CheckedProperty,
  type FieldCheck,
  type FieldDecoratorOptions,
  DeriveRequestClassFromResource,
  EnumProperty,
  createPageResourceClass,
  ResponseSchemaBase,
  checkText,
  RESPONSE_TIME_SCHEMA,
  WithWarnings,
} from '@tracking/http';
import { describeEmailFault, describeNameFault, describePasswordFault, MAX_EMAIL_LENGTH } from '@tracking/identity';

/** Returns a check of a string by a rule of identities, after the check that it is a text. */
function createIdentityTextValidator(
  describeFault: (text: string) => Pick<FieldError, 'code' | 'message'> | undefined,
  check: FieldCheck,
): FieldCheck {
  return (value, param) => {
    const faults = check(value, param);
    if (faults.length > 0) return faults;
    const wrong = describeFault(String(value));
    return wrong ? createFieldError(param, wrong.code, wrong.message) : [];
  };
}

const checkIsString: FieldCheck = (value, param) =>
  typeof value === 'string' ? [] : createFieldError(param, 'invalid_type', 'Must be a string.');
const checkEmail = createIdentityTextValidator((email) => describeEmailFault(email.trim()), checkIsString);
const checkName = createIdentityTextValidator(describeNameFault, checkText);
const checkNewPassword = createIdentityTextValidator(describePasswordFault, checkPasswordFieldIsNonEmptyString);
const IDENTITY_TEXT_SCHEMA: ApiPropertyOptions = { type: String, maxLength: DEFAULT_MAX_CHARS, minLength: 1 };

/** The name of a user, service account or key. */
export const IdentityNameProperty = (options: FieldDecoratorOptions): PropertyDecorator =>
  CheckedProperty(checkName, options, IDENTITY_TEXT_SCHEMA);

/** A password that a user sets. */
export const NewPasswordProperty = (options: FieldDecoratorOptions): PropertyDecorator =>
  CheckedProperty(checkNewPassword, options, IDENTITY_TEXT_SCHEMA);

/** The e-mail address of a person. */
export const EmailProperty = (options: FieldDecoratorOptions): PropertyDecorator =>
  CheckedProperty(
    checkEmail,
    options,
    { type: String, format: 'email', maxLength: MAX_EMAIL_LENGTH },
    { answer: { format: undefined } as unknown as ApiPropertyOptions },
  );

@ApiSchema({ name: 'User' })
export class UserResource extends ResponseSchemaBase implements User {
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
  @EmailProperty({
    description: 'E-mail address used to sign in. Unique in the workspace, regardless of case.',
    example: 'jo@example.com',
  })
  readonly email!: string;
  @EnumProperty(USER_ROLES, { description: 'Role of the user, which applies to all sessions and keys.' })
  readonly role!: Role;
  @ApiProperty({
    description: '`invited` until the one-time link is used. Only an `active` user can sign in and has valid keys.',
    enum: USER_STATUSES,
  })
  readonly status!: UserStatus;
  @ApiProperty({ type: ActorResource, description: 'Actor that invited the user.' })
  readonly created_by!: ActorResource;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Time of the invitation. UTC with milliseconds.' })
  readonly created_at!: string;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Time of the last use of a session, to the minute; null if never. UTC with milliseconds.',
  })
  readonly last_seen_at!: string | null;
  @ApiProperty({ type: 'integer', description: 'Version number, which grows with every change.' })
  readonly version!: number;
}

@ApiSchema({ name: 'UserInvitation' })
export class UserDto extends DeriveRequestClassFromResource(UserResource, { required: ['email', 'role'] }) {}

/** Fields of a change. Omitted fields keep their value. */
@ApiSchema({ name: 'UserChanges' })
export class UserChangesDto extends DeriveRequestClassFromResource(UserResource, { kept: ['role'] }) {
  @IdentityNameProperty({ description: 'Name of the user.', example: 'Jo Doe', required: false })
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
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Time at which the link expires. UTC with milliseconds.' })
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
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Time at which the link expires; null without a link. UTC with milliseconds.',
  })
  readonly invitation_expires_at!: string | null;
}

@ApiSchema({ name: 'UserPage' })
export class UserPageResource extends createPageResourceClass(
  UserResource,
  'The users of this page.',
  'Cursor of the next page: send it as `cursor`.',
) {}
