import { ApiSchema } from '@nestjs/swagger';
import { ROLES } from '@tracking/contracts';
import type { Role } from '@tracking/contracts';
import { OneOf, Text } from '@tracking/http';
import { Email } from './email.ts';

@ApiSchema({ name: 'UserInvitation' })
export class UserDto {
  @Email({ description: 'Unique in the workspace, whatever its case.', example: 'jo@example.com', required: true })
  email!: string;

  @OneOf(ROLES, { description: 'What they may do.', required: true })
  role!: Role;
}

/** What is left out stays as it is. */
@ApiSchema({ name: 'UserChanges' })
export class UserChangesDto {
  @Text({ description: 'What they are called.', example: 'Jo Doe', kept: true })
  name?: string;

  @OneOf(ROLES, { description: 'What they may do, with their sessions and keys, from now on.', kept: true })
  role?: Role;
}
