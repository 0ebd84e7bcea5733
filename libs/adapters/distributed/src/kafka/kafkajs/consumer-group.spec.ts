import { createRequire } from 'node:module';
import { joinAs, patchConsumerGroups } from './consumer-group.ts';

interface Joinable {
  joinAndSync(): Promise<void>;
}
const require = createRequire(import.meta.url);
const { prototype } = require('kafkajs/src/consumer/consumerGroup.js') as { readonly prototype: Joinable };

describe('joining a group', () => {
  const original = prototype.joinAndSync;
  let attempts: number;
  /** Told of each attempt, of which all fail. */
  let attempted: () => void;
  beforeAll(() => {
    prototype.joinAndSync = () => {
      attempts += 1;
      attempted();
      return Promise.reject(new Error('no answer'));
    };
    patchConsumerGroups();
  });
  afterAll(() => {
    prototype.joinAndSync = original;
  });
  beforeEach(() => {
    attempts = 0;
    attempted = () => undefined;
  });

  const join = (ended: AbortSignal) => {
    const cluster = {};
    joinAs({ id: 'member', leaves: false }, cluster, ended);
    return prototype.joinAndSync.call(Object.assign(Object.create(prototype) as Joinable, { cluster, memberId: null }));
  };

  it('is tried five times', async () => {
    await expect(join(new AbortController().signal)).rejects.toMatchObject({ message: 'no answer', retriable: false });
    expect(attempts).toBe(5);
  });

  it('ends with its client, whatever is left to try', async () => {
    const client = new AbortController();
    attempted = () => client.abort();
    await expect(join(client.signal)).rejects.toMatchObject({ message: 'no answer', retriable: false });
    expect(attempts).toBe(1);
  });
});
