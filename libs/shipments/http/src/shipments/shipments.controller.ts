import { Controller, Get, HttpCode, Inject, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type {
  Container,
  EtaChange,
  HistoryEntry,
  Page,
  WorkspaceScope,
  Shipment,
  ShipmentExplanation,
  Warning,
} from '@tracking/contracts';
import {
  RequestBodyValidationPipe,
  InjectCommandContext,
  InjectWorkspaceScope,
  PageCursorCodec,
  formatEtag,
  createMergePatchBodyRule,
  BODY_IGNORING_PIPE,
  DeclareApiOperation,
  readListPage,
  PageDto,
  ReadYourWrites,
  DeclareErrorResponse,
  waitForResponseBudget,
  InjectRequestBody,
  WriteResponder,
} from '@tracking/http';
import type { ReadModelName } from '@tracking/read-models';
import type { RequestBodyWithWarnings, WriteResponse } from '@tracking/http';
import type { CommandContext } from '@tracking/shipments';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SHIPMENTS_INJECTION_TOKEN } from '../dependencies.ts';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { ListShipmentsDto, ShipmentFilterPipe } from './shipment-filter.ts';
import type { ShipmentFiltersAndSort } from './shipment-filter.ts';
import {
  ActorNameFinder,
  EtaHistoryPageResource,
  HistoryPageResource,
  ShipmentExplanationResource,
} from './shipment-history.ts';
import { requireShipment, ShipmentReader } from './shipment-reader.ts';
import {
  RefuseFutureAsOfTimePipe,
  CONTAINER_PARAMETERS_PIPE,
  SHIPMENT_ETAG_DESCRIPTION,
  GetShipmentDto,
  ApiShipmentIdParameter,
  SHIPMENT_ID_PIPE,
  ParseShipmentBodyPipe,
  ShipmentPatchPipe,
} from './shipment.pipes.ts';
import type { ContainerPathParameters, ShipmentFieldsWithWarnings, ParsedShipmentPatch } from './shipment.pipes.ts';
import { ContainerWrittenResource, PatchContainerDto } from './container.resource.ts';
import {
  PatchShipmentDto,
  ShipmentPageResource,
  ShipmentResource,
  ShipmentWrittenResource,
  UpsertShipmentDto,
} from './shipment.resource.ts';
import { ShipmentWriteResponder } from './written-shipments.ts';

@ApiTags('Shipments')
@Controller('v1/shipments')
export class ShipmentsController {
  @Inject(SHIPMENTS_INJECTION_TOKEN) private readonly shipments!: ShipmentsHttpDependencies['shipments'];
  @Inject(ShipmentReader) private readonly reader!: ShipmentReader;
  @Inject(ShipmentWriteResponder) private readonly written!: ShipmentWriteResponder;
  @Inject(WriteResponder) private readonly responder!: WriteResponder;
  @Inject(ReadYourWrites) private readonly readYourWrites!: ReadYourWrites<ReadModelName>;
  @Inject(PageCursorCodec) private readonly cursors!: PageCursorCodec;
  @Inject(ActorNameFinder) private readonly actorNames!: ActorNameFinder;

