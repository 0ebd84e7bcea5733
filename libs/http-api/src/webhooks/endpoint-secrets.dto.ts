import type { PipeTransform } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import type { Sent } from '../server/request-decorators.ts';
import { WholeNumber } from '../validation/fields.ts';
import { BodyPipe } from '../validation/read-body.ts';
import type { ReadBody } from '../validation/read-body.ts';
import { EndpointCreatedResource } from './endpoint.resource.ts';

const MAX_OVERLAP_SECONDS = 7 * 86_400;

@ApiSchema({ name: 'WebhookSecretRotation' })
export class RotateSecretDto {
  @WholeNumber(0, MAX_OVERLAP_SECONDS, {
    description: 'How long the old secret signs beside the new one; 86,400, a day, unless told.',
    example: 86_400,
    kept: true,
  })
  expires_in_seconds?: number;
}

const rotation = new BodyPipe(RotateSecretDto, EndpointCreatedResource);
/** Without a body everything is as it is unless told. */
export const ROTATION: PipeTransform<Sent, ReadBody<RotateSecretDto>> = {
  transform: (sent) => rotation.transform({ ...sent, body: sent.body ?? {} }),
};
