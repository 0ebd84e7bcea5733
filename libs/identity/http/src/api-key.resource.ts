import { ApiSchema } from '@nestjs/swagger';
import { ENVIRONMENTS, ROLES } from '@tracking/contracts';
import type { ApiKey, Environment, KeyOwner, NewApiKey, Page, Role, Warning } from '@tracking/contracts';
import { ActorResource, Shown, ShownTime, ShownWarnings } from '@tracking/http';

@ApiSchema({ name: 'ApiKeyOwner' })
export class KeyOwnerResource implements KeyOwner {
  @Shown(String, 'What kind of owner.', { enum: ['service_account', 'user'] })
  readonly type!: KeyOwner['type'];
  @Shown(String, 'Its id.', { example: 'sva_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
}

@ApiSchema({ name: 'ApiKey' })
export class ApiKeyResource implements ApiKey {
  @Shown(String, 'Service-assigned identifier.', { example: 'key_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @Shown(String, 'Its workspace.')
  readonly workspace_id!: string;
  @Shown(String, 'What the key is for.')
  readonly name!: string;
  @Shown(String, 'Whose data it sees.', { enum: [...ENVIRONMENTS] })
  readonly environment!: Environment;
  @Shown(String, 'How the key begins.', { example: 'sk_live_0aB1' })
  readonly prefix!: string;
  @Shown(String, 'How the key ends.', { example: '9zY8' })
  readonly last_four!: string;
  @Shown(KeyOwnerResource, 'Whose permissions the key has, at each request.')
  readonly owner!: KeyOwnerResource;
  @Shown(String, 'The role that its owner has now.', { enum: [...ROLES] })
  readonly role!: Role;
  @Shown(ActorResource, 'Who made it.')
  readonly created_by!: ActorResource;
  @ShownTime('When it was made.')
  readonly created_at!: string;
  @ShownTime('From then on it is refused; null: never.', { nullable: true })
  readonly expires_at!: string | null;
  @ShownTime('When it was last used, to the minute; null: never.', { nullable: true })
  readonly last_used_at!: string | null;
  @ShownTime('Since when it is refused; null: it was not revoked.', { nullable: true })
  readonly revoked_at!: string | null;
  @Shown(String, 'The key that took its place.', { nullable: true })
  readonly rotated_to!: string | null;
  @Shown('integer', 'Grows with every change.')
  readonly version!: number;
}

@ApiSchema({ name: 'ApiKeyWritten' })
export class ApiKeyWrittenResource extends ApiKeyResource {
  @ShownWarnings()
  readonly warnings!: Warning[];
}

@ApiSchema({ name: 'ApiKeyCreated' })
export class ApiKeyCreatedResource extends ApiKeyWrittenResource implements NewApiKey {
  @Shown(String, 'The key itself. Shown in this answer only.', {
    example: 'sk_live_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX9zY8',
  })
  readonly key!: string;
}

@ApiSchema({ name: 'ApiKeyPage' })
export class ApiKeyPageResource implements Page<ApiKey> {
  @Shown([ApiKeyResource], 'The keys of this page.')
  readonly data!: ApiKeyResource[];
  @Shown(String, 'Send it as `cursor` for the next page.', { nullable: true })
  readonly next_cursor!: string | null;
  @Shown(Boolean, 'Whether there is a next page.')
  readonly has_more!: boolean;
}
