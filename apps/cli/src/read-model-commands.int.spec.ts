import { type CliRunResult, runCommandLineForTest } from '../test/run.ts';
import { startStubAdministration, type StubAdministration } from '../test/stub-administration.ts';

/** Commands with a service that uses 16 partitions until the number was read three times after a request. */
describe('partitions', () => {
  let service: StubAdministration;
  let requested: number;
  let readsUntilChange: number;
  let isStandalone: boolean;

  beforeAll(async () => {
    service = await startStubAdministration(({ route, body }) => {
      if (isStandalone) return createError('not_found', 'The path does not exist.');
      if (route === 'POST /partitions/others') return createError('not_found', 'unknown subscriber others');
      if (route === 'POST /partitions/publisher') {
        if (body['partitions'] === 3) return createError('validation_failed', 'Must be one of 1, 2, 4.');
        requested = Number(body['partitions']);
        return createStatus();
      }
      readsUntilChange -= 1;
      return { data: [createStatus()] };
    });
  });
  beforeEach(() => {
    service.requests = [];
    requested = 16;
    readsUntilChange = 3;
    isStandalone = false;
  });
  afterAll(() => service.close());

  const cli = (...line: readonly string[]): Promise<CliRunResult> => runCommandLineForTest(service.config, line);
  const createStatus = () => ({
    subscriber: 'publisher',
    partitions: readsUntilChange > 0 ? 16 : requested,
    requested,
  });
  const createError = (code: string, message: string) => ({ error: { code, message } });

  it('are listed with the number in use and the requested number', async () => {
    requested = 4;
    expect(await cli('partitions', 'list')).toEqual({
      code: 0,
      out: expect.stringMatching(/^SUBSCRIBER +PARTITIONS +REQUESTED\npublisher +16 +4\n$/),
      err: expect.any(String),
    });
    const { out } = await cli('partitions', 'list', '--json');
    expect(JSON.parse(out)).toEqual({ data: [{ subscriber: 'publisher', partitions: 16, requested: 4 }] });
  });

  it('are changed, and the command ends when the services use the requested number', async () => {
    const { code, out } = await cli('partitions', 'set', 'publisher', '32');
    expect([code, out]).toEqual([0, expect.stringMatching(/\npublisher +32 +32\n$/)]);
    expect(service.requests.map(({ route, body }) => [route, body])).toEqual([
      ['GET /partitions', {}],
      ['POST /partitions/publisher', { partitions: 32 }],
      ...Array(2).fill(['GET /partitions', {}]),
    ]);
  });

  it('are not changed if the number or the name is wrong', async () => {
    const run = async (...line: readonly string[]) => {
      const { code, out, err } = await cli('partitions', 'set', ...line);
      return [code, out, err.split('\n').at(-2)];
    };
    expect(await run('publisher', '3')).toEqual([2, '', 'error: Must be one of 1, 2, 4.']);
    expect(await run('others', '4')).toEqual([2, '', 'error: unknown subscriber others']);
    service.requests = [];
    expect((await run('publisher', 'four')).slice(0, 2)).toEqual([2, '']);
    expect(service.requests).toEqual([]);
  });

  it('of a standalone process cannot be listed or changed', async () => {
    isStandalone = true;
    for (const line of [['list'], ['set', 'publisher', '4']]) {
      const { code, out, err } = await cli('partitions', ...line);
      expect([code, out]).toEqual([2, '']);
      expect(err).toContain('error: a standalone process has one partition; only the services can have several');
    }
  });
});
