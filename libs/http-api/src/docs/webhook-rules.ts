import { NEWEST_API_VERSION } from '@tracking/contracts';
import { code, list, paragraph, table } from './html.ts';

const REQUEST = `POST /webhooks HTTP/1.1
Content-Type: application/json
Service-Event-Id: evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11
Service-Event-Type: milestone.recorded
Service-Signature: t=1795426200,v1=<64 hexadecimal digits>
webhook-id: evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11
webhook-timestamp: 1795426200
webhook-signature: v1,<44 characters of base64>
traceparent: 00-<trace>-<span>-01

{"id":"evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11","type":"milestone.recorded", …}`;

const VERIFY = `import { createHmac, timingSafeEqual } from 'node:crypto';

function verify(header, body, secret) {          // body: the raw bytes
  const parts = header.split(',').map((part) => part.trim().split('='));
  const timestamp = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\\d{1,12}$/.test(timestamp) || Date.now() / 1000 - timestamp > 300) return false;
  const expected = createHmac('sha256', secret).update(timestamp + '.').update(body).digest();
  return parts.some(([name, value = '']) => {
    const given = Buffer.from(name === 'v1' ? value : '', 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}`;

const CHALLENGE = `{"id": "evt_…", "type": "endpoint.verification", "created_at": "…", "api_version": "${NEWEST_API_VERSION}", "data": {"challenge": "<token>"}}`;

/** What holds for every receiver: docs/reference/delivery.md. */
export const WEBHOOK_RULES: readonly string[] = [
  paragraph(
    'Events of your shipments are POSTed to your endpoints, at least once, signed, for 72 hours until you answer 2xx. What a receiver does:',
  ),
  list('ol', [
    'Read the raw body, and check the signature over it before you parse anything.',
    'Answer the challenge: a `type` of `endpoint.verification`.',
    'Store the event under its `id`. Was it there already: do nothing more.',
    'Answer 2xx within 10 seconds. Do the work afterwards.',
    'Order the events of a shipment by `data.shipment_version`, not by when they came.',
  ]),
  '<h2 id="setting-up">Setting up</h2>',
  list('ol', [
    '`POST /v1/webhook_endpoints` with `url` and `event_types` answers the `secret`; no read does.',
    '`POST /v1/webhook_endpoints/{id}/verify` sends the challenge; `last_verification` tells what came of it.',
    '`POST /v1/webhook_endpoints/{id}/test` with a `type` sends an invented event, once, with `"sandbox": true`.',
    '`POST /v1/webhook_endpoints/{id}/enable` lets live ones through.',
  ]),
  paragraph(
    'Addresses are https and public. For receivers on your own machine, whoever runs the service allows them: `npm run dev`.',
  ),
  '<h2 id="request">A request</h2>',
  code(REQUEST),
  paragraph('The endpoint’s own `headers` go along. An event has the same `id` and the same body at each attempt.'),
  '<h2 id="signature">Signature</h2>',
  paragraph(
    '`v1` is the lower-case hexadecimal HMAC-SHA256 of `<t>.<raw body>`, keyed with the whole secret, `whsec_` and all. Compare in constant time. Refuse a `t` older than five minutes. There may be several `v1`: one that fits is enough. What is not signed, answer 400.',
  ),
  code(VERIFY),
  paragraph(
    'The same in TypeScript, Python, Go, Java and C#, with vectors to test your own, is in the project’s guides, `docs/guides/webhooks.md`.',
  ),
  paragraph(
    'The three `webhook-…` headers are those of Standard Webhooks: its packages verify them with the secret as it is. Check these or `Service-Signature`; either suffices.',
  ),
  '<h2 id="rotation">Another secret</h2>',
  paragraph(
    '`POST /v1/webhook_endpoints/{id}/rotate_secret` answers a new `secret`. The old one signs beside it for a day, or for `expires_in_seconds`: accept both until then. `POST …/reveal_secret` shows admins those that are valid.',
  ),
  '<h2 id="challenge">Challenge</h2>',
  code(CHALLENGE),
  paragraph(
    'It is signed as everything is. Answer 2xx within 10 seconds with the token of `data.challenge`, as plain text, a JSON string or `{"challenge": "<token>"}`. After a change of `url` it is asked again.',
  ),
  '<h2 id="answers">What to answer</h2>',
  table(
    ['you answer', 'what happens'],
    [
      ['2xx', 'delivered. Answer it only once the event is stored'],
      ['410', 'the endpoint is disabled, and the delivery a dead letter'],
      [
        '429, 503 with `Retry-After`',
        'all deliveries to the endpoint wait for that time, from 1 s to 1 h; no attempt is used up',
      ],
      ['3xx', 'failed: redirects are not followed'],
      ['anything else, or nothing complete in 10 s', 'failed: tried again'],
    ],
  ),
  paragraph('Answer 2xx also to types that you do not know, and to events that you have seen.'),
  '<h2 id="retries">Retries over 72 hours</h2>',
  paragraph(
    'The first attempt is at once. The next one is 5 s after one that failed, then after three times as long each time, 24 h at most: after about 5 s, 20 s, 65 s, 3 min, 10 min, 30 min, 1.5 h, 4.6 h, 14 h, 38 h, 62 h, and at last 72 h. Each has a new `t` and signature. When an endpoint that failed answers again, what waits for it comes at once, paced. While an endpoint is disabled, its deliveries and their 72 hours stand still.',
  ),
  '<h2 id="order">At least once, in any order</h2>',
  paragraph(
    'An event may come twice, under the same `id`: keep the ids that you have, for 72 hours at least. A later event of a shipment may overtake an earlier one that failed: of what you keep of a shipment, replace only what has a lower `shipment_version`.',
  ),
  '<h2 id="dead-letters">Dead letters</h2>',
  paragraph(
    'What failed for 72 hours is kept: `GET /v1/webhook_deliveries?status=dead_lettered`, with every attempt and what you answered. `POST /v1/webhook_deliveries/{id}/retry` tries once more, `…/discard` gives up. `POST /v1/webhook_endpoints/{id}/replay` sends again all that failed, and what the endpoint missed. `GET /v1/events?after=<id>` answers what was announced in the last 30 days, whether or not it was delivered.',
  ),
];
