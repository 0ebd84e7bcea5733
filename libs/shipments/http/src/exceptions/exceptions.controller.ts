import { applyDecorators, Controller, Get, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { PipeTransform } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Page, WorkspaceScope, ShipmentException, Warning } from '@tracking/contracts';
import {
  RequestBodyValidationPipe,
  InjectCommandContext,
  InjectWorkspaceScope,
  PageCursorCodec,
  formatEtag,
  createNotFoundError,
  DeclareApiOperation,
  readListPage,
  PageDto,
  ReadYourWrites,
  DeclareErrorResponse,
  waitForResponseBudget,
  InjectRequestBody,
  WriteResponder,
} from '@tracking/http';
import type { RequestBodyWithWarnings, WriteResponse, WrittenResource } from '@tracking/http';
import type { ReadModelName, ExceptionListQuery, QueryPage } from '@tracking/read-models';
import { parseShipmentIdOfPart } from '@tracking/shipments';
import type { CommandContext, AnswerWithPosition } from '@tracking/shipments';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { READ_MODELS_INJECTION_TOKEN, SHIPMENTS_INJECTION_TOKEN } from '../dependencies.ts';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { ShipmentReader } from '../shipments/shipment-reader.ts';
import { SHIPMENT_ETAG_DESCRIPTION, ApiShipmentIdParameter, SHIPMENT_ID_PIPE } from '../shipments/shipment.pipes.ts';
import {
  AcknowledgeExceptionDto,
  toExceptionFilterAndSort,
  ExceptionPageResource,
  ExceptionResource,
  ExceptionWrittenResource,
  ListExceptionsDto,
  OpenExceptionDto,
  ResolveExceptionDto,
} from './exception.resource.ts';

/** Declares an operation on a single exception. */
const DeclareExceptionOperation = (): MethodDecorator =>
  applyDecorators(
    ApiParam({ name: 'id', description: 'Id of the exception, `exc_…`.' }),
    DeclareErrorResponse(404, 'No such exception in this workspace and environment.'),
  );

/** Ids of the exception in a path and of its shipment. The exception's id contains the shipment's id. */
interface ExceptionIds {
  readonly shipment_id: string;
  readonly exception_id: string;
}

/** @throws RequestError `not_found` if the text is not an exception id */
const EXCEPTION_IDS_PIPE: PipeTransform<string, ExceptionIds> = {
  transform(exception_id) {
    const shipment_id = parseShipmentIdOfPart('exception', exception_id);
    if (shipment_id === undefined) throw createNotFoundError('exception');
    return { shipment_id, exception_id };
  },
};

/** Routes for exceptions of all shipments and of one shipment. */
@ApiTags('Exceptions')
@Controller('v1')
export class ExceptionsController {
  @Inject(SHIPMENTS_INJECTION_TOKEN) private readonly shipments!: ShipmentsHttpDependencies['shipments'];
  @Inject(READ_MODELS_INJECTION_TOKEN) private readonly readModels!: ShipmentsHttpDependencies['readModels'];
  @Inject(ShipmentReader) private readonly shipmentReader!: ShipmentReader;
  @Inject(ReadYourWrites) private readonly readYourWrites!: ReadYourWrites<ReadModelName>;
  @Inject(WriteResponder) private readonly responder!: WriteResponder;
  @Inject(PageCursorCodec) private readonly cursors!: PageCursorCodec;

  @Get('exceptions')
  @DeclareApiOperation('listExceptions', {
    summary: 'List exceptions',
    description:
      'Newest first by default. A page may have fewer exceptions than limit, or even none, while has_more is true: continue with next_cursor.',
    query: ListExceptionsDto,
    readsYourWrites: 'list',
  })
  @ApiResponse({ status: 200, description: 'A page of exceptions.', type: ExceptionPageResource })
  async listExceptions(
    @Query() query: ListExceptionsDto,
    @InjectWorkspaceScope() scope: WorkspaceScope,
    @Req() request: FastifyRequest,
  ): Promise<Page<ShipmentException>> {
    const { filter, sort } = toExceptionFilterAndSort(query);
    return readListPage(
      query,
      { list: 'exceptions', scope, filter: { ...filter }, sort },
      this.cursors,
      (limit, after) => this.findExceptionPage(request, scope, { filter, sort, limit, after }),
    );
  }

  @Get('shipments/:id/exceptions')
  @DeclareApiOperation('listShipmentExceptions', {
    summary: 'List the exceptions of a shipment, newest first',
    query: PageDto,
    readsYourWrites: 'list',
  })
  @ApiShipmentIdParameter()
  @ApiResponse({ status: 200, description: 'A page of exceptions, in any status.', type: ExceptionPageResource })
  async listExceptionsOfShipment(
    @Param('id') id: string,
    @Query() query: PageDto,
    @InjectWorkspaceScope() scope: WorkspaceScope,
    @Req() request: FastifyRequest,
  ): Promise<Page<ShipmentException>> {
    const listing = { list: `exceptions of ${id}`, scope, filter: {}, sort: '-opened_at' };
    return readListPage(query, listing, this.cursors, async (limit, after) => {
      const { id: shipment_id } = await this.shipmentReader.getShipment(request, id);
      return this.findExceptionPage(request, scope, { filter: { shipment_id }, sort: '-opened_at', limit, after });
    });
  }