  @Post()
  @DeclareApiOperation('upsertShipment', {
    summary: 'Create or update a shipment',
    body: UpsertShipmentDto,
    conditional: 'upsert',
  })
  @ApiResponse({ status: 201, description: 'Created.', type: ShipmentWrittenResource })
  @ApiResponse({
    status: 200,
    description: 'The existing shipment, updated with the values of the request.',
    type: ShipmentWrittenResource,
  })
  async upsertShipment(
    @InjectRequestBody(ParseShipmentBodyPipe) { fields, warnings }: ShipmentFieldsWithWarnings,
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<Shipment>> {
    const written = await this.shipments.upsertShipment({ ...command, fields });
    const isNew = written.answer.outcome === 'created';
    return this.responder.respondToWrite(reply, warnings, {
      ...(await this.written.respondWithDuplicateWarnings(reply.request, written)),
      status: isNew ? 201 : 200,
      location: isNew ? `/v1/shipments/${written.answer.shipment.id}` : undefined,
    });
  }

  @Get()
  @DeclareApiOperation('listShipments', {
    summary: 'List shipments',
    description:
      'Newest first by default. A page may have fewer shipments than limit, or even none, while has_more is true: continue with next_cursor.',
    query: ListShipmentsDto,
    readsYourWrites: 'list',
  })
  @ApiResponse({ status: 200, description: 'A page of shipments.', type: ShipmentPageResource })
  async listShipments(
    @Query() query: ListShipmentsDto,
    @Query(ShipmentFilterPipe) { filter, cursorFilter, sort, order }: ShipmentFiltersAndSort,
    @InjectWorkspaceScope() scope: WorkspaceScope,
    @Req() request: FastifyRequest,
  ): Promise<Page<Shipment>> {
    return readListPage(query, { list: 'shipments', scope, filter: cursorFilter, sort }, this.cursors, (limit, after) =>
      this.reader.listShipments(request, { filter, order, limit, after }),
    );
  }

  @Get(':id')
  @DeclareApiOperation('getShipment', {
    summary: 'Get a shipment',
    query: GetShipmentDto,
    conditional: 'read',
    readsYourWrites: true,
  })
  @ApiShipmentIdParameter()
  @ApiResponse({ status: 200, description: 'The shipment.', type: ShipmentResource })
  @DeclareErrorResponse(400, 'The Consistency-Token is not valid.')
  async getShipment(
    @Param('id') id: string,
    @Query(RefuseFutureAsOfTimePipe) { as_of }: GetShipmentDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Shipment> {
    const { reader } = this;
    const record = await (as_of ? reader.getShipmentAtTime(request, id, as_of) : reader.getShipment(request, id));
    reply.header('ETag', formatEtag(record.version));
    return reader.convertToShipmentResource(record);
  }

  @Patch(':id')
  @DeclareApiOperation('changeShipment', {
    summary: 'Change a shipment',
    description: 'A JSON merge patch (RFC 7396).',
    body: PatchShipmentDto,
    acceptedBody: createMergePatchBodyRule(),
    conditional: 'write',
  })
  @ApiShipmentIdParameter()
  @ApiResponse({ status: 200, description: 'The shipment.', type: ShipmentWrittenResource })
  async patchShipment(
    @InjectRequestBody(ShipmentPatchPipe) { patch, warnings }: ParsedShipmentPatch,
    @Param('id', SHIPMENT_ID_PIPE) shipment_id: string,
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<Shipment>> {
    const written = await this.shipments.patchShipment({ ...command, shipment_id, patch });
    const response = await this.written.respondWithDuplicateWarnings(reply.request, written);
    return this.responder.respondToWrite(reply, warnings, response);
  }

  @Patch(':id/containers/:number')
  @DeclareApiOperation('changeContainer', {
    summary: 'Change a container of a shipment',
    description: `A JSON merge patch (RFC 7396). ${SHIPMENT_ETAG_DESCRIPTION}`,
    body: PatchContainerDto,
    acceptedBody: createMergePatchBodyRule(),
    conditional: 'write',
  })
  @ApiShipmentIdParameter('The shipment or the container does not exist in this workspace and environment.')
  @ApiParam({ name: 'number', description: 'Number of a container of the shipment.', example: 'CSQU3054383' })
  @ApiResponse({ status: 200, description: 'The container.', type: ContainerWrittenResource })
  async changeContainer(
    @InjectRequestBody(new RequestBodyValidationPipe(PatchContainerDto, ContainerWrittenResource))
    sent: RequestBodyWithWarnings<PatchContainerDto>,
    @Param(CONTAINER_PARAMETERS_PIPE) ids: ContainerPathParameters,
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<Container>> {
    const patch = { ...sent.value };
    const { answer, position } = await this.shipments.patchContainer({ ...command, ...ids, patch });
    return this.responder.respondToWrite(reply, sent.warnings, {
      body: answer.container,
      position,
      version: answer.shipment_version,
      warnings: answer.warnings,
      about: { shipment_id: ids.shipment_id },
    });
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @DeclareApiOperation('cancelShipment', { summary: 'Cancel a shipment', conditional: 'write' })
  @ApiShipmentIdParameter()
  @ApiResponse({ status: 200, description: 'The shipment, even if nothing changed.', type: ShipmentWrittenResource })
  @DeclareErrorResponse(409, 'The shipment is already delivered.')
  async cancelShipment(
    @Param('id', SHIPMENT_ID_PIPE) shipment_id: string,
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<Shipment>> {
    const written = await this.shipments.cancelShipment({ ...command, shipment_id });
    return this.responder.respondToWrite(reply, ignored, this.written.toWrittenResource(written));
  }

  @Post(':id/reopen')
  @HttpCode(200)
  @DeclareApiOperation('reopenShipment', { summary: 'Reopen a cancelled shipment', conditional: 'write' })
  @ApiShipmentIdParameter()
  @ApiResponse({ status: 200, description: 'The shipment, even if nothing changed.', type: ShipmentWrittenResource })
  @DeclareErrorResponse(409, 'A milestone cancels the shipment.')
  async reopenShipment(
    @Param('id', SHIPMENT_ID_PIPE) shipment_id: string,
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<Shipment>> {
    const written = await this.shipments.reopenShipment({ ...command, shipment_id });
    const response = await this.written.respondWithDuplicateWarnings(reply.request, written);
    return this.responder.respondToWrite(reply, ignored, response);
  }

  @Get(':id/history')
  @DeclareApiOperation('listShipmentHistory', {
    summary: 'List the history of a shipment, newest first',
    query: PageDto,
    readsYourWrites: true,
  })
  @ApiShipmentIdParameter()
  @ApiResponse({
    status: 200,
    description: 'A page of entries, possibly fewer than `limit`.',
    type: HistoryPageResource,
  })
  async getHistory(
    @Param('id', SHIPMENT_ID_PIPE) shipment_id: string,
    @Query() query: PageDto,
    @InjectWorkspaceScope() scope: WorkspaceScope,
    @Req() request: FastifyRequest,
  ): Promise<Page<HistoryEntry>> {
    this.readYourWrites.checkConsistencyToken(request);
    const listing = { list: `history of ${shipment_id}`, scope, filter: {}, sort: '-version' };
    return readListPage(query, listing, this.cursors, async (limit, after) => {
      await waitForResponseBudget(request);
      const found = await this.shipments.listHistory({ ...scope, shipment_id, limit, after: after?.map(Number) });
      const { items, next } = requireShipment(found);
      const names = await this.actorNames.readActorNames(items.map(({ actor }) => actor));
      const named = items.map((entry) => ({
        ...entry,
        actor: { ...entry.actor, name: names.get(entry.actor.id) ?? null },
      }));
      return { items: named, next };
    });
  }

  @Get(':id/eta_history')
  @DeclareApiOperation('listEtaHistory', {
    summary: 'List the ETA changes of a shipment, newest first',
    query: PageDto,
    readsYourWrites: true,
  })
  @ApiShipmentIdParameter()
  @ApiResponse({
    status: 200,
    description: 'A page of entries, possibly fewer than `limit`.',
    type: EtaHistoryPageResource,
  })
  async listEtaHistory(
    @Param('id', SHIPMENT_ID_PIPE) shipment_id: string,
    @Query() query: PageDto,
    @InjectWorkspaceScope() scope: WorkspaceScope,
    @Req() request: FastifyRequest,
  ): Promise<Page<EtaChange>> {
    this.readYourWrites.checkConsistencyToken(request);
    const listing = { list: `eta history of ${shipment_id}`, scope, filter: {}, sort: '-version' };
    return readListPage(query, listing, this.cursors, async (limit, after) =>
      requireShipment(await this.shipments.listEtaHistory({ ...scope, shipment_id, limit, after: after?.map(Number) })),
    );
  }

  @Get(':id/explanation')
  // No `ETag`: expected exceptions depend on settings, which change without the shipment's version.
  @DeclareApiOperation('explainShipment', {
    summary: 'Explain the status, times and exceptions of a shipment',
    readsYourWrites: true,
  })
  @ApiShipmentIdParameter()
  @ApiResponse({
    status: 200,
    description: 'The explanation: for each value, the rule and the milestone that determined it.',
    type: ShipmentExplanationResource,
  })
  async explainShipment(
    @Param('id', SHIPMENT_ID_PIPE) shipment_id: string,
    @InjectWorkspaceScope() scope: WorkspaceScope,
    @Req() request: FastifyRequest,
  ): Promise<ShipmentExplanation> {
    this.readYourWrites.checkConsistencyToken(request);
    return requireShipment(await this.shipments.explainShipment({ ...scope, shipment_id }));
  }
}
