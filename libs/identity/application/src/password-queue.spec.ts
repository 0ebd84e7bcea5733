import { BusyError } from '@tracking/ports';
import { type ClientInPasswordQueue, PasswordQueue } from './password-queue.ts';

const stranger = (...shares: string[]): ClientInPasswordQueue => ({ shares, isKnown: false });
const user = (id: string): ClientInPasswordQueue => ({ shares: [id], isKnown: true });

describe('the places of a queue of 100', () => {
  let queue: PasswordQueue;
  beforeEach(() => {
    queue = new PasswordQueue(100);
  });
  /** Takes places until one is refused, and returns their number. */
  const fill = (client: (n: number) => ClientInPasswordQueue): number => {
    for (let n = 0; ; n += 1) {
      try {
        queue.takePasswordQueuePlace(client(n));
      } catch (error) {
        expect(error).toBeInstanceOf(BusyError);
        return n;
      }
    }
  };

  it('are at most 20 for one wide network, and 10 for a narrow one in it', () => {
    expect(fill(() => stranger('2001:db8:1', '2001:db8:1:0'))).toBe(10);
    expect(fill((n) => stranger('2001:db8:1', `2001:db8:1:${n + 1}`))).toBe(10);
    expect(fill(() => stranger('203.0.113'))).toBe(20);
  });

  it('are at most 80 for strangers of any number of networks', () => {
    expect(fill((n) => stranger(`203.0.${n}`))).toBe(80);
    expect(fill((n) => user(`usr_${n}`))).toBe(20);
  });

  it('are at most 20 for one known user', () => {
    expect(fill(() => user('usr_a'))).toBe(20);
    expect(fill((n) => user(`usr_${n}`))).toBe(80);
  });

  it('are free again for others after they were left', () => {
    const places = Array.from({ length: 10 }, () =>
      queue.takePasswordQueuePlace(stranger('2001:db8:1', '2001:db8:1:0')),
    );
    expect(() => queue.takePasswordQueuePlace(stranger('2001:db8:1', '2001:db8:1:0'))).toThrow(BusyError);
    for (const place of places) queue.leavePasswordQueue(place);
    expect(fill(() => stranger('2001:db8:1', '2001:db8:1:0'))).toBe(10);
    expect(fill((n) => stranger(`203.0.${n}`))).toBe(70);
  });
});

describe('the turns', () => {
  it('go round among networks; known users are first in each round, and one hash is computed at a time', async () => {
    const queue = new PasswordQueue(100);
    const done: string[] = [];
    let underWay = 0;
    const compute = (name: string, place: ReturnType<PasswordQueue['takePasswordQueuePlace']>) =>
      queue.computeHashInTurn(place, async () => {
        expect((underWay += 1)).toBe(1);
        await new Promise(setImmediate);
        underWay -= 1;
        done.push(name);
      });
    const all = ['a', 'a', 'a', 'b', 'b', 'c'].map((network) =>
      compute(network, queue.takePasswordQueuePlace(stranger(network))),
    );
    const jo = queue.takePasswordQueuePlace(user('jo'));
    all.push(compute('jo', jo), compute('jo', jo));
    await Promise.all(all);
    expect(done).toEqual(['a', 'jo', 'jo', 'a', 'b', 'c', 'a', 'b']);
  });

  it.each([
    ['a known user', user('jo')],
    ['a stranger', stranger('d')],
  ])('come to each hash of %s while strangers of several networks come and leave', async (_, client) => {
    const queue = new PasswordQueue(100);
    let hashesOfOthers = 0;
    let isDone = false;
    const signInRepeatedly = async (network: string) => {
      while (!isDone && hashesOfOthers < 100) {
        const place = queue.takePasswordQueuePlace(stranger(network));
        await queue.computeHashInTurn(place, async () => {
          hashesOfOthers += 1;
          await new Promise(setImmediate);
        });
        queue.leavePasswordQueue(place);
      }
    };
    const others = ['a', 'b', 'c'].map(signInRepeatedly);
    const place = queue.takePasswordQueuePlace(client);
    for (let n = 0; n < 3; n += 1) await queue.computeHashInTurn(place, () => Promise.resolve());
    isDone = true;
    await Promise.all(others);
    expect(hashesOfOthers).toBeLessThan(20);
  });

  it('continue after a hash that failed', async () => {
    const queue = new PasswordQueue(10);
    const place = queue.takePasswordQueuePlace(user('jo'));
    const failed = queue.computeHashInTurn(place, () => {
      throw new Error('no memory');
    });
    await expect(failed).rejects.toThrow('no memory');
    expect(await queue.computeHashInTurn(place, () => Promise.resolve('done'))).toBe('done');
  });
});
