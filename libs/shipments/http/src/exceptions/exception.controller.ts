import { Controller, Get, HttpCode, Inject, Param, Post, Req, Res, applyDecorators } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { ShipmentException } from '@tracking/contracts';
import {
  BodyPipe,
  Command,
  Operation,
  ReadYourWrites,
  SentBody,
  WriteResponder,
  etagOf,
  notFound,
  refusal,
  scopeOf,
} from '@tracking/http';
import type { ReadBody, WriteResponse } from '@tracking/http';
import type { CommandContext } from '@tracking/shipments';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { EXCEPTION_IDS } from './exception-ids.pipe.ts';
import type { ExceptionIds } from './exception-ids.pipe.ts';
import { writtenException } from '../shipments/written-shipments.ts';
import {
  AcknowledgeExceptionDto,
  ExceptionResource,
  ExceptionWrittenResource,
  ResolveExceptionDto,
} from './exception.resource.ts';
import { SHIPMENTS } from '../dependencies.ts';

const OfId = (): MethodDecorator =>
  applyDecorators(
    ApiParam({ name: 'id', description: 'Id of the exception, `exc_…`.' }),
    refusal(404, 'No such exception in this workspace and environment.'),
  );
const TAGS = 'If-Match and the ETag of the answer are those of the shipment.';

/** One exception, wherever it is. */
@ApiTags('Exceptions')
@Controller('v1/exceptions/:id')
export class ExceptionController {
  constructor(
    @Inject(SHIPMENTS) private readonly shipments: ShipmentsHttpDependencies['shipments'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
  ) {}

  @Get()
  @Operation('getException', {
    summary: 'Get an exception, resolved or not',
    description: 'The ETag is that of the shipment.',
    conditional: 'read',
  })
  @OfId()
  @ApiResponse({ status: 200, description: 'The exception.', type: ExceptionResource })
  async get(
    @Param('id', EXCEPTION_IDS) { exception_id }: ExceptionIds,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ShipmentException> {
    // The stream is as new as any token; one that is none is refused all the same.
    this.readYourWrites.expected(request);
    const found = await this.shipments.getException({ ...scopeOf(request), exception_id });
    if (found === undefined) throw notFound('exception');
    reply.header('ETag', etagOf(found.shipment_version));
    return found.exception;
  }

  @Post('acknowledge')
  @HttpCode(200)
  @Operation('acknowledgeException', {
    summary: 'Tell who deals with an exception',
    description: `Sent again it hands the exception on, or adds a note; as it is already, it changes nothing. ${TAGS}`,
    body: AcknowledgeExceptionDto,
    conditional: 'write',
  })
  @OfId()
  @ApiResponse({ status: 200, description: 'The exception.', type: ExceptionWrittenResource })
  @refusal(409, 'It is resolved.')
  async acknowledge(
    @SentBody(new BodyPipe(AcknowledgeExceptionDto, ExceptionWrittenResource)) sent: ReadBody<AcknowledgeExceptionDto>,
    @Param('id', EXCEPTION_IDS) ids: ExceptionIds,
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ShipmentException>> {
    const { assignee, note = null } = sent.value;
    const said = { note, ...(assignee !== undefined && { assignee }) };
    const written = await this.shipments.acknowledgeException({ ...command, ...ids, ...said });
    return this.responder.respond(reply, sent.warnings, writtenException(written));
  }

  @Post('resolve')
  @HttpCode(200)
  @Operation('resolveException', {
    summary: 'Resolve an exception',
    description: `What opened it by itself opens no other one until it was over once. ${TAGS}`,
    body: ResolveExceptionDto,
    conditional: 'write',
  })
  @OfId()
  @ApiResponse({
    status: 200,
    description: 'The exception, also where it was resolved before.',
    type: ExceptionWrittenResource,
  })
  async resolve(
    @SentBody(new BodyPipe(ResolveExceptionDto, ExceptionWrittenResource)) sent: ReadBody<ResolveExceptionDto>,
    @Param('id', EXCEPTION_IDS) ids: ExceptionIds,
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ShipmentException>> {
    const { code, note = null } = sent.value;
    const written = await this.shipments.resolveException({ ...command, ...ids, code: code ?? 'fixed', note });
    return this.responder.respond(reply, sent.warnings, writtenException(written));
  }
}
