import type { Timestamp } from '@tracking/contracts';
import type { Collection, Document } from '@tracking/ports';
import type { DeliveryDocument } from '../store/delivery-document.ts';
import type { EndpointDocument } from './endpoint-document.ts';
import type { EndpointStore } from './endpoint-store.ts';

const PAGE_SIZE = 100;

export interface EndpointSweeperParts {
  readonly endpoints: EndpointStore;
  /** How endpoints have been answering, by their ids. */
  readonly health: Pick<Collection<Document>, 'delete'>;
  readonly deliveries: Collection<DeliveryDocument>;
  readonly replays: { hasAny(endpointId: string): Promise<boolean> };
}

/** Removes deleted endpoints with their health, once none of their deliveries and replays is left: those refer to them. */
export class EndpointSweeper {
  constructor(private readonly parts: EndpointSweeperParts) {}

  /** @param before removes endpoints that were deleted before then */
  async sweep(before: Timestamp, ending: AbortSignal): Promise<void> {
    const { endpoints, health } = this.parts;
    let last: EndpointDocument | undefined;
    while (!ending.aborted) {
      const page = await endpoints.deletedBefore(before, PAGE_SIZE, last);
      last = page.at(-1);
      if (last === undefined) return;
      for (const endpoint of page) {
        if (await this.isReferredTo(endpoint)) continue;
        // The endpoint last: interrupted before, it is found again.
        await health.delete(endpoint.id);
        await endpoints.forget(endpoint);
      }
    }
  }

  private async isReferredTo({ id }: EndpointDocument): Promise<boolean> {
    const deliveries = await this.parts.deliveries.find({ filter: { endpoint_id: id }, limit: 1 });
    return deliveries.length > 0 || (await this.parts.replays.hasAny(id));
  }
}
