import { ApiSchema } from '@nestjs/swagger';
import { ROLES } from '@tracking/contracts';
import type { Role } from '@tracking/contracts';
import { OneOf, Text } from '@tracking/http';

@ApiSchema({ name: 'ServiceAccountFields' })
export class ServiceAccountDto {
  @Text({ description: 'Which system it is.', example: 'TMS', required: true })
  name!: string;

  @OneOf(ROLES, { description: 'What it may do, with each of its keys.', required: true })
  role!: Role;
}

/** What is left out stays as it is. */
@ApiSchema({ name: 'ServiceAccountChanges' })
export class ServiceAccountChangesDto {
  @Text({ description: 'Which system it is.', example: 'TMS', kept: true })
  name?: string;

  @OneOf(ROLES, { description: 'What it may do, with each of its keys, from now on.', kept: true })
  role?: Role;
}
