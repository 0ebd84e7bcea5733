import { randomUUID } from 'node:crypto';
import { createAdministrationHttpApi } from '@tracking/administration';
import { IdentityServices } from '@tracking/identity';
import { UnavailableError } from '@tracking/ports';
import type { Collection, Document, DocumentStore } from '@tracking/ports';
import { createEventOperations } from '@tracking/shipments';
import { hostileReceiverBehaviours } from '@tracking/testing';
import { startClientReceiver } from './client-endpoint.ts';
import type { ClientWebhookTestReceiver } from './client-endpoint.ts';
import { SecretLeakDetector, readFilesAsText, extractSecretFromApiResponse } from './secret-tracker.ts';
import { PUBLIC_URLS_FOR_TEST, createResponseCheckingCaller, startApi } from './start-api.ts';
import type { Api } from './start-api.ts';

const KIM = { email: 'kim@example.com', password: 'of the operator, 4713' };
const under = (name: string) => ({ 'idempotency-key': name });

let api: Api;
let receiver: ClientWebhookTestReceiver;
let kept: SecretLeakDetector;
let send: ReturnType<SecretLeakDetector['createSecretCheckingCaller']>;
let admin: string;
let exported: string;

beforeAll(async () => {
  api = await startApi();
  receiver = await startClientReceiver(hostileReceiverBehaviours.answers(500, 'no'));
  kept = new SecretLeakDetector();
  send = kept.createSecretCheckingCaller(api.call);
  admin = kept.forbidSecretInResponses('the key of an admin', await api.key('admin'));
  await keysAreUsed();
  await usersJoin();
  await operatorsMakeUsers();
  await credentialsStandWhereTheyDoNotBelong();
  await webhooksAreUsed();
  await shipmentsAreWritten();
  await storesFail();
  const { eventStore } = api.storage;
  const page = await createEventOperations(eventStore, PUBLIC_URLS_FOR_TEST).exportEvents({ after: null, limit: 500 });
  exported = JSON.stringify(page);
});
afterAll(async () => {
  await api.stop();
  await receiver.close();
});

async function keysAreUsed(): Promise<void> {
  const account = await send('POST', '/v1/service_accounts', { key: admin, json: { name: 'TMS', role: 'feed' } });
  const service_account_id = account.body['id'];
  const json = { name: 'TMS', environment: 'live', service_account_id };
  const headers = under(randomUUID());
  const made = await send('POST', '/v1/api_keys', { key: admin, json, headers }, 'a key that was made');
  const again = await send('POST', '/v1/api_keys', { key: admin, json, headers }, 'a key that was made');
  expect([made.status, again.headers.get('idempotency-replayed'), again.text]).toEqual([201, 'true', made.text]);
  const key = String(made.body['key']);
  await send('POST', '/v1/api_keys', { key: admin, json: { ...json, name: 'other' }, headers });
  await send('GET', '/v1/milestone_codes', { key });
  await send('GET', '/v1/webhook_endpoints', { key });
  const path = `/v1/api_keys/${String(made.body['id'])}`;
  const rotated = await send('POST', `${path}/rotate`, { key: admin, json: { grace_seconds: 0 } }, 'a rotated key');
  expect(rotated.status).toBeLessThan(300);
  await send('POST', `/v1/api_keys/${String(rotated.body['id'])}/revoke`, { key: admin, json: {} });
  for (const ended of [key, String(rotated.body['key'])]) {
    expect((await send('GET', '/v1/milestone_codes', { key: ended })).status).toBe(401);
  }
  await send('GET', '/v1/api_keys', { key: admin });
  await send('GET', path, { key: admin });
}

async function usersJoin(): Promise<void> {
  const email = 'jo@example.com';
  const call = { key: admin, json: { email, role: 'operator' }, headers: under(randomUUID()) };
  const invited = await send('POST', '/v1/users', call, 'a link of an invitation');
  expect((await send('POST', '/v1/users', call, 'a link of an invitation')).text).toBe(invited.text);
  const id = String(invited.body['id']);
  const password = kept.forbidSecretInResponses('the password of a user', 'a "pass phrase" of nobody, 4711');
  await joined(extractSecretFromApiResponse(invited), password);
  const reset = await send('POST', `/v1/users/${id}/reset_password`, { key: admin }, 'a link of a reset');
  const next = kept.forbidSecretInResponses('the next password', 'another "pass phrase", 4712');
  await joined(extractSecretFromApiResponse(reset), next);
  await sessionsAreUsed(email, next);
  expect((await send('POST', '/v1/users', { ...call, headers: {} })).status).toBe(409);
  await send('PATCH', `/v1/users/${id}`, { key: admin, json: { role: 'viewer', name: 'Jo', password } });
  await send('GET', '/v1/users', { key: admin });
  await send('POST', `/v1/users/${id}/deactivate`, { key: admin });
}

