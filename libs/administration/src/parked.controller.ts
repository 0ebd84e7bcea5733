import { Controller, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import type { ItemPage, ParkedRetry, ParkedShipment } from '@tracking/contracts';
import { notFound } from '@tracking/http';
import type { ParkedMessage } from '@tracking/webhooks';
import { READ_MODELS, WEBHOOKS } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { ignoreNotFound } from './operator.ts';
import { AcceptsInput, createListAnswer } from './routes.ts';
import type { ListAnswer } from './routes.ts';

const PAGE_SIZE = 200;

/** Shipments and messages that read models or webhooks could not process and set aside. */
@Controller('administration/parked')
export class ParkedController {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: AdministrationDependencies['readModels'],
    @Inject(WEBHOOKS) private readonly webhooks: AdministrationDependencies['webhooks'],
  ) {}

  @Get()
  @AcceptsInput()
  async list(): Promise<ListAnswer<ParkedShipment | ParkedMessage>> {
    return createListAnswer([...(await this.shipments()), ...(await this.messages())]);
  }

  /** Requests a retry of a parked shipment and waits a few seconds for the outcome. */
  @Post(':id/retry')
  @AcceptsInput()
  @HttpCode(200)
  async retry(@Param('id') id: string): Promise<ParkedRetry> {
    const outcome = await this.readModels.retryParked(id);
    if (outcome !== 'not_found') return { id, outcome };
    return { id, outcome: await this.retryMessage(id) };
  }

  private async shipments(): Promise<readonly ParkedShipment[]> {
    const parked = await this.readModels.listParkedShipments();
    return parked.map(({ id, read_model, generation, stream, revision, event_type, error, parked_at, attempts }) => {
      return { id, read_model, generation, stream, revision, event_type, error, parked_at, attempts };
    });
  }

  private async messages(): Promise<readonly ParkedMessage[]> {
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

  private async retryMessage(id: string): Promise<ParkedRetry['outcome']> {
    const retried = this.webhooks && (await ignoreNotFound(this.webhooks.parked.retry({ id })));
    if (retried === undefined) throw notFound('parked shipment or message');
    return retried.recorded ? 'applied' : 'parked';
  }
}
