import { createDeprecationHeaders } from '@tracking/http';
import { resolveReferencesInPaths } from './described-responses.ts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';

const NAMES = ['deprecation', 'sunset', 'link'] as const;
const LINK = 'https://docs.example/old';
const HEADERS = [
  '@1793491200',
  'Sat, 01 May 2027 00:00:00 GMT',
  '<https://docs.example/old>; rel="deprecation"; type="text/html"',
];

let api: Api;
let key: string;
beforeAll(async () => {
  api = await startApi({
    deprecations: {
      listMilestoneCodes: { since: '2026-11-01', sunset: '2027-05-01', link: LINK },
      upsertShipment: { since: '2026-11-01', link: LINK },
    },
  });
  key = await api.key('viewer');
});
afterAll(() => api.stop());

const told = ({ headers }: { readonly headers: Headers }) => NAMES.map((name) => headers.get(name));

it('every response of a deprecated operation has Deprecation, Sunset and Link', async () => {
  const path = '/v1/milestone_codes';
  const answers = await Promise.all([
    api.call('GET', path, { key }),
    api.call('GET', path),
    api.call('GET', `${path}?unknown=1`, { key }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 400]);
  expect(answers.map(told)).toEqual(answers.map(() => HEADERS));
});

it('an operation without an end date has no Sunset', async () => {
  const answers = [
    await api.call('POST', '/v1/shipments', { key, json: {} }),
    await api.call('POST', '/v1/shipments', { key: await api.key('admin'), raw: '{' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([403, 400]);
  expect(answers.map(told)).toEqual(answers.map(() => [HEADERS[0], null, HEADERS[2]]));
});

it('other operations have none of these headers', async () => {
  const answers = await Promise.all([
    api.call('GET', '/v1/shipments', { key }),
    api.call('PUT', '/v1/milestone_codes', { key }),
    api.call('GET', '/nowhere', { key }),
    api.call('GET', '/docs'),
  ]);
  expect(answers.map(told)).toEqual(answers.map(() => [null, null, null]));
});

it('the OpenAPI description marks the operation as deprecated, and its successful responses name the headers', async () => {
  const { body } = await api.call('GET', '/openapi.json');
  const paths = resolveReferencesInPaths<{ deprecated?: boolean; responses: object }>(body);
  const deprecated = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => (operation.deprecated ? [`${method} ${path}`] : [])),
  );
  expect(deprecated.sort()).toEqual(['get /v1/milestone_codes', 'post /v1/shipments']);
  const headersOf = (path: string, method: string) =>
    Object.entries(paths[path]?.[method]?.responses ?? {}).flatMap(([status, response]) =>
      status.startsWith('2')
        ? [
            Object.keys((response as { headers: object }).headers).filter((name) =>
              ['Deprecation', 'Sunset', 'Link'].includes(name),
            ),
          ]
        : [],
    );
  for (const names of headersOf('/v1/milestone_codes', 'get')) expect(names).toEqual(['Deprecation', 'Sunset', 'Link']);
  for (const names of headersOf('/v1/shipments', 'post')) expect(names).toEqual(['Deprecation', 'Link']);
  for (const names of headersOf('/v1/shipments', 'get')) expect(names).toEqual([]);
});

it.each([
  { since: 'soon', link: LINK },
  { since: '2026-11-01', sunset: 'later', link: LINK },
  { since: '2026-11-01', sunset: '2026-10-31', link: LINK },
])('%j is not a valid deprecation', (deprecation) => {
  expect(() => createDeprecationHeaders(deprecation)).toThrow();
});
