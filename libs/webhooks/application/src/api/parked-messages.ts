import type { ReceivedMessage } from '@tracking/ports';
import type { Parking } from '../recording/parking.ts';
import type { PageOf, PageRequest, PayloadVersions } from '@tracking/contracts';
import { consumedEvent } from '../recording/published-event.ts';
import type { ParkedMessage } from '../requests-and-answers.ts';
import type { ParkedMessages } from '../webhooks-api.ts';

/** The use cases of parked messages. */
export class ParkedMessageCases implements ParkedMessages {
  /** @param record resolves when the deliveries of these messages are stored */
  constructor(
    private readonly parking: Parking,
    private readonly versions: PayloadVersions,
    private readonly record: (messages: readonly ReceivedMessage[]) => Promise<void>,
  ) {}

  list(request: PageRequest): Promise<PageOf<ParkedMessage>> {
    return this.parking.list(request);
  }

  async retry({ id }: { readonly id: string }): Promise<{ readonly recorded: boolean }> {
    const message = await this.parking.get(id);
    try {
      consumedEvent(message, this.versions);
    } catch {
      return { recorded: false };
    }
    await this.record([message]);
    await this.parking.remove(id);
    return { recorded: true };
  }
}
