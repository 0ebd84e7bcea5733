import { ApiSchema } from '@nestjs/swagger';
import { OptionalBodyPipe, WholeNumber } from '@tracking/http';
import { EndpointCreatedResource } from './endpoint.resource.ts';

const MAX_OVERLAP_SECONDS = 7 * 86_400;

@ApiSchema({ name: 'WebhookSecretRotation' })
export class RotateSecretDto {
  @WholeNumber(0, MAX_OVERLAP_SECONDS, {
    description: 'How long the old secret signs beside the new one; 86,400, a day, unless told.',
    example: 86_400,
  })
  expires_in_seconds?: number | null;
}

export const ROTATION = new OptionalBodyPipe(RotateSecretDto, EndpointCreatedResource);
