import { Controller, Get, Inject, Res } from '@nestjs/common';
import { ApiProperty, ApiResponse, ApiSchema, ApiTags } from '@nestjs/swagger';
import type { HealthReport } from '@tracking/runtime';
import type { FastifyReply } from 'fastify';
import { HEALTH_INJECTION_TOKEN, type HttpDependencies } from '../http-feature.ts';
import { DeclareApiOperation } from '../operations/operation.ts';

@ApiSchema({ name: 'Liveness' })
class LivenessResource {
  @ApiProperty({ description: 'Always `live`.', enum: ['live'] })
  readonly status!: 'live';
}

@ApiSchema({ name: 'Readiness' })
class ReadinessResource {
  @ApiProperty({
    description: '`degraded`: a storage engine is unavailable, and operations that do not need this engine still work.',
    enum: ['starting', 'ready', 'degraded', 'draining'],
  })
  readonly status!: string;
  @ApiProperty({
    type: 'object',
    description: 'Status of each engine: `ok`, or the reason why it does not respond.',
    additionalProperties: { type: 'string' },
    example: { storage: 'ok' },
  })
  readonly engines!: Record<string, string>;
}

/** Health checks for orchestrators, without key and quota. */
@ApiTags('Health')
@Controller('health')
export class HealthController {
  constructor(@Inject(HEALTH_INJECTION_TOKEN) private readonly health: HttpDependencies['health']) {}

  @Get('live')
  @DeclareApiOperation('live', { summary: 'Check liveness' })
  @ApiResponse({ status: 200, description: 'The process is running.', type: LivenessResource })
  reportLiveness(): { readonly status: 'live' } {
    return { status: 'live' };
  }

  /**
   * Returns 503 only during the start and while the server drains. An unavailable engine does not cause a 503, because
   * some operations still work.
   */
  @Get('ready')
  @DeclareApiOperation('ready', { summary: 'Check readiness' })
  @ApiResponse({
    status: 200,
    description: 'The process accepts requests: `ready`, or `degraded` while an engine is unavailable.',
    type: ReadinessResource,
  })
  @ApiResponse({
    status: 503,
    description: 'The process does not accept requests: `starting` or `draining`.',
    type: ReadinessResource,
  })
  reportReadiness(@Res({ passthrough: true }) reply: FastifyReply): Pick<HealthReport, 'status' | 'engines'> {
    const { status, engines, httpStatus } = this.health();
    reply.code(httpStatus);
    return { status, engines };
  }
}
