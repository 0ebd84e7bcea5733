import { ApiSchema } from '@nestjs/swagger';
import { ENVIRONMENTS, PERMISSIONS, ROLES } from '@tracking/contracts';
import type { CredentialsHolder, Environment, Page, Permission, Role, Session, Warning } from '@tracking/contracts';
import { Shown, ShownTime, ShownWarnings } from '@tracking/http';

@ApiSchema({ name: 'HoldingUser' })
class HoldingUserResource {
  @Shown(String, 'Service-assigned identifier.', { example: 'usr_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @Shown(String, 'Their name.', { nullable: true })
  readonly name!: string | null;
  @Shown(String, 'Their e-mail.')
  readonly email!: string;
}

@ApiSchema({ name: 'HoldingServiceAccount' })
class HoldingServiceAccountResource {
  @Shown(String, 'Service-assigned identifier.', { example: 'sva_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @Shown(String, 'Its name.')
  readonly name!: string;
}

@ApiSchema({ name: 'HoldingWorkspace' })
class HoldingWorkspaceResource {
  @Shown(String, 'Service-assigned identifier.', { example: 'wsp_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @Shown(String, 'Its name.')
  readonly name!: string;
}

@ApiSchema({ name: 'CredentialsHolder' })
export class CredentialsHolderResource implements CredentialsHolder {
  @Shown(HoldingUserResource, 'The user who is signed in, or whose key it is; else null.', { nullable: true })
  readonly user!: HoldingUserResource | null;
  @Shown(HoldingServiceAccountResource, 'The service account whose key it is; else null.', { nullable: true })
  readonly service_account!: HoldingServiceAccountResource | null;
  @Shown(HoldingWorkspaceResource, 'Where they work.')
  readonly workspace!: HoldingWorkspaceResource;
  @Shown(String, 'Their role now.', { enum: [...ROLES] })
  readonly role!: Role;
  @Shown([String], 'What the role allows in this environment.', { enum: [...PERMISSIONS] })
  readonly permissions!: Permission[];
  @Shown(String, 'Of the key; for a session what the header Environment says.', { enum: [...ENVIRONMENTS] })
  readonly environment!: Environment;
  @ShownTime('When the key or session ends at the latest; null: never.', { nullable: true })
  readonly expires_at!: string | null;
}

@ApiSchema({ name: 'SignedIn' })
export class SignedInResource extends CredentialsHolderResource {
  @ShownWarnings()
  readonly warnings!: Warning[];
}

@ApiSchema({ name: 'Session' })
export class SessionResource implements Session {
  @Shown(String, 'Service-assigned identifier.', { example: 'ses_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @Shown(String, 'The browser and its system, as far as it tells.', { example: 'Firefox on Windows' })
  readonly device!: string;
  @Shown(String, 'Where it was begun from.', { example: '203.0.113.7' })
  readonly address!: string;
  @ShownTime('When it was begun.')
  readonly created_at!: string;
  @ShownTime('When it was last used, to the minute.')
  readonly last_seen_at!: string;
  @ShownTime('When it ends at the latest.')
  readonly expires_at!: string;
  @Shown(Boolean, 'Whether it is the one that asks.')
  readonly current!: boolean;
}

@ApiSchema({ name: 'SessionPage' })
export class SessionPageResource implements Page<SessionResource> {
  @Shown([SessionResource], 'The sessions of this page.')
  readonly data!: SessionResource[];
  @Shown(String, 'Send it as `cursor` for the next page.', { nullable: true })
  readonly next_cursor!: string | null;
  @Shown(Boolean, 'Whether there is a next page.')
  readonly has_more!: boolean;
}

@ApiSchema({ name: 'SessionEnded' })
export class SessionEndedResource {
  @Shown(String, 'The session that was.')
  readonly id!: string;
  @Shown(Boolean, 'Always true.', { enum: [true] })
  readonly deleted!: true;
  @ShownWarnings()
  readonly warnings!: Warning[];
}

@ApiSchema({ name: 'PasswordChanged' })
export class PasswordChangedResource {
  @ShownTime('From then on the new password holds, and the other sessions have ended.')
  readonly changed_at!: string;
  @ShownWarnings()
  readonly warnings!: Warning[];
}
