import { createHmac } from 'node:crypto';
import {
  API_VERSIONS,
  type ApiVersion,
  EVENT_TYPES,
  type EventType,
  type JsonObject,
  NEWEST_API_VERSION,
  PAYLOAD_VERSION_CONVERTER,
  PayloadVersionConverter,
  SHIPMENT_EVENT_TYPES,
  createEventSamples,
  createSandboxEventData,
} from '@tracking/contracts';
import {
  MAX_VALID_SECRETS,
  type SecretValidity,
  type Signer,
  isOwnershipProven,
  renderDeliveryBody,
  addSigningSecret,
  createSandboxWebhookEvent,
  createSignatureHeaders,
  selectValidSecrets,
  removeSnapshotsFromBody,
} from './request.ts';

const [FIRST, SECOND, THIRD] = ['2026-11-01', '2027-03-01', '2027-09-01'] as readonly string[] as ApiVersion[];

/**
 * The third version names the reference `reference`, the second one `ref`; the first one has an upper-case type in it.
 */
const versions = new PayloadVersionConverter([
  { name: '2026-11-01', downgrade: (type, data) => ({ ...data, kind: type.toUpperCase() }) },
  {
    name: '2027-03-01',
    downgrade: (_type, { reference, ...data }) => ({ ...data, ...(reference !== undefined && { ref: reference }) }),
  },
  { name: '2027-09-01' },
]);

const event = {
  id: 'evt_1',
  type: 'shipment.created',
  created_at: '2027-10-01T00:00:00.000Z',
  api_version: THIRD as ApiVersion,
  environment: 'live',
  workspace_id: 'wsp_1',
  data: { shipment_id: 'shp_1', reference: 'PO-1' } as JsonObject,
} as const;

const NEWEST = { version: NEWEST_API_VERSION, form: 'full' } as const;

describe('the thin form of a body', () => {
  const samples = createEventSamples('2027-10-01T00:00:00.000Z', {
    appUrl: 'https://app.example.com',
    baseUrl: 'https://api.example.com',
  });
  const renderThin = (type: EventType) => {
    const thin = { ...event, type, api_version: NEWEST_API_VERSION, data: createSandboxEventData(type, samples) };
    const body = renderDeliveryBody(thin, { ...NEWEST, form: 'thin' });
    // Both ways to the thin form give the same bytes, so that every attempt is signed over the same body.
    expect(removeSnapshotsFromBody(renderDeliveryBody(thin, NEWEST))).toBe(body);
    expect(removeSnapshotsFromBody(body)).toBe(body);
    expect(body.length).toBeLessThan(1_000);
    return JSON.parse(body) as { readonly data: JsonObject };
  };
  const about = {
    shipment_id: samples.shipment.id,
    external_id: samples.shipment.external_id,
    shipment_version: samples.shipment.version,
  };

  test('keeps the envelope, and of the shipment only its ids and version', () => {
    const { data: _data, ...envelope } = event;
    expect(renderThin('shipment.created')).toEqual({ ...envelope, api_version: NEWEST_API_VERSION, data: about });
  });

  test('keeps changes', () => {
    const { changes } = createSandboxEventData('shipment.updated', samples);
    expect(changes).toBeDefined();
    expect(renderThin('shipment.updated').data).toEqual({ ...about, changes });
  });

  test('keeps what happened, when and where of a milestone', () => {
    const { id, code, occurred_at, location, source } = samples.milestone('recorded');
    const milestone = { id, code, occurred_at, location, source };
    expect(renderThin('milestone.recorded').data).toEqual({ ...about, milestone });
    expect(renderThin('milestone.retracted').data).toEqual({ ...about, milestone });
  });

  test('keeps the ids of other resources', () => {
    const { id, shipment_id, milestone_id } = samples.exception('open');
    expect(renderThin('exception.opened').data).toEqual({ ...about, exception: { id, shipment_id, milestone_id } });
    expect(renderThin('document.approved').data).toMatchObject({ document: { id: samples.document('approved').id } });
    const { endpoint, failed, failing_since } = samples;
    expect(renderThin('webhook_endpoint.failing').data).toEqual({
      endpoint: { id: endpoint.id, version: endpoint.version },
      failing_since,
      reason: failed.last_error,
    });
    expect(renderThin('webhook_delivery.dead_lettered').data).toMatchObject({
      delivery: { id: failed.id, event_id: failed.event_id },
    });
  });

  test.each(EVENT_TYPES)('of %s has no snapshot', (type) => {
    const { data } = renderThin(type);
    for (const value of Object.values(data)) {
      if (typeof value === 'object' && value !== null) expect(value).not.toHaveProperty('status');
    }
  });
});

