import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { LINK_PURPOSES, ROLES } from '@tracking/contracts';
import type { LinkPurpose, Role } from '@tracking/contracts';
import { Password, TIME, Text } from '@tracking/http';
import { Email } from './email.ts';

@ApiSchema({ name: 'InvitingWorkspace' })
export class InvitingWorkspaceResource {
  @ApiProperty({ description: 'Service-assigned identifier.' })
  readonly id!: string;
  @ApiProperty({ description: 'As people call it.' })
  readonly name!: string;
}

@ApiSchema({ name: 'Invitation' })
export class InvitationResource {
  @ApiProperty({ description: 'What the link is for.', enum: LINK_PURPOSES })
  readonly purpose!: LinkPurpose;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Whose it is; null where whoever uses it tells: the first admin.',
  })
  readonly email!: string | null;
  @ApiProperty({ type: InvitingWorkspaceResource, description: 'Where it lets in.' })
  readonly workspace!: InvitingWorkspaceResource;
  @ApiProperty({ description: 'What they may do there.', enum: ROLES })
  readonly role!: Role;
  @ApiProperty({ ...TIME, description: 'Until when it is good. UTC with milliseconds.' })
  readonly expires_at!: string;
}

@ApiSchema({ name: 'LinkUse' })
export class LinkUseDto {
  @Text({
    description: 'The name of the user. Required, except for a password reset.',
    example: 'Jo Doe',
    required: false,
  })
  name?: string;

  @Password({ description: '10 to 200 characters, neither the e-mail nor one of the most common ones.' })
  password!: string;

  @Email({
    description: 'By which they sign in; for the first admin, ignored for others.',
    example: 'jo@example.com',
    nullable: true,
  })
  email?: string | null;
}
