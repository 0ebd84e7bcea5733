import { UnavailableError } from '@eventstore/db-client';
import { createEventStoreDbNodeClient } from './node-client.ts';

interface ReconnectingClient {
  readonly getChannel: () => Promise<unknown>;
  readonly handleError: (stub: object, error: Error) => Promise<void>;
}

describe('the client', () => {
  it('handles errors that occur while it searches for a missing node', async () => {
    const options = 'tls=false&maxDiscoverAttempts=1&discoveryInterval=1';
    const { leader, close } = createEventStoreDbNodeClient({ url: `esdb://127.0.0.1:9,127.0.0.1:10?${options}` });
    const { getChannel, handleError } = leader.client as unknown as ReconnectingClient;
    const searching = getChannel();
    const handled = handleError({ getChannel: () => undefined }, new UnavailableError());
    await expect(searching).rejects.toThrow('Failed to discover');
    await expect(handled).resolves.toBeUndefined();
    await close();
  });
});
