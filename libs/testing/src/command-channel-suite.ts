import { DomainError } from '@tracking/contracts';
import { Busy, Unavailable, type CommandChannel, type CommandHandler } from '@tracking/ports';
import { eventually } from './eventually.ts';

export type Services = Readonly<Record<string, Readonly<Record<string, CommandHandler>>>>;

export interface CommandChannelSubject {
  /** A channel to a server that answers for these services. */
  open(services: Services): Promise<CommandChannel>;
  /** Ends both. */
  close(): Promise<void>;
}

const LONG_MS = 20_000;

/** Every promise of the `CommandChannel` port. */
export function commandChannelConformance(name: string, subject: CommandChannelSubject): void {
  describe(`command channel on ${name}`, () => {
    let channel: CommandChannel;
    const calls: unknown[] = [];
    const held = Promise.withResolvers<null>();
    const refusal = new DomainError('validation_failed', 'Two fields are wrong. ø港', [
      { param: 'legs[0].etd', code: 'invalid_timestamp', message: 'no offset' },
      { param: 'house_bill', code: 'too_long', message: 'too long' },
    ]);
    const refuse = (error: Error) => () => Promise.reject(error);

    beforeAll(async () => {
      channel = await subject.open({
        things: {
          echo: (request) => Promise.resolve(request),
          note: (request) => Promise.resolve(calls.push(request)),
          nothing: () => Promise.resolve(null),
          wait: () => held.promise,
          refuse: refuse(refusal),
          unavailable: refuse(new Unavailable('event store', 'does not answer')),
          busy: refuse(new Busy('storage', 'too much waits')),
          fail: refuse(new TypeError('password=hunter2 in /srv/app/secret.ts')),
          failAtOnce: () => {
            throw new Error('hunter2');
          },
        },
        others: { echo: () => Promise.resolve('another') },
      });
    });
    afterAll(async () => {
      held.resolve(null);
      await subject.close();
    });

    async function errorOf(method: string, deadlineMs = LONG_MS, service = 'things'): Promise<Error> {
      const outcome: unknown = await channel.call(service, method, {}, deadlineMs).catch((error: unknown) => error);
      expect(outcome).toBeInstanceOf(Error);
      return outcome as Error;
    }

    it('hands over the request and brings back the answer', async () => {
      const request = {
        text: 'Ærø 港 🚢 "\\\n\u0000',
        list: [1, -0.5, 1e21, null, true, []],
        deep: { er: { empty: {} } },
      };
      expect(await channel.call('things', 'echo', request, LONG_MS)).toEqual(request);
      expect(await channel.call('things', 'nothing', {}, LONG_MS)).toBeNull();
      expect(await channel.call('others', 'echo', {}, LONG_MS)).toBe('another');
    });

    it('carries large requests', async () => {
      const request = { text: 'x'.repeat(3_000_000) };
      expect(await channel.call('things', 'echo', request, LONG_MS)).toEqual(request);
    });

    it('carries many calls at once, each to its own answer', async () => {
      const numbers = Array.from({ length: 500 }, (_, number) => ({ number }));
      const answers = await Promise.all(numbers.map((request) => channel.call('things', 'echo', request, LONG_MS)));
      expect(answers).toEqual(numbers);
    });

    it('calls a method once when all goes well', async () => {
      await channel.call('things', 'note', { call: 1 }, LONG_MS);
      await channel.call('things', 'note', { call: 2 }, LONG_MS);
      expect(calls).toEqual([{ call: 1 }, { call: 2 }]);
    });

    it('brings a refusal as it was thrown', async () => {
      const error = await errorOf('refuse');
      expect(error).toBeInstanceOf(DomainError);
      const { code, message, details } = error as DomainError;
      expect({ code, message, details }).toEqual({
        code: refusal.code,
        message: refusal.message,
        details: refusal.details,
      });
    });

    it('brings an engine’s absence as it was thrown', async () => {
      const error = await errorOf('unavailable');
      expect(error).toBeInstanceOf(Unavailable);
      expect(error).not.toBeInstanceOf(Busy);
      expect(error).toMatchObject({ engine: 'event store', message: 'event store: does not answer' });
    });

    it('brings a full queue as it was thrown', async () => {
      const error = await errorOf('busy');
      expect(error).toBeInstanceOf(Busy);
      expect(error).toMatchObject({ engine: 'storage', message: 'storage: too much waits' });
    });

    it.each(['fail', 'failAtOnce'])('keeps the details of any other error to the service (%s)', async (method) => {
      const error = await errorOf(method);
      expect(error.name).toBe('Error');
      expect(error).not.toBeInstanceOf(Unavailable);
      expect(`${error.message} ${error.stack} ${String(error.cause)} ${JSON.stringify(error)}`).not.toContain(
        'hunter2',
      );
    });

    it('gives up at the deadline, and works on', async () => {
      const start = performance.now();
      const error = await errorOf('wait', 100);
      expect(error).toBeInstanceOf(Unavailable);
      expect(error).not.toBeInstanceOf(Busy);
      expect(error).toMatchObject({ engine: 'things' });
      expect(performance.now() - start).toBeGreaterThanOrEqual(90);
      expect(await channel.call('things', 'nothing', {}, LONG_MS)).toBeNull();
    });

    it.each(['none', 'toString', '__proto__', 'constructor'])(
      'refuses a method that nobody answers: %s',
      async (method) => {
        const error = await errorOf(method);
        expect(error.name).toBe('Error');
      },
    );

    it('misses a service that nobody answers for', async () => {
      expect(await errorOf('echo', 500, 'nobody')).toBeInstanceOf(Unavailable);
    });

    it('takes no calls once closed', async () => {
      held.resolve(null);
      await channel.close();
      await eventually(async () => expect(await errorOf('echo', 500)).toBeInstanceOf(Unavailable));
    });
  });
}
