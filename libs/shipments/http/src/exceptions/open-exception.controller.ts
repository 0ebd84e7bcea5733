import { Controller, Inject, Param, Post, Res } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { ShipmentException } from '@tracking/contracts';
import { BodyPipe, Command, Operation, SentBody, WriteResponder, refusal } from '@tracking/http';
import type { ReadBody, WriteResponse } from '@tracking/http';
import type { CommandContext, ExceptionInput } from '@tracking/shipments';
import type { FastifyReply } from 'fastify';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { SHIPMENT_ID } from '../shipments/shipment-id.pipe.ts';
import { writtenException } from '../shipments/written-shipments.ts';
import { ExceptionWrittenResource, OpenExceptionDto } from './exception.resource.ts';
import { SHIPMENTS } from '../dependencies.ts';

@ApiTags('Exceptions')
@Controller('v1/shipments/:id/exceptions')
export class OpenExceptionController {
  constructor(
    @Inject(SHIPMENTS) private readonly shipments: ShipmentsHttpDependencies['shipments'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
  ) {}

  @Post()
  @Operation('openException', {
    summary: 'Open an exception, of whatever type',
    description:
      'There is at most one of a type that is not resolved, for the shipment and for each container. If-Match and the ETag of the answer are those of the shipment.',
    body: OpenExceptionDto,
    conditional: 'write',
  })
  @ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' })
  @ApiResponse({ status: 201, description: 'Opened.', type: ExceptionWrittenResource })
  @ApiResponse({ status: 200, description: 'It was open already: the one there is.', type: ExceptionWrittenResource })
  @refusal(404, 'No such shipment in this workspace and environment.')
  async open(
    @SentBody(new BodyPipe(OpenExceptionDto, ExceptionWrittenResource)) sent: ReadBody<OpenExceptionDto>,
    @Param('id', SHIPMENT_ID) shipment_id: string,
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ShipmentException>> {
    const exception = inputOf(sent.value);
    const written = await this.shipments.openException({ ...command, shipment_id, exception });
    const isNew = written.answer.outcome === 'opened';
    return this.responder.respond(reply, sent.warnings, {
      ...writtenException(written),
      status: isNew ? 201 : 200,
      location: isNew ? `/v1/exceptions/${written.answer.exception.id}` : undefined,
    });
  }
}

function inputOf(sent: OpenExceptionDto): ExceptionInput {
  return {
    type: sent.type,
    severity: sent.severity ?? 'medium',
    title: sent.title ?? null,
    detail: sent.detail ?? null,
    container_number: sent.container_number ?? null,
    milestone_id: sent.milestone_id ?? null,
    reason_code: sent.reason_code ?? null,
    assignee: sent.assignee ?? null,
  };
}
