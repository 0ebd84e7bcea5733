import { ApiSchema } from '@nestjs/swagger';
import { ROLES } from '@tracking/contracts';
import type { Page, Role, ServiceAccount, Warning } from '@tracking/contracts';
import { ActorResource, Shown, ShownTime, ShownWarnings } from '@tracking/http';

@ApiSchema({ name: 'ServiceAccount' })
export class ServiceAccountResource implements ServiceAccount {
  @Shown(String, 'Service-assigned identifier.', { example: 'sva_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @Shown(String, 'Its workspace.')
  readonly workspace_id!: string;
  @Shown(String, 'Which system it is.')
  readonly name!: string;
  @Shown(String, 'What it may do, with each of its keys.', { enum: [...ROLES] })
  readonly role!: Role;
  @Shown(String, 'Its keys are valid only while it is active.', { enum: ['active', 'deactivated'] })
  readonly status!: ServiceAccount['status'];
  @Shown(ActorResource, 'Who made it.')
  readonly created_by!: ActorResource;
  @ShownTime('When it was made.')
  readonly created_at!: string;
  @Shown('integer', 'Grows with every change.')
  readonly version!: number;
}

@ApiSchema({ name: 'ServiceAccountWritten' })
export class ServiceAccountWrittenResource extends ServiceAccountResource {
  @ShownWarnings()
  readonly warnings!: Warning[];
}

@ApiSchema({ name: 'ServiceAccountPage' })
export class ServiceAccountPageResource implements Page<ServiceAccount> {
  @Shown([ServiceAccountResource], 'The service accounts of this page.')
  readonly data!: ServiceAccountResource[];
  @Shown(String, 'Send it as `cursor` for the next page.', { nullable: true })
  readonly next_cursor!: string | null;
  @Shown(Boolean, 'Whether there is a next page.')
  readonly has_more!: boolean;
}
