import { type CliRunResult, runCommandLineForTest } from '../test/run.ts';
import {
  type AdministrationRequest,
  startStubAdministration,
  type StubAdministration,
} from '../test/stub-administration.ts';

/** Commands with a service that has 450 deliveries, newest first. */
describe('deliveries and dead letters', () => {
  let service: StubAdministration;
  let answers: Readonly<Record<string, object>>;

  beforeAll(async () => {
    service = await startStubAdministration((each) => {
      const isList = each.route === 'GET /deliveries' && !(each.route in answers);
      return isList ? page(each.query) : (answers[each.route] ?? {});
    });
  });
  beforeEach(() => {
    service.requests = [];
    answers = {};
  });
  afterAll(() => service.close());

  const cli = (...line: readonly string[]): Promise<CliRunResult> => runCommandLineForTest(service.config, line);
  const deliveries = Array.from({ length: 450 }, (_, index) => delivery(450 - index));
  function page({ limit, cursor }: AdministrationRequest['query']): object {
    const start = Number(cursor ?? 0);
    const end = start + Number(limit);
    const next_cursor = end < deliveries.length ? String(end) : null;
    return { data: deliveries.slice(start, end), workspaces: ['default'], next_cursor };
  }
  function delivery(number: number): object {
    return {
      id: `dlv_${number}`,
      workspace: 'default',
      environment: 'live',
      endpoint_id: 'whe_a',
      event_id: `evt_${number}`,
      event_type: 'milestone.recorded',
      status: 'dead_lettered',
      sandbox: false,
      created_at: '2026-11-21T09:30:00.000Z',
      next_attempt_at: null,
      completed_at: '2026-11-24T09:30:00.000Z',
      attempts_count: 20,
      last_error: { code: 'timeout', message: 'no answer\nin time' },
    };
  }
  const detail = {
    ...delivery(7),
    payload: { id: 'evt_7', data: {} },
    attempts: [
      {
        number: 1,
        at: '2026-11-21T09:30:00.000Z',
        duration_ms: 12,
        status_code: 500,
        error: { code: 'status_500', message: 'answered 500' },
        response: { headers: {}, body: `broken\u001b[2J${'x'.repeat(500)}` },
        manual: true,
      },
    ],
  };

  it('are listed, newest 50 by default', async () => {
    const { code, out } = await cli('deliveries', 'list');
    const lines = out.split('\n');
    expect([code, lines.length]).toEqual([0, 1 + 50 + 1 + 1]);
    expect(lines[0]).toMatch(
      /^ID +WORKSPACE +ENVIRONMENT +ENDPOINT +EVENT +STATUS +CREATED +ATTEMPTS +NEXT ATTEMPT +LAST/,
    );
    expect(lines[1]).toMatch(
      /^dlv_450 +default +live +whe_a +milestone.recorded +dead_lettered +2026\S+ +20 +- +no answer in/,
    );
    expect(lines[51]).toBe('more items match; raise --limit to see them');
    expect(service.requests.map(({ query }) => query)).toEqual([{ workspace: 'default', limit: '50' }]);
  });

  it('are listed over all pages needed', async () => {
    const { out } = await cli('dead-letters', 'list', '--limit', '401', '--json');
    const { data, ...others } = JSON.parse(out) as { data: { id: string }[] };
    expect([data.length, data[0]?.id, data.at(-1)?.id, others]).toEqual([
      401,
      'dlv_450',
      'dlv_50',
      { workspaces: ['default'] },
    ]);
    expect(service.requests.map(({ query }) => [query['limit'], query['cursor'], query['status']])).toEqual([
      ['200', undefined, 'dead_lettered'],
      ['200', '200', 'dead_lettered'],
      ['1', '400', 'dead_lettered'],
    ]);
    expect((await cli('dead-letters', 'list', '--limit', '1000')).out).not.toContain('there are more');
  });

  it('are searched in the workspace and with the filters of the options', async () => {
    const filters =
      '--endpoint whe_a --event-type shipment.created --since 2026-11-21T09:30:00Z --until 2026-11-22T00:00:00Z';
    await cli('dead-letters', 'list', '--all-workspaces', '--environment', 'test', ...filters.split(' '));
    await cli('deliveries', 'list', '--workspace', 'Acme', '--event', 'evt_a', '--status', 'pending,retrying');
    expect(service.requests.map(({ query }) => query)).toEqual([
      {
        environment: 'test',
        endpoint_id: 'whe_a',
        event_type: 'shipment.created',
        since: '2026-11-21T09:30:00Z',
        until: '2026-11-22T00:00:00Z',
        status: 'dead_lettered',
        limit: '50',
      },
      { workspace: 'Acme', event_id: 'evt_a', status: 'pending,retrying', limit: '50' },
    ]);
  });

  it('name the searched workspaces if none matches', async () => {
    answers = { 'GET /deliveries': { data: [], workspaces: ['default'], next_cursor: null } };
    expect((await cli('dead-letters', 'list')).out).toBe('no items in workspace default\n');
    answers = { 'GET /deliveries': { data: [], workspaces: ['default', 'Acme'], next_cursor: null } };
    expect((await cli('deliveries', 'list', '--all-workspaces')).out).toBe(
      'no items in the workspaces default, Acme\n',
    );
    const { out } = await cli('deliveries', 'list', '--all-workspaces', '--json');
    expect(JSON.parse(out)).toEqual({ data: [], workspaces: ['default', 'Acme'] });
  });

  it('are shown with payload and attempts', async () => {
    answers = { 'GET /deliveries/dlv_7': detail };
    for (const command of ['deliveries', 'dead-letters']) {
      const { code, out } = await cli(command, 'show', 'dlv_7', '--workspace', 'Acme');
      expect(code).toBe(0);
      expect(out).toMatch(/^id +dlv_7$/m);
      expect(out).toMatch(/^last_error +timeout: no answer in time$/m);
      expect(out).toMatch(/^payload +\{"id":"evt_7","data":\{\}\}$/m);
      expect(out).toMatch(/^ATTEMPT +AT +MS +STATUS +MANUAL +ERROR +RESPONSE$/m);
      expect(out).toMatch(/^1 +2026-11-21T09:30:00.000Z +12 +500 +yes +answered 500 +broken \[2Jx{150,200}$/m);
      expect(JSON.parse((await cli(command, 'show', 'dlv_7', '--json')).out)).toEqual(detail);
    }
    expect(service.requests[0]).toMatchObject({ query: { workspace: 'Acme' } });
  });

  it('that succeeded are not dead letters', async () => {
    answers = { 'GET /deliveries/dlv_7': { ...detail, status: 'succeeded' } };
    expect(await cli('dead-letters', 'show', 'dlv_7')).toEqual({
      code: 1,
      out: '',
      err: `data folder: ${service.folder}\nerror: dlv_7 is not a dead letter: its status is succeeded\n`,
    });
  });

  it('are retried', async () => {
    answers = { 'POST /deliveries/dlv_7/retry': delivery(7) };
    expect((await cli('deliveries', 'retry', 'dlv_7')).out).toBe(
      'dlv_7 is being attempted; for the result, use deliveries show\n',
    );
    expect(JSON.parse((await cli('deliveries', 'retry', 'dlv_7', '--all-workspaces', '--json')).out)).toEqual(
      delivery(7),
    );
    expect(service.requests.map(({ body }) => body)).toEqual([{ workspace: 'default' }, {}]);
  });

  it('are distinguished from shipments among parked items', async () => {
    const parked_at = '2026-11-21T09:30:00.000Z';
    const shipment = { id: 'shipments.1.shipment-a', read_model: 'shipments', generation: 1, stream: 'shipment-a' };
    const event = { revision: 4, event_type: 'milestone.recorded.v1', error: 'no such thing', parked_at, attempts: 2 };
    const message = { id: 'shipment-events.0.12', topic: 'shipment-events', partition: 0, offset: '12', key: 'k' };
    const data = [
      { ...shipment, ...event },
      { ...message, error: 'the message is not JSON', parked_at },
    ];
    answers = { 'GET /parked': { data } };
    const lines = (await cli('parked', 'list')).out.split('\n');
    expect(lines[1]).toMatch(/^shipments.1.shipment-a +shipments +4 +milestone.recorded.v1 +\S+Z +2 +no such thing$/);
    expect(lines[2]).toMatch(/^shipment-events.0.12 +webhooks +- +- +\S+Z +- +the message is not JSON$/);
    expect(JSON.parse((await cli('parked', 'list', '--json')).out)).toEqual({ data });
  });
});
