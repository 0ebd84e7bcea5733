import { Controller, HttpCode, Inject, Post, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Milestone, PlaceLookup, Shipment, Warning } from '@tracking/contracts';
import {
  RequestBodyValidationPipe,
  InjectCommandContext,
  ErrorFilter,
  DeclareApiOperation,
  requirePrincipal,
  ReadYourWrites,
  requirePermission,
  InjectRequestBody,
} from '@tracking/http';
import type { ReadModelName } from '@tracking/read-models';
import type { RequestBodyWithWarnings } from '@tracking/http';
import type { CommandContext } from '@tracking/shipments';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PLACES_INJECTION_TOKEN, SHIPMENTS_INJECTION_TOKEN } from '../dependencies.ts';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { parseShipmentFieldsOfBody } from '../shipments/shipment.pipes.ts';
import type { ShipmentFieldsWithWarnings } from '../shipments/shipment.pipes.ts';
import { ShipmentWriteResponder } from '../shipments/written-shipments.ts';
import { readBulkMilestone, ShipmentFinder } from './bulk-milestone.ts';
import type { ParsedBulkMilestone } from './bulk-milestone.ts';
import { BulkRequestProcessor } from './bulk-request.ts';
import {
  BULK_BODY_LIMIT,
  BulkMilestonesDto,
  BulkMilestonesWrittenResource,
  BulkShipmentsDto,
  BulkShipmentsWrittenResource,
} from './bulk.resource.ts';

const NOT_ATOMIC_DESCRIPTION =
  'Each item is processed and answered like a single call, and items of one shipment in their order. The request is not atomic: a refused item does not affect the others. It counts as one request for the rate limit.';

/** Routes that write many shipments or milestones in one request. */
@Controller('v1')
export class BulkController {
  @Inject(SHIPMENTS_INJECTION_TOKEN) private readonly shipments!: ShipmentsHttpDependencies['shipments'];
  @Inject(PLACES_INJECTION_TOKEN) private readonly places!: PlaceLookup;
  @Inject(ShipmentFinder) private readonly finder!: ShipmentFinder;
  @Inject(ShipmentWriteResponder) private readonly written!: ShipmentWriteResponder;
  @Inject(ReadYourWrites) private readonly readYourWrites!: ReadYourWrites<ReadModelName>;
  @Inject(ErrorFilter) private readonly errors!: ErrorFilter;

  @Post('shipments/bulk')
  @HttpCode(200)
  @ApiTags('Shipments')
  @DeclareApiOperation('upsertShipments', {
    summary: 'Create or update up to 500 shipments',
    description: NOT_ATOMIC_DESCRIPTION,
    body: BulkShipmentsDto,
    acceptedBody: BULK_BODY_LIMIT,
  })
  @ApiResponse({ status: 200, description: 'One result for each item.', type: BulkShipmentsWrittenResource })
  async upsertShipments(
    @InjectRequestBody(new RequestBodyValidationPipe(BulkShipmentsDto, BulkShipmentsWrittenResource))
    sent: RequestBodyWithWarnings<BulkShipmentsDto>,
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { request } = reply;
    const bulk = new BulkRequestProcessor<ShipmentFieldsWithWarnings, Shipment>(
      sent.value.shipments,
      command,
      'shipment',
    );
    await bulk.readBulkItems(
      (item) => parseShipmentFieldsOfBody({ body: item, strict: command.strict }, this.places),
      getBodySizeInBytes(request),
    );
    await bulk.processBulkItems(
      // An item without an external_id always creates a new shipment, so it needs no group.
      ({ fields }) => fields.external_id ?? undefined,
      async ({ fields, warnings }, own) => {
        const written = await this.shipments.upsertShipment({ ...own, fields });
        const status = written.answer.outcome === 'created' ? 201 : 200;
        return { status, ...this.written.createBulkItemResponse(request, written, warnings) };
      },
    );
    return this.respondToItems(reply, bulk, sent.warnings);
  }

  @Post('milestones/bulk')
  @HttpCode(200)
  @ApiTags('Milestones')
  @DeclareApiOperation('recordMilestones', {
    summary: 'Record up to 500 milestones of any shipments',
    description: NOT_ATOMIC_DESCRIPTION,
    body: BulkMilestonesDto,
    acceptedBody: BULK_BODY_LIMIT,
    readsYourWrites: true,
  })
  @ApiResponse({ status: 200, description: 'One result for each item.', type: BulkMilestonesWrittenResource })
  async recordMilestones(
    @InjectRequestBody(new RequestBodyValidationPipe(BulkMilestonesDto, BulkMilestonesWrittenResource))
    sent: RequestBodyWithWarnings<BulkMilestonesDto>,
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { request } = reply;
    const bulk = new BulkRequestProcessor<ParsedBulkMilestone, Milestone>(sent.value.milestones, command, 'milestone');
    const items = await bulk.readBulkItems(
      (item) => this.parsePermittedBulkMilestone(item, command, request),
      getBodySizeInBytes(request),
    );
    const found = await this.finder.findShipmentsOfBulkMilestones(request, items);
    bulk.checkValidBulkItems(found.check);
    await bulk.processBulkItems(found.groupOf, async (item, own) => {
      const { milestone, warnings } = item;
      const shipment_id = await found.idOf(item);
      const { answer, position } = await this.shipments.recordMilestone({ ...own, shipment_id, milestone });
      return {
        status: answer.outcome === 'recorded' ? 201 : 200,
        resource: answer.milestone,
        warnings: [...warnings, ...answer.warnings],
        position,
      };
    });
    return this.respondToItems(reply, bulk, sent.warnings);
  }

  private parsePermittedBulkMilestone(
    item: unknown,
    command: CommandContext,
    request: FastifyRequest,
  ): ParsedBulkMilestone {
    const read = readBulkMilestone(item, command, this.places);
    if (read.milestone.source !== 'manual') requirePermission(requirePrincipal(request), 'milestones:feed');
    return read;
  }

  /**
   * Responds with the token of the last write and the response to each item.
   * @param ignored warnings about the request's body
   * @returns response as JSON
   * @throws the error of the items if all items failed because of the service
   */
  private async respondToItems<T, R extends object>(
    reply: FastifyReply,
    bulk: BulkRequestProcessor<T, R>,
    ignored: readonly Warning[],
  ): Promise<string> {
    const { request } = reply;
    request.resourceIds = bulk.counts;
    const failure = bulk.combineItemFailuresIntoError((error) => this.errors.toItemError(error, request));
    if (failure.isOfAll) throw failure.error;
    request.storesResponse = !failure.isOfSome;
    await this.readYourWrites.rememberWriteAndAddToken(reply, bulk.position);
    if (bulk.hasLateWarnings) await this.readYourWrites.waitForModelBriefly('shipments', bulk.position);
    reply.type('application/json; charset=utf-8');
    return bulk.formatBulkResponse(ignored);
  }
}

/** Returns the size of the body in bytes; infinite if the request does not state the size. */
function getBodySizeInBytes({ headers }: FastifyRequest): number {
  return Number(headers['content-length'] ?? Infinity);
}
