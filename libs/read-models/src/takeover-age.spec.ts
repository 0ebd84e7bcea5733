import { UnavailableError } from '@tracking/ports';
import { ReadModelAgeDuringTakeover } from './takeover-age.ts';

const NOW = new Date('2026-01-01T00:00:10Z');

describe('the age of a read model during a takeover', () => {
  let progress: { isTakenOver: boolean; readCurrentHandledPosition: () => Promise<string> };
  beforeEach(() => {
    progress = { isTakenOver: true, readCurrentHandledPosition: () => Promise.resolve('0001') };
  });

  it('is refused soon if the event store does not answer, and then looked up again', async () => {
    const answers = [new Promise<never>(() => undefined), Promise.resolve('2026-01-01T00:00:07Z')];
    const age = new ReadModelAgeDuringTakeover(
      progress,
      () => NOW,
      () => answers.shift()!,
    );
    const refused = await Promise.allSettled([age.measureAgeOfMissingEvents(), age.measureAgeOfMissingEvents()]);
    expect(refused).toMatchObject(
      Array(2).fill({ status: 'rejected', reason: expect.any(UnavailableError) as unknown }),
    );
    expect(await age.measureAgeOfMissingEvents()).toBe(3_000);
  });

  it('is undefined if the takeover ends during the look-up', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const age = new ReadModelAgeDuringTakeover(
      progress,
      () => NOW,
      () => promise,
    );
    const measured = age.measureAgeOfMissingEvents();
    progress.isTakenOver = false;
    resolve('2026-01-01T00:00:07Z');
    expect(await measured).toBeUndefined();
  });
});
