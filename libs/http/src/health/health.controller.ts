import { Controller, Get, Inject, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { HealthReport } from '@tracking/runtime';
import type { FastifyReply } from 'fastify';
import { HEALTH } from '../dependencies.ts';
import type { HttpDependencies } from '../dependencies.ts';
import { LivenessResource, ReadinessResource } from './health.resource.ts';
import { Operation } from '../operations/operation.ts';

/** For orchestrators: no key, no quota. */
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

  /** 503 only before the start is complete and while draining: with an engine lost, what still works keeps its traffic. */
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