  @Post('shipments/:id/exceptions')
  @DeclareApiOperation('openException', {
    summary: 'Open an exception',
    description: `A shipment and each of its containers have at most one unresolved exception of each type. ${SHIPMENT_ETAG_DESCRIPTION}`,
    body: OpenExceptionDto,
    conditional: 'write',
  })
  @ApiShipmentIdParameter()
  @ApiResponse({ status: 201, description: 'Opened.', type: ExceptionWrittenResource })
  @ApiResponse({ status: 200, description: 'The exception that was already open.', type: ExceptionWrittenResource })
  async openException(
    @InjectRequestBody(new RequestBodyValidationPipe(OpenExceptionDto, ExceptionWrittenResource))
    sent: RequestBodyWithWarnings<OpenExceptionDto>,
    @Param('id', SHIPMENT_ID_PIPE) shipment_id: string,
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ShipmentException>> {
    const { value } = sent;
    const exception = {
      type: value.type,
      severity: value.severity ?? 'medium',
      title: value.title ?? null,
      detail: value.detail ?? null,
      container_number: value.container_number ?? null,
      milestone_id: value.milestone_id ?? null,
      reason_code: value.reason_code ?? null,
      assignee: value.assignee ?? null,
    };
    const written = await this.shipments.openException({ ...command, shipment_id, exception });
    const isNew = written.answer.outcome === 'opened';
    return this.responder.respondToWrite(reply, sent.warnings, {
      ...toWrittenExceptionResource(written),
      status: isNew ? 201 : 200,
      location: isNew ? `/v1/exceptions/${written.answer.exception.id}` : undefined,
    });
  }

  @Get('exceptions/:id')
  @DeclareApiOperation('getException', {
    summary: 'Get an exception',
    description: 'The ETag is the ETag of the shipment.',
    conditional: 'read',
    readsYourWrites: true,
  })
  @DeclareExceptionOperation()
  @ApiResponse({ status: 200, description: 'The exception.', type: ExceptionResource })
  async getException(
    @Param('id', EXCEPTION_IDS_PIPE) { exception_id }: ExceptionIds,
    @InjectWorkspaceScope() scope: WorkspaceScope,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ShipmentException> {
    this.readYourWrites.checkConsistencyToken(request);
    const found = await this.shipments.getException({ ...scope, exception_id });
    if (found === undefined) throw createNotFoundError('exception');
    reply.header('ETag', formatEtag(found.shipment_version));
    return found.exception;
  }

  @Post('exceptions/:id/acknowledge')
  @HttpCode(200)
  @DeclareApiOperation('acknowledgeException', {
    summary: 'Acknowledge an exception',
    description: `A repeated request can change the assignee or add a note. Without a change it has no effect. ${SHIPMENT_ETAG_DESCRIPTION}`,
    body: AcknowledgeExceptionDto,
    bodyMayBeOmitted: true,
    conditional: 'write',
  })
  @DeclareExceptionOperation()
  @ApiResponse({ status: 200, description: 'The exception.', type: ExceptionWrittenResource })
  @DeclareErrorResponse(409, 'The exception is resolved.')
  async acknowledgeException(
    @InjectRequestBody(new RequestBodyValidationPipe(AcknowledgeExceptionDto, ExceptionWrittenResource))
    sent: RequestBodyWithWarnings<AcknowledgeExceptionDto>,
    @Param('id', EXCEPTION_IDS_PIPE) ids: ExceptionIds,
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ShipmentException>> {
    const { assignee, note = null } = sent.value;
    const changes = { note, ...(assignee !== undefined && { assignee }) };
    const written = await this.shipments.acknowledgeException({ ...command, ...ids, ...changes });
    return this.responder.respondToWrite(reply, sent.warnings, toWrittenExceptionResource(written));
  }

  @Post('exceptions/:id/resolve')
  @HttpCode(200)
  @DeclareApiOperation('resolveException', {
    summary: 'Resolve an exception',
    description: `The rule that opened the exception opens no other one until its cause has ended once. ${SHIPMENT_ETAG_DESCRIPTION}`,
    body: ResolveExceptionDto,
    bodyMayBeOmitted: true,
    conditional: 'write',
  })
  @DeclareExceptionOperation()
  @ApiResponse({
    status: 200,
    description: 'The exception, even if it was resolved before.',
    type: ExceptionWrittenResource,
  })
  async resolveException(
    @InjectRequestBody(new RequestBodyValidationPipe(ResolveExceptionDto, ExceptionWrittenResource))
    sent: RequestBodyWithWarnings<ResolveExceptionDto>,
    @Param('id', EXCEPTION_IDS_PIPE) ids: ExceptionIds,
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ShipmentException>> {
    const { code, note = null } = sent.value;
    const written = await this.shipments.resolveException({ ...command, ...ids, code: code ?? 'fixed', note });
    return this.responder.respondToWrite(reply, sent.warnings, toWrittenExceptionResource(written));
  }

  /** @throws RequestError `read_model_behind` */
  private async findExceptionPage(
    request: FastifyRequest,
    scope: WorkspaceScope,
    query: ExceptionListQuery,
  ): Promise<QueryPage<ShipmentException>> {
    await this.readYourWrites.waitForReadModelOfList('exceptions', request);
    await waitForResponseBudget(request);
    return this.readModels.queries.exceptions.listExceptions(scope, query);
  }
}

interface ExceptionCommandAnswer {
  readonly exception: ShipmentException;
  readonly shipment_version: number;
  readonly warnings: readonly Warning[];
}

function toWrittenExceptionResource({
  answer,
  position,
}: AnswerWithPosition<ExceptionCommandAnswer>): WrittenResource<ShipmentException> {
  const { exception, shipment_version, warnings } = answer;
  const about = { shipment_id: exception.shipment_id, exception_id: exception.id };
  return { body: exception, position, version: shipment_version, warnings, about };
}
