import { ApiSchema } from '@nestjs/swagger';
import { ENVIRONMENTS } from '@tracking/contracts';
import type { Environment } from '@tracking/contracts';
import { Id, OneOf, Text, Timestamp, WholeNumber } from '@tracking/http';

const MAX_GRACE_SECONDS = 7 * 86_400;

@ApiSchema({ name: 'ApiKeyFields' })
export class ApiKeyDto {
  @Text({ description: 'What the key is for.', example: 'Nightly import', required: true })
  name!: string;

  @OneOf(ENVIRONMENTS, { description: 'Whose data it sees.', required: true })
  environment!: Environment;

  @Id('sva', { description: 'The service account whose key it is; without, it is one of your own.' })
  service_account_id?: string | null;

  @Timestamp({ description: 'From then on it is refused; never, unless told.' })
  expires_at?: string | null;
}

@ApiSchema({ name: 'ApiKeyRotation' })
export class RotateApiKeyDto {
  @WholeNumber(0, MAX_GRACE_SECONDS, {
    description: 'How long the old key is valid beside the new one; 0 unless told.',
    example: 86_400,
  })
  grace_seconds?: number | null;
}
