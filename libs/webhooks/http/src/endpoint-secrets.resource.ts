import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { OptionalBodyPipe, TIME, WholeNumber, WithWarnings } from '@tracking/http';
import type { RevealedSecret } from '@tracking/webhooks';
import { EXAMPLE_SECRET, EndpointCreatedResource } from './endpoint.resource.ts';

const MAX_OVERLAP_SECONDS = 7 * 86_400;

@ApiSchema({ name: 'WebhookPreviousSecret' })
class PreviousSecretResource {
  @ApiProperty({ description: 'Signs beside the newest one.', example: EXAMPLE_SECRET })
  readonly secret!: string;
  @ApiProperty({ ...TIME, description: 'From then on it signs nothing. UTC with milliseconds.' })
  readonly expires_at!: string;
}

@ApiSchema({ name: 'WebhookSecrets' })
export class EndpointSecretsResource extends WithWarnings implements RevealedSecret {
  @ApiProperty({ description: 'The endpoint.', example: 'whe_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ApiProperty({ description: 'The newest: the whole string is the HMAC key.', example: EXAMPLE_SECRET })
  readonly secret!: string;
  @ApiProperty({
    type: [PreviousSecretResource],
    description: 'Those that a rotation left valid, the newest first; four at most.',
  })
  readonly previous_secrets!: PreviousSecretResource[];
}

@ApiSchema({ name: 'WebhookSecretRotation' })
export class RotateSecretDto {
  @WholeNumber(0, MAX_OVERLAP_SECONDS, {
    description: 'How long the old secret signs beside the new one; 86,400, a day, unless told.',
    example: 86_400,
    nullable: true,
  })
  expires_in_seconds?: number | null;
}

export const ROTATION = new OptionalBodyPipe(RotateSecretDto, EndpointCreatedResource);