/** Uses a one-time link. Refused requests before do not consume it. */
async function joined(token: string, password: string): Promise<void> {
  const path = `/v1/invitations/${token}`;
  expect((await send('GET', path)).status).toBe(200);
  await send('GET', `${path}?token=${token}`);
  await send('GET', `/v1/invitations/${token.slice(0, -1)}%${token.charCodeAt(token.length - 1).toString(16)}`);
  await send('PUT', path);
  await send('GET', `${path}/more`);
  const short = kept.forbidSecretInResponses(`the beginning of ${password.slice(0, 3)}…`, password.slice(0, 9));
  await send('POST', path, { json: { name: 'Jo', password: short } });
  await send('POST', path, { json: { name: password, password: 5, email: password } });
  await send('POST', path, { raw: `{"password": "${short}` });
  const headers = under(randomUUID());
  const used = await send('POST', path, { json: { name: 'Jo', password }, headers });
  expect(used.status).toBe(200);
  await send('POST', path, { json: { name: 'Jo', password }, headers });
  expect((await send('POST', path, { json: { name: 'Jo', password } })).status).toBe(404);
  expect((await send('GET', path)).status).toBe(404);
}

async function sessionsAreUsed(email: string, password: string): Promise<void> {
  const ours = { 'x-requested-with': 'a test' };
  const wrong = kept.forbidSecretInResponses('a wrong password', 'a wrong "pass phrase", 4714');
  for (const json of [
    { email, password: wrong },
    { email: 'nobody@example.com', password: wrong },
    { email: wrong, password: 5, workspace: wrong },
  ]) {
    expect((await send('POST', '/v1/session', { json, headers: ours })).status).toBeGreaterThanOrEqual(400);
  }
  expect((await send('POST', '/v1/session', { json: { email, password } })).status).toBe(403);
  const call = { json: { email, password }, headers: ours };
  const signedIn = await send('POST', '/v1/session', call, 'the cookie of a session');
  expect(signedIn.status).toBe(200);
  const cookie = `__Host-session=${extractSecretFromApiResponse(signedIn)}`;
  const headers = { cookie, ...ours };
  for (const path of ['/v1/session', '/v1/sessions', '/v1/shipments', '/v1/users'])
    await send('GET', path, { headers });
  await send('POST', '/v1/shipments', { headers: { cookie }, json: {} });
  const own = { json: { name: 'mine', environment: 'live' }, headers: { ...headers, ...under(randomUUID()) } };
  expect((await send('POST', '/v1/api_keys', own, 'a key of a user')).status).toBe(201);
  const new_password = kept.forbidSecretInResponses('a password that was changed', 'yet another "pass phrase", 4715');
  const change = (current_password: string, next: string, secret?: string) =>
    send('POST', '/v1/session/password', { headers, json: { current_password, new_password: next } }, secret);
  expect((await change(wrong, new_password)).status).toBeGreaterThanOrEqual(400);
  expect((await change(password, password.slice(0, 9))).status).toBe(400);
  const changed = await change(password, new_password, 'the cookie after a change of the password');
  expect(changed.status).toBe(200);
  const renewed = { ...headers, cookie: `__Host-session=${extractSecretFromApiResponse(changed)}` };
  expect((await send('DELETE', '/v1/session', { headers: renewed })).status).toBe(200);
  for (const ended of [headers, renewed]) {
    expect((await send('GET', '/v1/session', { headers: ended })).status).toBe(401);
  }
}

async function operatorsMakeUsers(): Promise<void> {
  const { identity, idempotency, readModels, logger } = api.dependencies;
  const administration = await createAdministrationHttpApi({
    appUrl: 'https://app.example',
    identity,
    idempotency,
    readModels,
    logger,
  });
  await administration.listen(0, '127.0.0.1');
  const operate = kept.createSecretCheckingCaller(createResponseCheckingCaller(await administration.getUrl()));
  const users = '/administration/users';
  const { email, password } = KIM;
  kept.forbidSecretInResponses('a password that an operator sets', password);
  const user = { workspace: 'default', email, role: 'admin' };
  expect((await operate('POST', users, { json: { ...user, password } })).status).toBe(201);
  await operate('POST', users, { json: { ...user, password } });
  await operate('POST', users, { json: { ...user, role: password, password: 'short' } });
  await operate('POST', users, { json: { ...user, email: 'lee@example.com' } }, 'a link of an operator');
  await operate('GET', `${users}?workspace=default`);
  const json = { workspace: 'default', name: 'TMS', environment: 'live', role: 'feed' };
  expect((await operate('POST', '/administration/keys', { json }, 'a key of an operator')).status).toBe(201);
  await operate('GET', '/administration/keys?workspace=default');
  await administration.close();
}

