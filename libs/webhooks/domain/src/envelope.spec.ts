import {
  API_VERSIONS,
  type ApiVersion,
  type JsonObject,
  NEWEST_API_VERSION,
  PAYLOAD_VERSIONS,
  PayloadVersions,
} from '@tracking/contracts';
import { renderBody } from './envelope.ts';

const [FIRST, SECOND, THIRD] = ['2026-11-01', '2027-03-01', '2027-09-01'] as readonly string[] as ApiVersion[];

/** The third version called the reference `reference`, the second one `ref`; the first one had an upper-case type in it. */
const versions = new PayloadVersions([
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

describe('versions of the payload', () => {
  test('are those that are published', () => {
    expect([PAYLOAD_VERSIONS.names, PAYLOAD_VERSIONS.newest]).toEqual([API_VERSIONS, NEWEST_API_VERSION]);
    expect([versions.newest, versions.find(SECOND), versions.find('2020-01-01'), versions.find(5)]).toEqual([
      THIRD,
      SECOND,
      undefined,
      undefined,
    ]);
  });

  test.each([
    [THIRD, { shipment_id: 'shp_1', reference: 'PO-1' }],
    [SECOND, { shipment_id: 'shp_1', ref: 'PO-1' }],
    [FIRST, { shipment_id: 'shp_1', ref: 'PO-1', kind: 'SHIPMENT.CREATED' }],
  ])('each is made of the next newer one: %s', (version, data) => {
    const before = structuredClone(event);
    const body = JSON.parse(renderBody(event, version as ApiVersion, false, versions)) as JsonObject;
    expect(body).toEqual({ ...event, api_version: version, data });
    expect(Object.keys(body).slice(0, 4)).toEqual(['id', 'type', 'created_at', 'api_version']);
    expect(event).toEqual(before);
  });

  test('what was published in an older one is sent in that one, and made older from there', () => {
    const older = { ...event, api_version: SECOND as ApiVersion, data: { ref: 'PO-1' } };
    expect([FIRST, SECOND, THIRD].map((wanted) => versions.versionFor(older, wanted as ApiVersion))).toEqual([
      FIRST,
      SECOND,
      SECOND,
    ]);
    expect(versions.dataIn(older, SECOND as ApiVersion)).toEqual({ ref: 'PO-1' });
    expect(versions.dataIn(older, FIRST as ApiVersion)).toEqual({ ref: 'PO-1', kind: 'SHIPMENT.CREATED' });
  });

  const downgrade = (_type: string, data: JsonObject) => data;
  test.each([
    ['none', []],
    ['not oldest first', [{ name: '2027-03-01', downgrade }, { name: '2026-11-01' }]],
    ['the same twice', [{ name: '2026-11-01', downgrade }, { name: '2026-11-01' }]],
    ['one that cannot be made of the next', [{ name: '2026-11-01' }, { name: '2027-03-01' }]],
    ['a newest one that would be made of another', [{ name: '2026-11-01', downgrade }]],
  ])('are refused where they are no chain: %s', (_what, descriptors) => {
    expect(() => new PayloadVersions(descriptors)).toThrow(RangeError);
  });
});
