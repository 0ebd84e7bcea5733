import { ApiSchema } from '@nestjs/swagger';
import { ROLES, USER_STATUSES } from '@tracking/contracts';
import type { Page, Role, User, UserStatus, Warning } from '@tracking/contracts';
import { ActorResource, Shown, ShownTime, ShownWarnings } from '@tracking/http';

@ApiSchema({ name: 'User' })
export class UserResource implements User {
  @Shown(String, 'Service-assigned identifier.', { example: 'usr_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @Shown(String, 'Their workspace.')
  readonly workspace_id!: string;
  @Shown(String, 'What they are called; null until the invitation is accepted.', { nullable: true })
  readonly name!: string | null;
  @Shown(String, 'By which they sign in.')
  readonly email!: string;
  @Shown(String, 'What they may do.', { enum: [...ROLES] })
  readonly role!: Role;
  @Shown(String, '`invited` until the link is used; only who is `active` signs in and has valid keys.', {
    enum: [...USER_STATUSES],
  })
  readonly status!: UserStatus;
  @Shown(ActorResource, 'Who invited them.')
  readonly created_by!: ActorResource;
  @ShownTime('When they were invited.')
  readonly created_at!: string;
  @ShownTime('When they last used a session, to the minute; null when never.', { nullable: true })
  readonly last_seen_at!: string | null;
  @Shown('integer', 'Grows with every change.')
  readonly version!: number;
}

@ApiSchema({ name: 'UserWritten' })
export class UserWrittenResource extends UserResource {
  @ShownWarnings()
  readonly warnings!: Warning[];
}

@ApiSchema({ name: 'UserInvited' })
export class UserInvitedResource extends UserWrittenResource {
  @Shown(String, 'One-time link by which they set a name and a password. Shown in this answer only.', {
    example: 'https://app.example.com/invitation#inv_0aB1cD2eF3gH4iJ5kL6mN7oP',
  })
  readonly invitation_url!: string;
  @ShownTime('Until when the link is good.')
  readonly invitation_expires_at!: string;
}

@ApiSchema({ name: 'UserReactivated' })
export class UserReactivatedResource extends UserWrittenResource {
  @Shown(String, 'One-time link for who never set a password; else null. Shown in this answer only.', {
    nullable: true,
    example: 'https://app.example.com/invitation#inv_0aB1cD2eF3gH4iJ5kL6mN7oP',
  })
  readonly invitation_url!: string | null;
  @ShownTime('Until when the link is good; null without one.', { nullable: true })
  readonly invitation_expires_at!: string | null;
}

@ApiSchema({ name: 'PasswordReset' })
export class PasswordResetResource {
  @Shown(String, 'One-time link by which they set a password. Shown in this answer only.', {
    example: 'https://app.example.com/invitation#inv_0aB1cD2eF3gH4iJ5kL6mN7oP',
  })
  readonly reset_url!: string;
  @ShownTime('Until when the link is good.')
  readonly expires_at!: string;
  @ShownWarnings()
  readonly warnings!: Warning[];
}

@ApiSchema({ name: 'UserPage' })
export class UserPageResource implements Page<User> {
  @Shown([UserResource], 'The users of this page.')
  readonly data!: UserResource[];
  @Shown(String, 'Send it as `cursor` for the next page.', { nullable: true })
  readonly next_cursor!: string | null;
  @Shown(Boolean, 'Whether there is a next page.')
  readonly has_more!: boolean;
}
