import { ApiSchema } from '@nestjs/swagger';
import { Shown } from '../docs/shown.ts';

@ApiSchema({ name: 'Liveness' })
export class LivenessResource {
  @Shown(String, 'Always `live`.', { enum: ['live'] })
  readonly status!: 'live';
}

@ApiSchema({ name: 'Readiness' })
export class ReadinessResource {
  @Shown(String, '`degraded`: an engine is lost, and what works without it is answered.', {
    enum: ['starting', 'ready', 'degraded', 'draining'],
  })
  readonly status!: string;
  @Shown('object', 'By engine, `ok` or why it does not answer.', {
    additionalProperties: { type: 'string' },
    example: { storage: 'ok' },
  })
  readonly engines!: Record<string, string>;
}
