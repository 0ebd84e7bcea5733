import { Controller, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import type { ItemPage, ParkedShipmentRetryOutcome, ParkedShipment } from '@tracking/contracts';
import { createNotFoundError } from '@tracking/http';
import type { ParkedMessage } from '@tracking/webhooks';
import { READ_MODELS_INJECTION_TOKEN, WEBHOOKS_INJECTION_TOKEN } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { returnUndefinedIfNotFound } from './operator.ts';
import { DeclareQueryAndBodyLimit, wrapInListResponse } from './routes.ts';
import type { ListResponse } from './routes.ts';

const PAGE_SIZE = 200;

/** Shipments and messages that read models or webhooks could not process and set aside. */
@Controller('administration/parked')
export class ParkedController {
  constructor(
    @Inject(READ_MODELS_INJECTION_TOKEN) private readonly readModels: AdministrationDependencies['readModels'],
    @Inject(WEBHOOKS_INJECTION_TOKEN) private readonly webhooks: AdministrationDependencies['webhooks'],
  ) {}

  @Get()
  @DeclareQueryAndBodyLimit()
  async listParkedItems(): Promise<ListResponse<ParkedShipment | ParkedMessage>> {
    return wrapInListResponse([...(await this.listParkedShipments()), ...(await this.listParkedMessages())]);
  }

  /**
   * Requests a retry of a parked shipment and waits a few seconds for the outcome. If no parked shipment has the id,
   * retries the parked message with this id.
   */
  @Post(':id/retry')
  @DeclareQueryAndBodyLimit()
  @HttpCode(200)
  async retryParkedShipmentOrMessage(@Param('id') id: string): Promise<ParkedShipmentRetryOutcome> {
    const outcome = await this.readModels.retryParkedStream(id);
    if (outcome !== 'not_found') return { id, outcome };
    return { id, outcome: await this.retryParkedMessage(id) };
  }

  private async listParkedShipments(): Promise<readonly ParkedShipment[]> {
    const parked = await this.readModels.listParkedShipments();
    return parked.map(({ id, read_model, generation, stream, revision, event_type, error, parked_at, attempts }) => {
      return { id, read_model, generation, stream, revision, event_type, error, parked_at, attempts };
    });
  }

  private async listParkedMessages(): Promise<readonly ParkedMessage[]> {
    const { webhooks } = this;
    if (!webhooks) return [];
    const found: ParkedMessage[] = [];
    let after: readonly string[] | null = null;
    do {
      const page: ItemPage<ParkedMessage> = await webhooks.parked.list({ limit: PAGE_SIZE, ...(after && { after }) });
      found.push(...page.items);
      after = page.next;
    } while (after !== null);
    return found;
  }

  private async retryParkedMessage(id: string): Promise<ParkedShipmentRetryOutcome['outcome']> {
    const retried = this.webhooks && (await returnUndefinedIfNotFound(this.webhooks.parked.retry({ id })));
    if (retried === undefined) throw createNotFoundError('parked shipment or message');
    return retried.recorded ? 'applied' : 'parked';
  }
}
