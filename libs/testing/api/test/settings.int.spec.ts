import { AUTOMATIC_EXCEPTION_TYPES, TRANSPORT_MODES } from '@tracking/contracts';
import type { JsonObject } from '@tracking/contracts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';

const PATH = '/v1/settings';
let api: Api;
let key: string;

beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());
let made = 0;
let workspace: string;
beforeEach(async () => {
  made += 1;
  workspace = `tenant ${made}`;
  key = await api.key('admin', 'live', workspace);
});

const patch = (json: unknown, headers: Readonly<Record<string, string>> = {}) =>
  api.call('PATCH', PATH, { key, json, headers });
const exception = (body: JsonObject, type: string) => (body['exceptions'] as JsonObject)[type];

it('every type and mode has its values, defaults too', async () => {
  const { status, body, headers } = await api.call('GET', PATH, { key });
  expect(status).toBe(200);
  expect(headers.get('etag')).toBe('"1"');
  const fields = ['exceptions', 'required_documents', 'version', 'updated_at', 'updated_by', 'recheck', 'defaults'];
  expect(Object.keys(body)).toEqual(fields);
  expect(body).toMatchObject({ version: 1, updated_at: null, updated_by: null, recheck: null });
  expect(Object.keys(body['exceptions'] as JsonObject)).toEqual([...AUTOMATIC_EXCEPTION_TYPES]);
  expect(exception(body, 'demurrage_risk')).toEqual({
    enabled: true,
    after_hours: 96,
    by_mode: {},
    before_hours: 48,
    severity: 'high',
  });
  expect(body['required_documents']).toEqual(Object.fromEntries(TRANSPORT_MODES.map((mode) => [mode, []])));
  expect(body['defaults']).toEqual({ exceptions: body['exceptions'], required_documents: body['required_documents'] });
});

it('a change is answered whole, with warnings, an ETag and a token, and read at once', async () => {
  const changed = await patch({
    exceptions: { eta_slip: { after_hours: 36, by_mode: { rail: 12 } } },
    required_documents: { ocean: ['BILL_OF_LADING'] },
  });
  expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"']);
  expect(changed.headers.get('consistency-token')).toEqual(expect.any(String));
  const { warnings, ...settings } = changed.body;
  expect(warnings).toEqual([]);
  expect(exception(settings, 'eta_slip')).toMatchObject({ after_hours: 36, by_mode: { air: 4, road: 4, rail: 12 } });
  expect(exception(settings['defaults'] as JsonObject, 'eta_slip')).toMatchObject({
    after_hours: 24,
    by_mode: { air: 4, road: 4 },
  });
  expect(settings).toMatchObject({
    required_documents: { ocean: ['bill_of_lading'], air: [] },
    version: 2,
    updated_at: expect.stringMatching(/Z$/),
    updated_by: { type: 'service_account', id: expect.stringMatching(/^sva_/) },
    recheck: { state: 'pending', checked: 0, started_at: null, finished_at: null },
  });
  expect((await api.call('GET', PATH, { key })).body).toEqual(settings);
});

it('live and test share them, workspaces do not', async () => {
  await patch({ exceptions: { no_update: { enabled: false } } });
  const [test, other] = await Promise.all([
    api.key('admin', 'test', workspace),
    api.key('admin', 'live', `${workspace} b`),
  ]);
  const versions = await Promise.all([test, other].map((one) => api.call('GET', PATH, { key: one })));
  expect(versions.map(({ body }) => body['version'])).toEqual([2, 1]);
});

it('which documents are required is read by those who work with documents, too', async () => {
  await patch({ required_documents: { ocean: ['bill_of_lading', 'packing_list'] } });
  const [operator, feed] = await Promise.all([
    api.key('operator', 'test', workspace),
    api.key('feed', 'live', workspace),
  ]);
  const { status, body, headers } = await api.call('GET', '/v1/required_documents', { key: operator });
  expect([status, headers.get('etag')]).toEqual([200, '"2"']);
  expect(body).toEqual({
    required_documents: {
      ...Object.fromEntries(TRANSPORT_MODES.map((mode) => [mode, []])),
      ocean: ['bill_of_lading', 'packing_list'],
    },
    version: 2,
  });
  const known = { key: operator, headers: { 'if-none-match': '"2"' } };
  expect((await api.call('GET', '/v1/required_documents', known)).status).toBe(304);
  expect((await api.call('GET', '/v1/required_documents', { key: feed })).status).toBe(403);
});

