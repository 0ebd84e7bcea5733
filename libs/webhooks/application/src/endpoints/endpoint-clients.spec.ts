import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  EndpointRequestBuilder,
  GoneEndpointDisabler,
  type GoneEndpointDisablerDependencies,
} from './endpoint-clients.ts';
import type { EndpointDocument } from './endpoint-document.ts';
import { SecretBox, sealSecret } from './secrets.ts';

const VECTORS = fileURLToPath(new URL('../../../../../docs/guides/verification/vectors.tsv', import.meta.url));

const box = new SecretBox(Buffer.alloc(32, 7));
const OURS = 'whsec_c2FtcGxlLXNlY3JldC1vZi10aGUtZ3VpZGVz';
const FORMER = 'whsec_Zm9ybWVyLXNlY3JldC1vZi10aGUtZ3VpZGVz';
const T = Date.UTC(2026, 10, 23, 9, 30) / 1000;
const BODY =
  '{"id":"evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11","type":"milestone.recorded","created_at":"2026-11-23T09:29:59.000Z","data":{"note":"Göteborg → 上海 🚢"}}';

/** Headers that the product sends with the body while these secrets are valid. */
function sent(body: string, secrets: readonly string[]): string {
  const sealed = secrets.map((secret) => ({ sealed: sealSecret(box, 'whe_1', secret), created_at: '' }));
  const endpoint = { id: 'whe_1', url: 'https://example.com', headers: {}, secrets: sealed } as unknown;
  const event = { id: 'evt_1', type: 'milestone.recorded', traceparent: '' };
  const request = new EndpointRequestBuilder(endpoint as EndpointDocument, box).buildDeliveryRequest(
    event,
    Buffer.from(body),
    T * 1000,
    1,
  );
  return request.headers['service-signature'];
}

const signed = sent(BODY, [OURS]);
const rolled = sent(BODY, [OURS, FORMER]);
const [, ourHex = ''] = signed.split('v1=');

/** Name; validity; the receiver's time; its secret; the header; the body. */
type Vector = readonly [name: string, valid: boolean, now: number, secret: string, header: string, body: string];
const VECTOR_ROWS: readonly Vector[] = [
  ['signed just now', true, T, OURS, signed, BODY],
  ['five minutes old', true, T + 300, OURS, signed, BODY],
  ['older than five minutes', false, T + 301, OURS, signed, BODY],
  ['an empty body', true, T, OURS, sent('', [OURS]), ''],
  ['two secrets are valid: the new one', true, T, OURS, rolled, BODY],
  ['two secrets are valid: the former one', true, T, FORMER, rolled, BODY],
  ['beside a form of signature that is not known', true, T, OURS, signed.replace(',', ',v2=00,'), BODY],
  ['another secret', false, T, FORMER, signed, BODY],
  ['the secret without its prefix', false, T, OURS.slice('whsec_'.length), signed, BODY],
  ['one character of the body differs', false, T, OURS, signed, BODY.replace('上', '下')],
  ['the body was parsed and written again', false, T, OURS, signed, JSON.stringify(JSON.parse(BODY), null, 1)],
  ['another time than was signed', false, T, OURS, signed.replace(String(T), String(T + 1)), BODY],
  ['half of a signature', false, T, OURS, signed.slice(0, -32), BODY],
  ['a signature that is longer', false, T, OURS, `${signed}00`, BODY],
  ['a signature that is no hex', false, T, OURS, `t=${T},v1=${'z'.repeat(64)}`, BODY],
  ['a signature under another name', false, T, OURS, `t=${T},v0=${ourHex}`, BODY],
  ['no signature', false, T, OURS, `t=${T}`, BODY],
  ['an empty signature', false, T, OURS, `t=${T},v1=`, BODY],
  ['no time', false, T, OURS, `v1=${ourHex}`, BODY],
  ['a time that is none', false, T, OURS, `t=-${T},v1=${ourHex}`, BODY],
  ['a time of a hundred digits', false, T, OURS, `t=${'9'.repeat(100)},v1=${ourHex}`, BODY],
  ['no header', false, T, OURS, '', BODY],
];

function written([name, valid, now, secret, header, body]: Vector): string {
  return [name, valid ? 'yes' : 'no', now, secret, header, Buffer.from(body).toString('base64')].join('\t');
}

it('test vectors for receivers in all languages are signed like deliveries', () => {
  const lines = ['name\tvalid\tnow\tsecret\tService-Signature\tbody in base64', ...VECTOR_ROWS.map(written)];
  expect(readFileSync(VECTORS, 'utf8')).toBe(`${lines.join('\n')}\n`);
});

describe('disabling an endpoint that answered 410', () => {
  const GONE = { id: 'whe_1', workspace_id: 'wsp_1', status: 'enabled', url: 'https://a.example.com/', revision: 1 };
  const PERIODS = { enabled_periods: [], pauses: [] };

  /** Disables the endpoint. @param stored the endpoint as then stored. Returns its stored status afterwards. */
  async function statusAfter(stored: object): Promise<string> {
    const gone = { ...GONE, ...PERIODS } as unknown as EndpointDocument;
    const parts = {
      store: {
        updateEndpoint: async (_id: string, _at: string, change: (now: object) => Promise<EndpointDocument>) =>
          change({ ...gone, ...stored }),
      },
      clients: { cacheEndpoint: (endpoint: EndpointDocument) => ({ endpoint }) },
      eventStore: { head: () => Promise.resolve('0000000001') },
      clock: () => new Date(0),
      logger: { info: () => undefined },
    };
    return (await new GoneEndpointDisabler(parts as unknown as GoneEndpointDisablerDependencies).disableEndpoint(gone))
      .status;
  }

  test('leaves the endpoint unchanged if its URL was changed in the meantime, even to the same one', async () => {
    expect(await statusAfter({})).toBe('disabled');
    expect(await statusAfter({ url: 'https://b.example.com/', url_revision: 2, revision: 2 })).toBe('enabled');
    expect(await statusAfter({ url_revision: 3, revision: 3 })).toBe('enabled');
  });
});