/** Sends secrets in wrong places. No response or log line may contain them. */
async function credentialsStandWhereTheyDoNotBelong(): Promise<void> {
  const unknown = kept.forbidSecretInResponses('a key that nobody has', `sk_live_${'q'.repeat(43)}`);
  const password = kept.forbidSecretInResponses('a password', 'correct horse "battery" staple');
  const cookie = kept.forbidSecretInResponses('a cookie', `ses_${randomUUID()}`);
  await send('GET', '/v1/shipments', { key: unknown });
  for (const authorization of [unknown, `Bearer ${unknown} x`, `Token ${unknown}`, `Basic ${password}`]) {
    await send('GET', '/v1/shipments', { headers: { authorization } });
  }
  await send('GET', '/v1/shipments', { headers: { cookie: `session=${cookie}; __Host-session=${cookie}` } });
  await send('GET', `/v1/shipments?status=${unknown}&key=${unknown}&cursor=${unknown}`, { key: admin });
  await send('GET', `/v1/api_keys/${unknown}`, { key: admin });
  await send('GET', `/v1/api_keys/${unknown.replaceAll('_', '%5f')}`, { key: admin });
  await send('POST', `/v1/api_keys/${unknown}/revoke`, { key: admin });
  await send('GET', '/v1/shipments', { key: admin, headers: { 'consistency-token': unknown } });
  await send('PATCH', '/v1/settings', { key: admin, json: {}, headers: { 'if-match': unknown } });
  const wrong = { name: 5, environment: password, service_account_id: unknown, expires_at: password };
  await send('POST', '/v1/api_keys', { key: admin, json: wrong, headers: under(unknown) });
  await send('POST', '/v1/shipments', { key: admin, json: { mode: password, etd: unknown, legs: [unknown] } });
  await send('POST', '/v1/shipments', { key: admin, raw: `{"password": "${unknown}" ${password}` });
  await send('PATCH', '/v1/settings', {
    key: admin,
    json: {
      exceptions: { eta_slip: { severity: password, after_hours: unknown } },
      required_documents: { ocean: [unknown] },
    },
  });
}

async function webhooksAreUsed(): Promise<void> {
  const sent = kept.forbidSecretInResponses('a header of an endpoint', 'Bearer of-the-partner-4711');
  const fields = { url: receiver.url, event_types: ['*'], headers: { authorization: sent } };
  const call = { key: admin, json: fields, headers: under(randomUUID()) };
  const made = await send('POST', '/v1/webhook_endpoints', call, 'a signing secret');
  expect((await send('POST', '/v1/webhook_endpoints', call, 'a signing secret')).text).toBe(made.text);
  const path = `/v1/webhook_endpoints/${String(made.body['id'])}`;
  await send('POST', `${path}/verify`, { key: admin });
  await send('POST', `${path}/enable`, { key: admin });
  const rotation = { key: admin, json: { expires_in_seconds: 0 }, headers: under(randomUUID()) };
  const rotated = await send('POST', `${path}/rotate_secret`, rotation, 'a rotated signing secret');
  expect((await send('POST', `${path}/rotate_secret`, rotation, 'a rotated signing secret')).text).toBe(rotated.text);
  const revealed = await send('POST', `${path}/reveal_secret`, { key: admin }, 'a rotated signing secret');
  expect([revealed.status, revealed.body['secret']]).toEqual([200, rotated.body['secret']]);
  const tested = await send('POST', `${path}/test`, { key: admin, json: { type: 'milestone.recorded' } });
  expect(tested.status).toBe(202);
  const next = kept.forbidSecretInResponses('another header of it', 'Bearer of-the-partner-4712');
  await send('PATCH', path, { key: admin, json: { headers: { authorization: next, 'x-team': 'ocean' } } });
  await send('PATCH', path, { key: admin, json: { headers: { authorization: `${next}\n` }, url: next } });
  await send('GET', path, { key: admin });
  await send('GET', '/v1/webhook_endpoints', { key: admin });
  await send('GET', `/v1/webhook_deliveries/${String(tested.body['id'])}`, { key: admin });
}

async function shipmentsAreWritten(): Promise<void> {
  const made = await send('POST', '/v1/shipments', {
    key: admin,
    json: { external_id: 'S-1', password: 'not a field of it' },
    headers: under(randomUUID()),
  });
  expect(made.status).toBe(201);
}

