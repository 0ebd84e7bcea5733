import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CliRunResult, runCommandLineForTest } from '../test/run.ts';
import {
  type AdministrationRequest,
  startStubAdministration,
  type StubAdministration,
} from '../test/stub-administration.ts';

type Handler = (query: AdministrationRequest['query'], body: AdministrationRequest['body']) => object | undefined;

/** Commands with a service whose responses the test sets. */
describe('events', () => {
  let service: StubAdministration;
  let routes: Record<string, Handler>;

  beforeEach(async () => {
    routes = {
      'GET /workspaces': () => ({ data: WORKSPACES }),
      'POST /events/workspaces': () => ({}),
      'POST /events': (_query, { events = [] }) => ({ stored: (events as object[]).length, conflicts: [] }),
      'GET /events': ({ after }) =>
        after === undefined
          ? { events: EVENTS.slice(0, 2), position: 'a', complete: false }
          : { events: EVENTS.slice(2), position: 'b', complete: true },
    };
    service = await startStubAdministration((each) => {
      return routes[each.route] ? routes[each.route]?.(each.query, each.body) : {};
    });
  });
  afterEach(() => service.close());

  const WORKSPACES = [{ id: 'wsp_a', name: 'default', created_at: '2026-11-01T00:00:00.000Z' }];
  const EVENTS = [0, 1, 2].map((revision) => ({ stream: 'shipment-a', revision, id: `e${revision}` }));
  const LINES = [
    ...WORKSPACES.map((workspace) => ({ workspace })),
    ...EVENTS.map((event) => ({ event })),
    { end: { events: 3 } },
  ];
  const TEXT = LINES.map((line) => `${JSON.stringify(line)}\n`).join('');
  const cli = (line: readonly string[], input?: string): Promise<CliRunResult> =>
    runCommandLineForTest(service.config, line, undefined, input);
  const stored = () =>
    service.requests.filter(({ route }) => route === 'POST /events').map(({ body }) => body['events']);

  it('are exported to standard output without any other text', async () => {
    expect(await cli(['events', 'export', '-'])).toEqual({
      code: 0,
      out: TEXT,
      err: `data folder: ${service.folder}\n3 events\n`,
    });
    expect(await cli(['events', 'export', '-', '--json'])).toEqual({ code: 0, out: TEXT, err: '' });
  });

  it('are imported from standard input', async () => {
    const { code, out } = await cli(['events', 'import', '-', '--json'], TEXT);
    expect([code, JSON.parse(out)]).toEqual([0, { events: 3, conflicts: [] }]);
    expect(stored()).toEqual([EVENTS]);
    expect(service.requests.filter(({ route }) => route === 'POST /events/workspaces').map(({ body }) => body)).toEqual(
      WORKSPACES,
    );
  });

  it('are imported, and the shipments of their workspaces are checked after the last event', async () => {
    const ends = () =>
      service.requests.flatMap(({ route, body }, place) => (route === 'POST /events/end' ? [[place, body]] : []));
    expect((await cli(['events', 'import', '-'], TEXT.slice(0, TEXT.lastIndexOf('{"end"')))).code).toBe(1);
    expect(ends()).toEqual([]);
    expect((await cli(['events', 'import', '-'], TEXT)).code).toBe(0);
    expect(ends()).toEqual([[service.requests.length - 1, { workspaces: ['wsp_a'] }]]);
  });

  it('are exported to a file and imported from it', async () => {
    const file = join(service.folder, 'events.jsonl');
    expect((await cli(['events', 'export', file])).out).toBe('3 events\n');
    expect(await readFile(file, 'utf8')).toBe(TEXT);
    expect((await cli(['events', 'export', file])).code).toBe(1);
    expect(await readFile(file, 'utf8')).toBe(TEXT);
    expect((await cli(['events', 'import', file])).out).toBe('3 events\n');
    expect(stored()).toEqual([EVENTS]);
  });

  it('are imported in requests below the size limit, in any alphabet', async () => {
    const events = [0, 1, 2, 3].map((revision) => ({ stream: 'shipment-a', revision, note: '港'.repeat(900_000) }));
    const lines = [...events.map((event) => ({ event })), { end: { events: 4 } }];
    const { code } = await cli(['events', 'import', '-'], lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    expect([code, stored().flat()]).toEqual([0, events]);
    const sizes = stored().map((one) => Buffer.byteLength(JSON.stringify(one)));
    expect(Math.max(...sizes)).toBeLessThan(4 * 2 ** 20);
  });

  it('are imported if a text contains other line separators, or the last line has no line feed', async () => {
    const events = EVENTS.map((event) => ({ ...event, note: 'a\u2028b\u2029c\u0085d\r\né' }));
    const lines = [...WORKSPACES.map((workspace) => ({ workspace })), ...events.map((event) => ({ event }))];
    const text = [...lines, { end: { events: 3 } }].map((line) => JSON.stringify(line)).join('\n');
    expect((await cli(['events', 'import', '-'], text)).code).toBe(0);
    expect(stored()).toEqual([events]);
  });

  it('are exported to the same file after a failed attempt', async () => {
    const file = join(service.folder, 'events.jsonl');
    routes['GET /workspaces'] = () => ({ error: { code: 'unavailable', message: 'No answer.' } });
    expect((await cli(['events', 'export', file])).code).not.toBe(0);
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });

  it('are not reported as complete if a part is missing or a line is invalid', async () => {
    const cut = TEXT.slice(0, TEXT.lastIndexOf('{"end"'));
    const { code, err } = await cli(['events', 'import', '-'], cut);
    expect([code, err.split('\n').at(-2)]).toEqual([
      1,
      'error: standard input is incomplete: 3 events were stored, the last ones are missing',
    ]);
    expect((await cli(['events', 'import', '-'], 'PO-1\n')).err).toContain('the file contains a line that is not JSON');
    const looks = service.requests.length;
    expect(await cli(['events', 'import', join(service.folder, 'none')])).toMatchObject({
      code: 1,
      err: expect.stringContaining('ENOENT'),
    });
    expect(service.requests.length).toBe(looks);
  });

  it.each([
    ['no JSON', 'PO-1\n', 'the file contains a line that is not JSON; use a file that events export wrote'],
    [
      'cut',
      TEXT.slice(0, TEXT.lastIndexOf('{"end"')),
      'standard input is incomplete: 3 events were stored, the last ones are missing',
    ],
  ])('in a file that is %s are rejected as invalid input', async (_what, text, message) => {
    const { code, err } = await cli(['events', 'import', '-', '--json'], text);
    const told = { type: 'invalid_request', code: 'validation_failed', message };
    expect([code, JSON.parse(err)]).toEqual([1, { error: expect.objectContaining(told) }]);
  });

  it('that the service rejects are an error of the file, not of the command', async () => {
    const details = [{ param: 'events[0].id', code: 'invalid_type', message: 'Must be a UUID.' }];
    const error = { type: 'invalid_request', code: 'validation_failed', message: 'm', param: 'x', details };
    routes['POST /events'] = () => ({ error });
    const { code, err } = await cli(['events', 'import', '-', '--json'], TEXT);
    const told = { code: 'validation_failed', message: 'events[0].id: Must be a UUID.', details };
    expect([code, JSON.parse(err)]).toEqual([1, { error: expect.objectContaining(told) }]);
  });

  it.each([
    ['export', 'GET /events'],
    ['import', 'POST /events'],
  ])('in a stream are not sent again if the service stops: %s', async (how, route) => {
    routes[route] = () => undefined;
    const { code, err } = await cli(['events', how, '-'], TEXT);
    expect([code, err.split('\n').at(-2)]).toEqual([
      1,
      'error: the service stopped during the transfer, and a stream cannot restart: run the command again',
    ]);
  });

  describe('of shipments that have other events in the service', () => {
    const CONFLICT = {
      stream: 'shipment-a',
      shipment_id: 'shp_a',
      workspace_id: 'wsp_a',
      environment: 'live',
      external_id: 'PO-1',
      revision: 1,
    };
    const note = 'x'.repeat(2_500_000);
    const events = [
      ...EVENTS.map((event) => ({ ...event, note })),
      ...EVENTS.map((event) => ({ ...event, stream: 'shipment-b', note })),
    ];
    const text = [...WORKSPACES.map((workspace) => ({ workspace })), ...events.map((event) => ({ event }))]
      .concat([{ end: { events: 6 } } as never])
      .map((line) => JSON.stringify(line))
      .join('\n');
    beforeEach(() => {
      routes['POST /events'] = (_query, body) => {
        const [event] = body['events'] as typeof events;
        const isConflict = event?.stream === 'shipment-a' && event.revision === 1;
        return isConflict ? { stored: 0, conflicts: [CONFLICT] } : { stored: 1, conflicts: [] };
      };
    });

    it('are skipped and listed, and the import continues, and exits with 3', async () => {
      const { code, out, err } = await cli(['events', 'import', '-'], text);
      expect(out).toMatch(
        /^4 events\nSHIPMENT +EXTERNAL ID +WORKSPACE ID +ENVIRONMENT +FROM REVISION\nshp_a +PO-1 +wsp_a +live +1\n$/,
      );
      expect([code, err.split('\n').at(-2)]).toEqual([
        3,
        'error: 1 shipment has other events in the service; the import skipped the events from the first difference on',
      ]);
      const sent = stored().flatMap((each) =>
        (each as typeof events).map(({ stream, revision }) => [stream, revision]),
      );
      expect(sent).toEqual([
        ['shipment-a', 0],
        ['shipment-a', 1],
        ['shipment-b', 0],
        ['shipment-b', 1],
        ['shipment-b', 2],
      ]);
      expect(service.requests.at(-1)?.route).toBe('POST /events/end');
    });

    it('are part of the result with --json', async () => {
      const { code, out, err } = await cli(['events', 'import', '-', '--json'], text);
      expect([code, JSON.parse(out)]).toEqual([3, { events: 4, conflicts: [CONFLICT] }]);
      expect(JSON.parse(err)).toMatchObject({ error: { code: 'validation_failed' } });
    });
  });

  describe('list', () => {
    const event = (number: number, environment: string) => ({
      id: `evt_${number}`,
      type: 'milestone.recorded',
      created_at: `2026-11-21T09:30:${String(number % 60).padStart(2, '0')}.000Z`,
      api_version: '2026-11-01',
      environment,
      workspace_id: 'wsp_a',
      data: { shipment_id: 'shp_a', external_id: number % 2 === 0 ? `PO-${number}` : null },
    });
    const published: Readonly<Record<string, readonly object[]>> = {
      live: Array.from({ length: 250 }, (_, index) => ({
        ...event(index, 'live'),
        created_at: new Date(Date.UTC(2026, 10, 20, 0, index)).toISOString(),
      })),
      test: [event(1, 'test')],
    };
    const ids = ({ out }: CliRunResult) => (JSON.parse(out) as { data: { id: string }[] }).data.map(({ id }) => id);
    beforeEach(() => {
      routes['GET /published_events'] = ({ environment = '', cursor = '0', limit }) => {
        const found = published[environment] ?? [];
        const end = Number(cursor) + Number(limit);
        return { data: found.slice(Number(cursor), end), next_cursor: end < found.length ? String(end) : null };
      };
    });

    it('shows the oldest 50 events of both environments by default', async () => {
      const { code, out } = await cli(['events', 'list']);
      const lines = out.trimEnd().split('\n');
      expect([code, lines.length]).toEqual([0, 1 + 50 + 1]);
      expect(lines[0]).toMatch(/^ID +TYPE +CREATED +ENVIRONMENT +SHIPMENT +EXTERNAL ID$/);
      expect(lines[1]).toMatch(/^evt_0 +milestone.recorded +2026-11-20T00:00:00.000Z +live +shp_a +PO-0$/);
      expect(lines[2]).toMatch(/ +shp_a +-$/);
      expect(lines.at(-1)).toBe('more events match; use --limit and --since to see them');
    });

    it('reads all pages needed, and merges the environments by time', async () => {
      const whole = await cli(['events', 'list', '--limit', '300', '--json']);
      expect(ids(whole)).toHaveLength(251);
      expect(ids(whole).at(-1)).toBe('evt_1');
      expect(whole.err).toBe('');
    });

    it('sends its filters', async () => {
      const filters = '--event-type shipment.created --since 2026-11-21T09:30:00Z --until 2026-11-22T00:00:00+01:00';
      await cli(['events', 'list', '--workspace', 'Acme', '--environment', 'test', ...filters.split(' ')]);
      expect(service.requests.map(({ query }) => query)).toEqual([
        {
          workspace: 'Acme',
          environment: 'test',
          type: 'shipment.created',
          since: '2026-11-21T09:30:00Z',
          until: '2026-11-22T00:00:00+01:00',
          limit: '50',
        },
      ]);
    });

    it('names the workspace if it has no events', async () => {
      routes['GET /published_events'] = () => ({ data: [], next_cursor: null });
      expect((await cli(['events', 'list', '--workspace', 'Acme'])).out).toBe('no items in workspace Acme\n');
      expect(JSON.parse((await cli(['events', 'list', '--json'])).out)).toEqual({ data: [] });
    });
  });

  it('rejects lines that a user wrote by hand', async () => {
    const file = join(service.folder, 'by-hand.jsonl');
    await writeFile(file, TEXT.replaceAll('\n', '\r\n'));
    expect((await cli(['events', 'import', file])).code).toBe(0);
    expect(stored()).toEqual([EVENTS]);
  });
});
