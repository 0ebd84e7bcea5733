import { PassThrough } from 'node:stream';
import { type CliRunResult, runCommandLineForTest } from '../test/run.ts';
import { startStubAdministration, type StubAdministration } from '../test/stub-administration.ts';
import { askConfirmation } from './terminal.ts';

describe('dead letters', () => {
  let service: StubAdministration;
  let answers: Record<string, object | readonly object[]>;

  beforeAll(async () => {
    service = await startStubAdministration((each) => {
      const answer = answers[each.route] ?? {};
      // Responses in order; the last one repeats.
      return Array.isArray(answer) ? ((answer.length > 1 ? answer.shift() : answer[0]) as object) : (answer as object);
    });
  });
  beforeEach(() => {
    service.requests = [];
    answers = { 'GET /dead_letters/summary': SUMMARY };
  });
  afterAll(() => service.close());

  const cli = (...line: readonly string[]): Promise<CliRunResult> =>
    runCommandLineForTest(service.config, ['dead-letters', ...line]);
  const posts = () => service.requests.filter(({ route }) => route.startsWith('POST'));
  const SUMMARY = {
    count: 20_012,
    is_exact: false,
    by_reason: [
      { reason: 'timeout', count: 20_000, is_exact: false },
      { reason: 'dns_failed', count: 12, is_exact: true },
    ],
    by_endpoint: [
      {
        endpoint_id: 'whe_a',
        workspace: 'default',
        environment: 'live',
        url: 'https://a.example.com/\u001b[2J',
        status: 'enabled',
        count: 20_012,
        is_exact: false,
      },
    ],
    by_event_type: [{ event_type: 'shipment.updated', count: 20_012, is_exact: false }],
    workspaces: ['default'],
  };
  const NONE = { count: 0, is_exact: true, by_reason: [], by_endpoint: [], by_event_type: [], workspaces: ['default'] };
  const replay = (status: string, done = 0, fields: object = {}) => ({
    id: 'rpl_1',
    workspace: 'default',
    environment: 'live',
    endpoint_id: 'whe_a',
    action: 'replay',
    status,
    matched: 12,
    done,
    failed: 0,
    ...fields,
  });
  const begun = (...replays: readonly object[]) => ({ data: replays, refused: [], workspaces: ['default'] });

  it('are counted by reason, endpoint and event type', async () => {
    const { code, out } = await cli('summary', '--reason', 'timeout', '--since', '2026-11-21T09:30:00Z');
    expect([code, out.split('\n')]).toEqual([
      0,
      [
        '20012+ dead letters',
        'REASON      COUNT',
        'timeout     20000+',
        'dns_failed  12',
        '',
        'ENDPOINT  WORKSPACE  ENVIRONMENT  STATUS   URL                         COUNT',
        'whe_a     default    live         enabled  https://a.example.com/ [2J  20012+',
        '',
        'EVENT             COUNT',
        'shipment.updated  20012+',
        '',
      ],
    ]);
    expect(service.requests).toMatchObject([
      { query: { workspace: 'default', reason: 'timeout', since: '2026-11-21T09:30:00Z' } },
    ]);
    expect(JSON.parse((await cli('summary', '--all-workspaces', '--json')).out)).toEqual(SUMMARY);
    expect(service.requests[1]?.query).toEqual({});
    answers = { 'GET /dead_letters/summary': NONE };
    expect((await cli('summary')).out).toBe('no items in workspace default\n');
  });

  it.each(['replay', 'discard'])('are processed by %s after a summary, if they match', async (how) => {
    answers[`POST /dead_letters/${how}`] = begun(replay('running'));
    const filters = ['--endpoint', 'whe_a', '--event-type', 'shipment.updated', '--reason', 'timeout'];
    const { code, out } = await cli(how, ...filters, '--until', '2026-11-22T00:00:00Z');
    expect(code).toBe(0);
    expect(out).toMatch(/^20012\+ dead letters$/m);
    expect(out).toMatch(/^rpl_1 +default +live +whe_a +replay +running +12 +0 +0$/m);
    expect(service.requests.map(({ route, query, body }) => [route, query, body])).toEqual([
      [
        'GET /dead_letters/summary',
        {
          workspace: 'default',
          endpoint_id: 'whe_a',
          event_type: 'shipment.updated',
          reason: 'timeout',
          until: '2026-11-22T00:00:00Z',
        },
        {},
      ],
      [
        `POST /dead_letters/${how}`,
        {},
        {
          workspace: 'default',
          endpoint_id: 'whe_a',
          event_types: ['shipment.updated'],
          reasons: ['timeout'],
          until: '2026-11-22T00:00:00Z',
        },
      ],
    ]);
  });

  it('are processed by id, and none is if one id is not a dead letter', async () => {
    answers['GET /deliveries/dlv_1'] = { id: 'dlv_1', status: 'dead_lettered' };
    answers['GET /deliveries/dlv_2'] = { id: 'dlv_2', status: 'succeeded' };
    answers['POST /dead_letters/discard'] = begun(replay('running'));
    expect((await cli('discard', 'dlv_1', 'dlv_1', '--all-workspaces')).code).toBe(0);
    expect(posts()).toMatchObject([{ body: { delivery_ids: ['dlv_1'] } }]);
    expect(posts()[0]?.body).not.toHaveProperty('workspace');
    const { code, err } = await cli('replay', 'dlv_1', 'dlv_2', '--json');
    expect([code, JSON.parse(err)]).toMatchObject([
      1,
      { error: { code: 'not_found', message: 'dlv_2 is not a dead letter: its status is succeeded' } },
    ]);
    expect(posts()).toHaveLength(1);
  });

  it('are shown with a plus if there are more than were counted, even if the count is 0', async () => {
    answers = { 'GET /dead_letters/summary': { ...NONE, is_exact: false } };
    answers['POST /dead_letters/discard'] = begun(replay('running'));
    expect((await cli('summary', '--reason', 'timeout')).out).toMatch(/^0\+ dead letters$/m);
    expect((await cli('discard', '--reason', 'timeout')).out).toMatch(/^0\+ dead letters$[^]*^rpl_1 /m);
    expect(posts()).toHaveLength(1);
  });

  it('are not processed if there are none', async () => {
    answers = { 'GET /dead_letters/summary': NONE };
    expect(await cli('replay')).toMatchObject({ code: 0, out: 'no items in workspace default\n' });
    expect(JSON.parse((await cli('discard', '--all', '--json')).out)).toEqual({
      data: [],
      refused: [],
      workspaces: ['default'],
    });
    expect(posts()).toEqual([]);
  });

  it('report endpoints for which the action was refused, and fail', async () => {
    const refused = [
      { endpoint_id: 'whe_b', workspace: 'Acme', code: 'endpoint_not_enabled', message: 'Enable it first.' },
    ];
    answers['POST /dead_letters/replay'] = { ...begun(replay('running')), refused };
    const { code, out, err } = await cli('replay', '--all-workspaces');
    expect([code, out]).toEqual([1, expect.stringMatching(/^rpl_1 /m)]);
    expect(err).toContain('whe_b of Acme: Enable it first.\nerror: the job was not started for 1 endpoints\n');
    const json = await cli('replay', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ data: [{ id: 'rpl_1' }], refused });
    expect(JSON.parse(json.err)).toMatchObject({ error: { code: 'endpoint_not_enabled' } });
  });

  it('are waited for with progress reports, and fail if a replay was canceled', async () => {
    answers['POST /dead_letters/replay'] = begun(replay('running'));
    answers['GET /replays/rpl_1'] = [replay('running', 5), replay('completed', 12)];
    const { code, out, err } = await cli('replay', '--wait');
    expect([code, out]).toEqual([0, expect.stringMatching(/^rpl_1 .* completed +12 +12 +0$/m)]);
    expect(err).toContain('5 of 12 matching so far are done, 0 failed; 1 of 1 running\n12 of 12');
    expect(service.requests.at(-1)?.query).toEqual({ workspace: 'default', environment: 'live' });
    answers['GET /replays/rpl_1'] = replay('canceled', 5);
    const canceled = await cli('replay', '--wait', '--json');
    expect([canceled.code, JSON.parse(canceled.out)]).toMatchObject([1, { data: [{ status: 'canceled' }] }]);
  });
});

describe('a user at a terminal', () => {
  const ask = async (line: string) => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    let told = '';
    const err = { write: (text: string) => void (told += text) };
    input.end(line);
    const answer = await askConfirmation({ input, err, signal: new AbortController().signal }, 'Go on?');
    return [answer, told];
  };

  it.each([
    ['y\n', true],
    [' YES \n', true],
    ['\n', false],
    ['no\n', false],
    ['', false],
  ])('is asked, and %j results in %s', async (line, expected) => {
    expect(await ask(line)).toEqual([expected, 'Go on? [y/N] ']);
  });

  it('is asked, but a script is not', async () => {
    const err = {
      write: () => {
        throw new Error('it asked');
      },
    };
    const { signal } = new AbortController();
    expect(await askConfirmation({ input: new PassThrough(), err, signal }, 'Go on?')).toBe(true);
  });
});
