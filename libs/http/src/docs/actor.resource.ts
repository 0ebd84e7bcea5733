import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { Actor } from '@tracking/contracts';

@ApiSchema({ name: 'Actor' })
export class ActorResource implements Actor {
  @ApiProperty({ description: 'What kind of actor.', enum: ['user', 'service_account', 'system'] })
  readonly type!: Actor['type'];
  @ApiProperty({ description: 'Its id.' })
  readonly id!: string;
}
