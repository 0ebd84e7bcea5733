import type { Listed, PageRequest, ParkedMessage } from '../requests.ts';
import type { ParkedMessages } from '../webhooks-api.ts';
import type { Parking } from './parked.ts';
import { parseEvent } from './published-event.ts';
import type { Recorder } from './recorder.ts';

/** The use cases of parked messages. */
export class ParkedMessageCases implements ParkedMessages {
  constructor(
    private readonly parking: Parking,
    private readonly recorder: Recorder,
  ) {}

  list(request: PageRequest): Promise<Listed<ParkedMessage>> {
    return this.parking.list(request);
  }

  async retry({ id }: { readonly id: string }): Promise<{ readonly recorded: boolean }> {
    const message = await this.parking.get(id);
    try {
      parseEvent(message.value);
    } catch {
      return { recorded: false };
    }
    await this.recorder.record([message]);
    await this.parking.remove(id);
    return { recorded: true };
  }
}
