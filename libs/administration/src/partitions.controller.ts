import { Body, Controller, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import type { PartitionStatus } from '@tracking/contracts';
import { createInvalidRequestError, RequestError, WholeNumberField } from '@tracking/http';
import { PARTITION_NUMBERS } from '@tracking/shipments';
import { type AdministrationDependencies, PARTITIONS_TOKEN } from './dependencies.ts';
import { DeclareRouteInput, createListResponse, InputPipe, type ListResponse } from './routes.ts';

class PartitionsDto {
  @WholeNumberField(1, Math.max(...PARTITION_NUMBERS), { description: 'Number of partitions, a power of two.' })
  partitions!: number;
}

/** Numbers of partitions into which subscribers of the event store divide the shipments. */
@Controller('administration/partitions')
export class PartitionsController {
  constructor(
    @Inject(PARTITIONS_TOKEN) private readonly counts: NonNullable<AdministrationDependencies['partitions']>,
  ) {}

  @Get()
  @DeclareRouteInput()
  async listPartitions(): Promise<ListResponse<PartitionStatus>> {
    return createListResponse(await this.counts.listCounts());
  }

  /** Responds as soon as the request is stored; `GET /administration/partitions` shows when the number has changed. */
  @Post(':subscriber')
  @DeclareRouteInput()
  @HttpCode(202)
  requestPartitions(
    @Param('subscriber') subscriber: string,
    @Body(new InputPipe(PartitionsDto)) { partitions }: PartitionsDto,
  ): Promise<PartitionStatus> {
    const { subscribers } = this.counts;
    if (!subscribers.includes(subscriber))
      throw new RequestError('not_found', `unknown subscriber ${subscriber}; use one of ${subscribers.join(', ')}`);
    if (!PARTITION_NUMBERS.includes(partitions)) {
      const message = `Must be one of ${PARTITION_NUMBERS.join(', ')}.`;
      throw createInvalidRequestError([{ param: 'partitions', code: 'invalid_value', message }]);
    }
    return this.counts.requestCount(subscriber, partitions);
  }
}
