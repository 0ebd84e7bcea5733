import { Body, Controller, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import type { PartitionCountStatus } from '@tracking/contracts';
import { createInvalidRequestError, RequestError, WholeNumberProperty } from '@tracking/http';
import { ALLOWED_PARTITION_COUNTS } from '@tracking/shipments';
import { type AdministrationDependencies, PARTITIONS_INJECTION_TOKEN } from './dependencies.ts';
import { DeclareQueryAndBodyLimit, wrapInListResponse, OperatorBodyPipe, type ListResponse } from './routes.ts';

class PartitionsDto {
  @WholeNumberProperty(1, Math.max(...ALLOWED_PARTITION_COUNTS), {
    description: 'Number of partitions, a power of two.',
  })
  partitions!: number;
}

/** Numbers of partitions into which subscribers of the event store divide the shipments. */
@Controller('administration/partitions')
export class SubscriberPartitionCountsController {
  constructor(
    @Inject(PARTITIONS_INJECTION_TOKEN) private readonly counts: NonNullable<AdministrationDependencies['partitions']>,
  ) {}

  @Get()
  @DeclareQueryAndBodyLimit()
  async listSubscriberPartitionCounts(): Promise<ListResponse<PartitionCountStatus>> {
    return wrapInListResponse(await this.counts.listPartitionCountPerSubscriber());
  }

  /** Responds as soon as the request is stored; `GET /administration/partitions` shows when the number has changed. */
  @Post(':subscriber')
  @DeclareQueryAndBodyLimit()
  @HttpCode(202)
  requestPartitionCountChange(
    @Param('subscriber') subscriber: string,
    @Body(new OperatorBodyPipe(PartitionsDto)) { partitions }: PartitionsDto,
  ): Promise<PartitionCountStatus> {
    const { subscribers } = this.counts;
    if (!subscribers.includes(subscriber))
      throw new RequestError('not_found', `unknown subscriber ${subscriber}; use one of ${subscribers.join(', ')}`);
    if (!ALLOWED_PARTITION_COUNTS.includes(partitions)) {
      const message = `Must be one of ${ALLOWED_PARTITION_COUNTS.join(', ')}.`;
      throw createInvalidRequestError([{ param: 'partitions', code: 'invalid_value', message }]);
    }
    return this.counts.requestPartitionCountChange(subscriber, partitions);
  }
}
