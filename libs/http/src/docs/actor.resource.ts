import { ApiSchema } from '@nestjs/swagger';
import type { Actor } from '@tracking/contracts';
import { Shown } from './shown.ts';

@ApiSchema({ name: 'Actor' })
export class ActorResource implements Actor {
  @Shown(String, 'What kind of actor.', { enum: ['user', 'service_account', 'system'] })
  readonly type!: Actor['type'];
  @Shown(String, 'Its id.')
  readonly id!: string;
}