it('a change that insists on a version is decided by it', async () => {
  const json = (after_hours: number) => ({ exceptions: { eta_slip: { after_hours } } });
  const outcomes = await Promise.all([30, 31, 32].map((hours) => patch(json(hours), { 'if-match': '"1"' })));
  expect(outcomes.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
  expect(outcomes.map(({ headers }) => headers.get('etag'))).toEqual(['"2"', '"2"', '"2"']);
  const faulty = await patch(json(0), { 'if-match': '"1"' });
  expect(faulty.status).toBe(400);
  // The version says nothing of how far shipments are checked by it.
  const known = await api.call('GET', PATH, { key, headers: { 'if-none-match': '"2"' } });
  expect([known.status, known.body['version'], known.headers.get('etag')]).toEqual([200, 2, '"2"']);
});

it('each single change is in the audit log, what changes nothing is not', async () => {
  await patch({ exceptions: { eta_slip: { by_mode: { air: 6, rail: 12 } } }, required_documents: { air: ['photo'] } });
  await patch({ exceptions: { eta_slip: { by_mode: { air: 6 } } } });
  await patch({ exceptions: { eta_slip: { after_hours: 0 } } });
  const { body } = await api.call('GET', '/v1/audit_log?type=settings.changed', { key });
  expect(body['data']).toEqual([
    expect.objectContaining({
      type: 'settings.changed',
      outcome: 'done',
      target: { type: 'settings', id: await api.workspace(workspace) },
      changes: {
        'exceptions.eta_slip.by_mode.air': { from: 4, to: 6 },
        'exceptions.eta_slip.by_mode.rail': { from: null, to: 12 },
        'required_documents.air': { from: [], to: ['photo'] },
      },
    }),
  ]);
});

it('null brings back the default', async () => {
  await patch({
    exceptions: { eta_slip: { after_hours: 48, severity: 'low' } },
    required_documents: { air: ['photo'] },
  });
  const { body } = await patch({ exceptions: { eta_slip: { after_hours: null } }, required_documents: null });
  expect(exception(body, 'eta_slip')).toMatchObject({ after_hours: 24, severity: 'low' });
  expect(body).toMatchObject({ version: 3, required_documents: { air: [] } });
});

it('what is answered can be sent back and changes nothing', async () => {
  const { body } = await patch({ exceptions: { eta_slip: { after_hours: 48 } } });
  const { exceptions, required_documents } = body;
  const again = await patch({ exceptions, required_documents });
  expect([again.status, again.body['version'], again.body['warnings']]).toEqual([200, 2, []]);
});

it('every faulty field is named, and nothing of the request is written', async () => {
  const { status, body } = await patch({
    exceptions: {
      eta_slip: { after_hours: 48 },
      no_update: { after_hours: 0, by_mode: { sea: 1 }, severity: 'urgent' },
      customs_hold: { after_hours: 1 },
      cargo_damage: { enabled: false },
    },
    required_documents: { ocean: ['bill_of_lading', 'novel'] },
  });
  expect(status).toBe(400);
  const { code, details } = body['error'] as unknown as { code: string; details: readonly { param: string }[] };
  expect(code).toBe('validation_failed');
  expect(details.map(({ param }) => param)).toEqual([
    'exceptions.no_update.after_hours',
    'exceptions.no_update.by_mode.sea',
    'exceptions.no_update.severity',
    'exceptions.customs_hold.after_hours',
    'exceptions.cargo_damage',
    'required_documents.ocean[1]',
  ]);
  expect((await api.call('GET', PATH, { key })).body['version']).toBe(1);
});

it('unknown fields warn, or are refused where the client is strict', async () => {
  const body = { colour: 'red', version: 7, exceptions: { eta_slip: { after_hours: 30, colour: 'red' } } };
  const strict = await patch(body, { prefer: 'handling=strict' });
  expect(strict.status).toBe(400);
  const named = (strict.body['error'] as unknown as { details: readonly { param: string }[] }).details;
  expect(named.map(({ param }) => param)).toEqual(['colour', 'version', 'exceptions.eta_slip.colour']);
  const lenient = await patch(body);
  expect(lenient.status).toBe(200);
  expect(lenient.body).toMatchObject({
    version: 2,
    warnings: [
      { code: 'unknown_field', param: 'colour' },
      { code: 'read_only_field', param: 'version' },
      { code: 'unknown_field', param: 'exceptions.eta_slip.colour' },
    ],
  });
});

it.each(['operator', 'developer', 'feed', 'viewer'] as const)('a %s neither reads nor changes them', async (role) => {
  const other = await api.key(role, 'live', workspace);
  const answers = [
    await api.call('GET', PATH, { key: other }),
    await api.call('PATCH', PATH, { key: other, json: { exceptions: null } }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([403, 403]);
});

it.each(['null', '[]', '"x"', '{"exceptions": [}'])('the body %s is refused', async (raw) => {
  expect((await api.call('PATCH', PATH, { key, raw })).status).toBe(400);
});
