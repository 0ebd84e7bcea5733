import { ApiProperty, ApiSchema } from '@nestjs/swagger';

@ApiSchema({ name: 'Liveness' })
export class LivenessResource {
  @ApiProperty({ description: 'Always `live`.', enum: ['live'] })
  readonly status!: 'live';
}

@ApiSchema({ name: 'Readiness' })
export class ReadinessResource {
  @ApiProperty({
    description: '`degraded`: an engine is lost, and what works without it is answered.',
    enum: ['starting', 'ready', 'degraded', 'draining'],
  })
  readonly status!: string;
  @ApiProperty({
    type: 'object',
    description: 'By engine, `ok` or why it does not answer.',
    additionalProperties: { type: 'string' },
    example: { storage: 'ok' },
  })
  readonly engines!: Record<string, string>;
}
