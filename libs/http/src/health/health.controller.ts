import { Controller, Get, Inject, Res } from '@nestjs/common';
import { ApiProperty, ApiResponse, ApiSchema, ApiTags } from '@nestjs/swagger';
import type { HealthReport } from '@tracking/runtime';
import type { FastifyReply } from 'fastify';
import { HEALTH, type HttpDependencies } from '../http-feature.ts';
import { Operation } from '../operations/operation.ts';

@ApiSchema({ name: 'Liveness' })
class LivenessResource {
  @ApiProperty({ description: 'Always `live`.', enum: ['live'] })
  readonly status!: 'live';
}

@ApiSchema({ name: 'Readiness' })
class ReadinessResource {
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

/** For orchestrators, without key and quota. */
@ApiTags('Health')
@Controller('health')
export class HealthController {
  constructor(@Inject(HEALTH) private readonly health: HttpDependencies['health']) {}

  @Get('live')
  @Operation('live', { summary: 'Whether the process runs' })
  @ApiResponse({ status: 200, description: 'It does.', type: LivenessResource })
  live(): { readonly status: 'live' } {
    return { status: 'live' };
  }

  /** 503 only during the start and while draining. With a lost engine, operations that still work keep their traffic. */
  @Get('ready')
  @Operation('ready', { summary: 'Whether the process takes requests, and how its engines are' })
  @ApiResponse({
    status: 200,
    description: 'It does: `ready`, or `degraded` while an engine is lost.',
    type: ReadinessResource,
  })
  @ApiResponse({ status: 503, description: 'It does not: `starting`, or `draining`.', type: ReadinessResource })
  ready(@Res({ passthrough: true }) reply: FastifyReply): Pick<HealthReport, 'status' | 'engines'> {
    const { status, engines, httpStatus } = this.health();
    reply.code(httpStatus);
    return { status, engines };
  }
}
