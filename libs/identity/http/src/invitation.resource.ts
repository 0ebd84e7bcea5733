import { ApiSchema } from '@nestjs/swagger';
import { LINK_PURPOSES, ROLES } from '@tracking/contracts';
import type { LinkPurpose, Role } from '@tracking/contracts';
import { Shown, ShownTime } from '@tracking/http';

@ApiSchema({ name: 'InvitingWorkspace' })
export class InvitingWorkspaceResource {
  @Shown(String, 'Service-assigned identifier.')
  readonly id!: string;
  @Shown(String, 'As people call it.')
  readonly name!: string;
}

@ApiSchema({ name: 'Invitation' })
export class InvitationResource {
  @Shown(String, 'What the link is for.', { enum: [...LINK_PURPOSES] })
  readonly purpose!: LinkPurpose;
  @Shown(String, 'Whose it is; null where whoever uses it tells: the first admin.', { nullable: true })
  readonly email!: string | null;
  @Shown(InvitingWorkspaceResource, 'Where it lets in.')
  readonly workspace!: InvitingWorkspaceResource;
  @Shown(String, 'What they may do there.', { enum: [...ROLES] })
  readonly role!: Role;
  @ShownTime('Until when it is good.')
  readonly expires_at!: string;
}
