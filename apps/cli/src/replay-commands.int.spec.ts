import { runCommandLineForTest } from '../test/run.ts';
import { startStubAdministration, type StubAdministration } from '../test/stub-administration.ts';

describe('replays', () => {
  let service: StubAdministration;
  let statuses: string[];
  const replay = (status: string) => ({
    ...{ id: 'rpl_1', workspace: 'default', environment: 'live', endpoint_id: 'whe_a', action: 'replay', status },
    ...{ matched: 12, done: 11, failed: 1 },
  });

  beforeAll(async () => {
    service = await startStubAdministration((each) => {
      if (each.route === 'GET /replays')
        return { data: [replay('running')], workspaces: ['default'], next_cursor: null };
      return replay(statuses.shift() ?? 'completed');
    });
  });
  beforeEach(() => {
    service.requests = [];
    statuses = [];
  });
  afterAll(() => service.close());
  const cli = (...line: readonly string[]) => runCommandLineForTest(service.config, ['replays', ...line]);
  const routes = () => service.requests.map(({ route }) => route);

  it('are listed, shown, canceled and resumed', async () => {
    const listed = await cli('list', '--endpoint', 'whe_a');
    expect([listed.code, listed.out]).toEqual([0, expect.stringMatching(/rpl_1.*running.*12.*11.*1/)]);
    for (const how of ['show', 'cancel', 'resume']) {
      expect(await cli(how, 'rpl_1', '--json')).toMatchObject({ code: 0, out: expect.stringContaining('"done"') });
    }
    expect(routes()).toEqual([
      'GET /replays',
      'GET /replays/rpl_1',
      'POST /replays/rpl_1/cancel',
      'POST /replays/rpl_1/resume',
    ]);
  });

  it('are created with the given options, and waited for', async () => {
    statuses = ['running', 'running', 'completed'];
    const made = await cli('create', 'whe_a', '--status', 'missed', '--since', '2026-11-21T09:30:00Z', '--wait');
    expect([made.code, made.out]).toEqual([0, expect.stringContaining('completed')]);
    expect(routes()).toEqual(['POST /webhook_endpoints/whe_a/replay', 'GET /replays/rpl_1', 'GET /replays/rpl_1']);
    expect(service.requests[0]?.body).toMatchObject({
      statuses: ['missed'],
      since: '2026-11-21T09:30:00Z',
      workspace: 'default',
    });
    statuses = ['running', 'canceled'];
    expect((await cli('create', 'whe_a', '--wait')).code).toBe(1);
  });

  it('are rejected if an option is invalid', async () => {
    expect((await cli('create', 'whe_a', '--status', 'pending')).code).toBe(2);
    expect((await cli('create', 'whe_a', '--reason', 'nope')).code).toBe(2);
    expect((await cli('create')).code).toBe(2);
    expect(service.requests).toEqual([]);
  });
});