describe('payload versions', () => {
  test('are the published ones', () => {
    expect([PAYLOAD_VERSION_CONVERTER.names, PAYLOAD_VERSION_CONVERTER.newest]).toEqual([
      API_VERSIONS,
      NEWEST_API_VERSION,
    ]);
    expect([
      versions.newest,
      versions.findApiVersion(SECOND),
      versions.findApiVersion('2020-01-01'),
      versions.findApiVersion(5),
    ]).toEqual([THIRD, SECOND, undefined, undefined]);
  });

  test.each([
    [THIRD, { shipment_id: 'shp_1', reference: 'PO-1' }],
    [SECOND, { shipment_id: 'shp_1', ref: 'PO-1' }],
    [FIRST, { shipment_id: 'shp_1', ref: 'PO-1', kind: 'SHIPMENT.CREATED' }],
  ])('are each derived from the next newer one: %s', (version, data) => {
    const before = structuredClone(event);
    const body = JSON.parse(
      renderDeliveryBody(event, { version: version as ApiVersion, form: 'full' }, false, versions),
    ) as JsonObject;
    expect(body).toEqual({ ...event, api_version: version, data });
    expect(Object.keys(body).slice(0, 4)).toEqual(['id', 'type', 'created_at', 'api_version']);
    expect(event).toEqual(before);
  });

  test('an event published in an older version is sent in that version, and converted to older ones from there', () => {
    const older = { ...event, api_version: SECOND as ApiVersion, data: { ref: 'PO-1' } };
    expect([FIRST, SECOND, THIRD].map((wanted) => versions.choosePayloadVersion(older, wanted as ApiVersion))).toEqual([
      FIRST,
      SECOND,
      SECOND,
    ]);
    expect(versions.downgradeEventData(older, SECOND as ApiVersion)).toEqual({ ref: 'PO-1' });
    expect(versions.downgradeEventData(older, FIRST as ApiVersion)).toEqual({ ref: 'PO-1', kind: 'SHIPMENT.CREATED' });
  });

  const downgrade = (_type: string, data: JsonObject) => data;
  test.each([
    ['none', []],
    ['not oldest first', [{ name: '2027-03-01', downgrade }, { name: '2026-11-01' }]],
    ['the same twice', [{ name: '2026-11-01', downgrade }, { name: '2026-11-01' }]],
    ['one that cannot be made of the next', [{ name: '2026-11-01' }, { name: '2027-03-01' }]],
    ['a newest one that would be made of another', [{ name: '2026-11-01', downgrade }]],
  ])('are refused if they are no chain: %s', (_what, descriptors) => {
    expect(() => new PayloadVersionConverter(descriptors)).toThrow(RangeError);
  });
});

const context = {
  id: 'evt_1',
  at: '2026-05-01T12:00:00.000Z',
  api_version: '2026-11-01',
  workspace_id: 'wsp_1',
  environment: 'test',
  addresses: { appUrl: 'https://app.example.com', baseUrl: 'https://api.example.com' },
} as const;

describe('a sandbox event', () => {
  test.each(SHIPMENT_EVENT_TYPES)('of %s has the shape of a live one, and its own type', (type) => {
    const body = JSON.parse(
      renderDeliveryBody(createSandboxWebhookEvent({ ...context, type }), NEWEST, true),
    ) as Record<string, unknown>;
    expect(body).toMatchObject({
      id: 'evt_1',
      type,
      created_at: context.at,
      api_version: '2026-11-01',
      environment: 'test',
      workspace_id: 'wsp_1',
      sandbox: true,
      data: {
        shipment_id: expect.stringMatching(/^shp_/) as string,
        external_id: expect.any(String) as string,
        shipment_version: expect.any(Number) as number,
      },
    });
    const [resource] = type.split('.');
    expect(Object.keys(body['data'] as object)).toContain(resource);
  });

  test('is rendered like a live one, except for the `sandbox` field', () => {
    const event = createSandboxWebhookEvent({ ...context, type: 'shipment.created' });
    const live = JSON.parse(renderDeliveryBody(event, NEWEST)) as object;
    const { sandbox, ...rest } = JSON.parse(renderDeliveryBody(event, NEWEST, true)) as { sandbox: unknown };
    expect(sandbox).toBe(true);
    expect(rest).toEqual(live);
  });
});

const body = '{"id":"evt_1"}';
const hmac = (key: string, text: string) => createHmac('sha256', key).update(text);
const keyed = (secret: string): Signer => ({
  service: (prefix) => hmac(secret, prefix + body).digest('hex'),
  standard: (prefix) => hmac(`key of ${secret}`, prefix + body).digest('base64'),
});

