import { ApiSchema } from '@nestjs/swagger';
import type { Warning } from '@tracking/contracts';
import { Shown, ShownTime, ShownWarnings } from '@tracking/http';
import type { RevealedSecret } from '@tracking/webhooks';
import { EXAMPLE_SECRET } from './endpoint.resource.ts';

@ApiSchema({ name: 'WebhookPreviousSecret' })
class PreviousSecretResource {
  @Shown(String, 'Signs beside the newest one.', { example: EXAMPLE_SECRET })
  readonly secret!: string;
  @ShownTime('From then on it signs nothing.')
  readonly expires_at!: string;
}

@ApiSchema({ name: 'WebhookSecrets' })
export class EndpointSecretsResource implements RevealedSecret {
  @Shown(String, 'The endpoint.', { example: 'whe_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @Shown(String, 'The newest: the whole string is the HMAC key.', { example: EXAMPLE_SECRET })
  readonly secret!: string;
  @Shown([PreviousSecretResource], 'Those that a rotation left valid, the newest first; four at most.')
  readonly previous_secrets!: PreviousSecretResource[];
  @ShownWarnings()
  readonly warnings!: Warning[];
}