/** Runs writes while stores fail with errors that quote their input, as drivers do. */
async function storesFail(): Promise<void> {
  for (const failure of [
    (given: string) => new Error(`cannot write ${given}`),
    (given: string) => new UnavailableError('document store', `cannot write ${given}`),
  ]) {
    let isFailing = false;
    const documentStore = failing(api.storage.documentStore, (given) => (isFailing ? failure(given) : undefined));
    const { clock, logger } = api.dependencies;
    const identity = await IdentityServices.openIdentity({ documentStore, clock, logger, secret: new Uint8Array(32) });
    const idempotency = await api.claims({ documentStore });
    const call = await api.gateway({ identity, authenticateKey: (key) => identity.authenticateKey(key) });
    const retried = await api.gateway({ idempotency });
    isFailing = true;
    const json = { name: 'TMS', role: 'feed' };
    const password = kept.forbidSecretInResponses('a password in a field that is none', 'correct horse under a fault');
    const answers = [
      await call('POST', '/v1/service_accounts', { key: admin, json: { ...json, password } }),
      await call('POST', '/v1/api_keys', { key: admin, json: { name: 'x', environment: 'live', password } }),
      await call('POST', '/v1/users', { key: admin, json: { email: 'max@example.com', role: 'viewer' } }),
      await call('POST', '/v1/session', { json: KIM, headers: { 'x-requested-with': 'a test' } }),
      await retried('POST', '/v1/service_accounts', { key: admin, json, headers: under(randomUUID()) }),
    ];
    expect(answers.map(({ status }) => status >= 500)).toEqual(answers.map(() => true));
    for (const { text } of answers) expect(kept.listSecretsInText(text)).toEqual([]);
    await identity.closeIdentityAfterPendingWrites();
  }
}

/** Returns the store with writes that fail whenever `failure` returns an error. */
function failing(store: DocumentStore, failure: (given: string) => Error | undefined): DocumentStore {
  const writes: ReadonlySet<string> = new Set<keyof Collection<Document>>([
    ...(['insert', 'replace', 'replaceMany', 'upsert', 'claim', 'writeMany', 'delete'] as const),
  ]);
  return {
    collection: async <T extends Document>(spec: Parameters<DocumentStore['collection']>[0]) => {
      const collection: Collection<T> = await store.collection<T>(spec);
      return new Proxy(collection, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== 'function') return member;
          if (!writes.has(String(name))) return member.bind(target) as unknown;
          return (...given: unknown[]): unknown => {
            const error = failure(JSON.stringify(given));
            return error ? Promise.reject(error) : Reflect.apply(member, target, given);
          };
        },
      });
    },
    listCollectionNames: (prefix) => store.listCollectionNames(prefix),
    dropCollection: (name) => store.dropCollection(name),
    close: () => store.close(),
  };
}

it('no response contains a secret except the one that creates it', () => {
  expect(kept.errorCount).toBeGreaterThan(30);
  expect(kept.findLeakedSecrets()).toEqual([]);
});

it('no log line contains a secret', () => {
  const texts = api.lines.map((line) => JSON.stringify(line));
  expect(texts.length).toBeGreaterThan(80);
  expect(texts.flatMap((text) => kept.listSecretsInText(text).map((name) => `${name} in ${text}`))).toEqual([]);
});

it('no metric has a secret in its name or labels', () => {
  expect(api.counts.size).toBeGreaterThan(10);
  expect(kept.listSecretsInText([...api.counts.keys()].join('\n'))).toEqual([]);
});

it('the audit log contains no secret', async () => {
  const { body, text } = await api.call('GET', '/v1/audit_log?limit=200', { key: admin });
  const types = new Set((body['data'] as { type: string }[]).map(({ type }) => type));
  expect([...types]).toEqual(
    expect.arrayContaining([
      'api_key.created',
      'user.joined',
      'user.password_reset_requested',
      'webhook_endpoint.changed',
    ]),
  );
  expect(kept.listSecretsInText(text)).toEqual([]);
});

it('no event contains a secret, whether stored, exported or delivered', async () => {
  expect(exported).toContain('S-1');
  expect(kept.listSecretsInText(exported)).toEqual([]);
  expect(receiver.deliveries().length).toBeGreaterThan(0);
  const bodies = receiver.requests.map(({ body }) => body.toString()).join('\n');
  expect(kept.listSecretsInText(bodies)).toEqual([]);
});

it('no file contains a secret in plain text', async () => {
  const bytes = await readFilesAsText(api.dataDir);
  expect(bytes).toContain('S-1');
  expect(kept.listSecretsInText(bytes)).toEqual([]);
});