describe('the signature headers', () => {
  test('contain the time in seconds and the HMAC of time, dot and body', () => {
    const headers = createSignatureHeaders('evt_1', 1_767_225_600_999, [keyed('whsec_abc')]);
    const expected = hmac('whsec_abc', `1767225600.${body}`).digest('hex');
    expect(headers['service-signature']).toBe(`t=1767225600,v1=${expected}`);
  });

  test('contain those of Standard Webhooks: id, time, and the HMAC of id, time and body', () => {
    const { 'service-signature': _ours, ...headers } = createSignatureHeaders('evt_1', 1_767_225_600_999, [keyed('a')]);
    expect(headers).toEqual({
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1767225600',
      'webhook-signature': `v1,${hmac('key of a', `evt_1.1767225600.${body}`).digest('base64')}`,
    });
  });

  test('contain one signature for each valid secret', () => {
    const headers = createSignatureHeaders('evt_1', 1_767_225_600_000, [keyed('new'), keyed('old')]);
    expect(headers['service-signature']).toMatch(/^t=1767225600,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
    expect(headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
    const [newest] = headers['webhook-signature'].split(' ');
    expect(newest).toBe(`v1,${hmac('key of new', `evt_1.1767225600.${body}`).digest('base64')}`);
  });
});

const at = (hours: number) => new Date(Date.UTC(2026, 0, 1, hours)).toISOString();
const secret = (created: number, expires: number | null = null): SecretValidity => ({
  created_at: at(created),
  expires_at: expires === null ? null : at(expires),
});
const ends = (secrets: readonly SecretValidity[]) =>
  secrets.map(({ expires_at }) => expires_at && new Date(expires_at).getUTCHours());

describe('a secret', () => {
  test('is valid until it expires, to the millisecond', () => {
    const secrets = [secret(2), secret(1, 3)];
    expect(selectValidSecrets(secrets, new Date(Date.parse(at(3)) - 1).toISOString())).toEqual(secrets);
    expect(selectValidSecrets(secrets, at(3))).toEqual([secret(2)]);
    const stored = { created_at: at(0) } as SecretValidity;
    expect(selectValidSecrets([stored], at(3))).toEqual([stored]);
    expect(ends(addSigningSecret([stored], secret(1), at(5)))).toEqual([null, 5]);
  });
});

describe('rotating', () => {
  test('adds a fresh secret before the old one, which is valid to the end of the overlap', () => {
    expect(addSigningSecret([secret(0)], secret(1), at(5))).toEqual([secret(1), secret(0, 5)]);
  });

  test('leaves only the fresh one without an overlap', () => {
    expect(addSigningSecret([secret(0), secret(0, 9)], secret(1), at(1))).toEqual([secret(1)]);
  });

  test('shortens the validity granted by former rotations, and never lengthens it', () => {
    expect(ends(addSigningSecret([secret(3), secret(2, 12), secret(1, 6)], secret(4), at(8)))).toEqual([null, 8, 8, 6]);
  });

  test('drops expired secrets', () => {
    expect(ends(addSigningSecret([secret(3), secret(1, 4)], secret(4), at(8)))).toEqual([null, 8]);
  });

  test('keeps at most the newest five', () => {
    let secrets: readonly SecretValidity[] = [secret(0)];
    for (let hour = 1; hour < 8; hour += 1) secrets = addSigningSecret(secrets, secret(hour), at(20));
    expect(secrets).toHaveLength(MAX_VALID_SECRETS);
    expect(secrets.map(({ created_at }) => created_at)).toEqual([7, 6, 5, 4, 3].map(at));
  });
});

const token = 'a-token';

describe('the answer to a challenge', () => {
  test.each([
    [200, token],
    [204, token],
    [200, ` ${token}\r\n`],
    [200, '{"challenge": "a-token"}'],
    [201, ' {"challenge":"a-token","more":1}\n'],
    [200, '"a-token"\n'],
  ])('%i %j proves ownership', (status, body) => expect(isOwnershipProven(status, body, token)).toBe(true));

  test.each([
    [200, ''],
    [200, 'ok'],
    [200, 'a-token-and-more'],
    [200, '"other"'],
    [200, 'null'],
    [200, '["a-token"]'],
    [200, '{"challenge":"other"}'],
    [200, '{"type":"endpoint.verification","data":{"challenge":"a-token"}}'],
    [200, '{"challenge":["a-token"]}'],
    [200, '{"challenge":'],
    [302, token],
    [400, token],
    [500, '{"challenge":"a-token"}'],
  ])('%i %j does not', (status, body) => expect(isOwnershipProven(status, body, token)).toBe(false));
});
