import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { jest } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { getSocketPath } from '@tracking/contracts';
import type { JsonObject } from '@tracking/contracts';
import type { EmbeddedSqliteEngine } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import { IdempotencyClaims } from '@tracking/http';
import { IdentityServices } from '@tracking/identity';
import { UnavailableError } from '@tracking/ports';
import type { Logger, Metrics } from '@tracking/ports';
import { ReadModels } from '@tracking/read-models';
import { PartitionCountManager } from '@tracking/shipments';
import { createAdministrationHttpApi, createTokenProtectedHandler, serveOnAdministrationSocket } from './index.ts';
import type { AdministrationDependencies } from './index.ts';

const metrics: Metrics = {
  createCounter: () => ({ add: () => undefined }),
  createGauge: () => ({ set: () => undefined }),
  createHistogram: () => ({ observe: () => undefined }),
};

const appUrl = 'https://app.example';

describe('administration API', () => {
  let dataDir: string;
  let socketPath: string;
  let engine: EmbeddedSqliteEngine;
  let identity: IdentityServices;
  let idempotency: IdempotencyClaims;
  let readModels: ReadModels;
  let app: NestFastifyApplication;
  let overridden: Partial<AdministrationDependencies['readModels']>;
  const lines: string[] = [];
  const note = (fields: object, message: string) => void lines.push(JSON.stringify({ fields, message }));
  const logger: Logger = { debug: note, info: note, warn: note, error: note };

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'administration-'));
    engine = await openTestEngine(dataDir, { logger, metrics });
    const { eventStore, documentStore, leases } = engine;
    const clock = () => new Date();
    identity = await IdentityServices.openIdentity({ documentStore, clock, logger, secret: randomBytes(32) });
    readModels = await ReadModels.startReadModelsOfProcess({
      eventStore,
      documentStore,
      leases,
      logger,
      metrics,
      clock,
    });
    await readModels.ready;
    const stored = { documentStore, leases, clock, logger, metrics };
    const cipher = { sealText: (text: string) => text, openText: (text: string) => text };
    idempotency = await IdempotencyClaims.openIdempotencyClaims({
      ...stored,
      secret: randomBytes(32),
      responseCipher: () => cipher,
      takeOverAfterMs: 0,
    });
    app = await createAdministrationHttpApi({
      appUrl,
      identity,
      idempotency,
      readModels: {
        listReadModelStates: () => readModels.listReadModelStates(),
        rebuild: (name) => readModels.rebuild(name),
        listParkedShipments: () =>
          (overridden.listParkedShipments ?? readModels.listParkedShipments.bind(readModels))(),
        retryParkedStream: (id) => (overridden.retryParkedStream ?? readModels.retryParkedStream.bind(readModels))(id),
      },
      logger,
    });
    socketPath = await serveOnAdministrationSocket(app, dataDir);
  });
  beforeEach(() => {
    overridden = {};
  });
  afterAll(async () => {
    await app.close();
    await idempotency.stopClaimSweeper();
    await readModels.stop();
    await identity.closeIdentityAfterPendingWrites();
    await engine.closeEngine();
    await rm(dataDir, { recursive: true });
  });

  interface Answer {
    readonly status: number;
    readonly body: JsonObject;
  }
  function call(method: string, path: string, body?: unknown, raw?: string, key?: string): Promise<Answer> {
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    return new Promise((resolve, reject) => {
      const headers = {
        ...(sent !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      };
      const outgoing = request({ socketPath, method, path, headers, agent: false }, (incoming) => {
        let text = '';
        incoming.setEncoding('utf8');
        incoming.on('data', (chunk: string) => (text += chunk));
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, body: JSON.parse(text) as JsonObject }));
      });
      outgoing.on('error', reject);
      outgoing.end(sent);
    });
  }
  const newKey = { workspace: 'default', name: 'TMS', environment: 'live', role: 'operator' };

  it('is in the data folder and only its user can open it', async () => {
    expect(socketPath).toBe(join(dataDir, 'administration.sock'));
    const { mode } = await stat(socketPath);
    expect(mode & 0o777).toBe(0o600);
  });

  it('reports that the service runs', async () => {
    expect(await call('GET', '/administration')).toEqual({
      status: 200,
      body: { status: 'ready', process_id: process.pid },
    });
  });

  it('creates and lists workspaces, and refuses invalid ones', async () => {
    const created = await call('POST', '/administration/workspaces', { name: 'Acme & Söhne/1' });
    expect(created).toEqual({
      status: 201,
      body: { id: expect.stringMatching(/^wsp_/), name: 'Acme & Söhne/1', created_at: expect.any(String) },
    });
    const { body } = await call('GET', '/administration/workspaces');
    expect(body).toEqual({ data: expect.arrayContaining([created.body]) });
    expect(await call('POST', '/administration/workspaces', { name: 'acme & söhne/1' })).toMatchObject({
      status: 409,
      body: { error: { type: 'conflict', code: 'workspace_exists' } },
    });
    const named = encodeURIComponent('Acme & Söhne/1');
    expect(await call('GET', `/administration/keys?workspace=${named}`)).toEqual({ status: 200, body: { data: [] } });
  });

  it('creates a working key, lists it without the key itself, and revokes it', async () => {
    const { status, body } = await call('POST', '/administration/keys', newKey);
    expect(status).toBe(201);
    expect(body).toMatchObject({ name: 'TMS', environment: 'live', role: 'operator', revoked_at: null });
    const { key, ...listed } = body;

    const list = await call('GET', '/administration/keys?workspace=default');
    expect(list.body).toEqual({ data: [listed] });
    expect(await identity.authenticateKey(String(key))).toMatchObject({
      credential_id: body['id'],
      environment: 'live',
    });

    const path = `/administration/keys/${String(body['id'])}/revoke`;
    const elsewhere = await call('POST', '/administration/workspaces', { name: 'elsewhere' });
    expect(elsewhere.status).toBe(201);
    expect((await call('POST', path, { workspace: 'elsewhere' })).status).toBe(404);
    expect(await call('POST', path, { workspace: 'default' })).toMatchObject({
      status: 200,
      body: { id: body['id'], revoked_at: expect.any(String) },
    });
    expect(await identity.authenticateKey(String(key))).toBeUndefined();

    await identity.closeIdentityAfterPendingWrites();
    const after = await call('GET', '/administration/keys?workspace=default');
    const secret = String(key).slice('sk_live_'.length + 4, -4);
    expect(JSON.stringify([after.body, list.body]) + lines.join('\n')).not.toContain(secret);
  });

  it('creates a key of a user with the permissions of the user', async () => {
    const { id } = (await identity.workspaces.findWorkspaceByName('default')) ?? { id: '' };
    const command = {
      id: 'the user',
      at: new Date().toISOString(),
      actor: { type: 'system', id: 'x' },
      workspace_id: id,
    } as const;
    const fields = { email: 'Ann@example.com', role: 'feed', password: 'some long password' } as const;
    const { after: user } = await identity.users.createUser(command, fields);
    const { role: _, ...named } = newKey;
    const { status, body } = await call('POST', '/administration/keys', { ...named, user: 'ann@EXAMPLE.com' });
    expect([status, body]).toMatchObject([201, { owner: { type: 'user', id: user.id }, role: 'feed' }]);
    expect(await identity.authenticateKey(String(body['key']))).toMatchObject({
      type: 'user_key',
      credential_id: body['id'],
    });
    expect((await call('POST', '/administration/keys', { ...named, user: 'bob@example.com' })).status).toBe(404);
    const statuses = [];
    const more = { ...named, user: 'ann@example.com' };
    for (let count = 1; count < 25; count += 1)
      statuses.push((await call('POST', '/administration/keys', more)).status);
    expect(new Set(statuses)).toEqual(new Set([201]));
    expect(await call('POST', '/administration/keys', more)).toMatchObject({
      status: 409,
      body: { error: { code: 'too_many_keys', message: 'The user has 25 valid keys, the maximum. Revoke one first.' } },
    });
    for (const both of [named, { ...newKey, user: 'ann@example.com' }]) {
      const refused = await call('POST', '/administration/keys', both);
      expect([refused.status, refused.body]).toMatchObject([400, { error: { param: 'role' } }]);
    }
  });

  it('audits changes as made by the command line, without secrets and refused ones', async () => {
    const acme = await call('POST', '/administration/workspaces', { name: 'audited' });
    const inAcme = { ...newKey, workspace: 'audited' };
    const { body } = await call('POST', '/administration/keys', inAcme);
    const id = String(body['id']);
    for (let time = 0; time < 2; time += 1) {
      await call('POST', `/administration/keys/${id}/revoke`, { workspace: 'audited' });
    }
    expect((await call('POST', '/administration/keys', { ...inAcme, role: 'root' })).status).toBe(400);
    expect((await call('POST', '/administration/keys/key_none/revoke', { workspace: 'audited' })).status).toBe(404);

    const workspaceId = String(acme.body['id']);
    const { items } = await identity.auditLog.listAuditEntries(workspaceId, { filter: {}, limit: 50 });
    const common = {
      id: expect.stringMatching(/^aud_/),
      at: expect.any(String),
      actor: { type: 'system', id: 'administration', name: null },
      target: { type: 'api_key', id },
      outcome: 'done',
      request_id: expect.stringMatching(/^req_/),
      address: null,
    };
    const [revoked, ...made] = items;
    expect(revoked).toEqual({
      ...common,
      type: 'api_key.revoked',
      changes: { revoked_at: { from: null, to: expect.any(String) } },
    });
    const { id: account } = body['owner'] as JsonObject;
    const changes = expect.objectContaining({ name: { from: null, to: 'TMS' }, role: { from: null, to: 'operator' } });
    // Both entries belong to one request, so they have the same time.
    expect(new Map(made.map((entry) => [entry.type, entry]))).toEqual(
      new Map([
        ['api_key.created', { ...common, type: 'api_key.created', changes }],
        [
          'service_account.created',
          { ...common, type: 'service_account.created', target: { type: 'service_account', id: account }, changes },
        ],
      ]),
    );
    expect(new Set(made.map(({ request_id }) => request_id)).size).toBe(1);
    expect(JSON.stringify(items)).not.toContain(String(body['key']).slice('sk_live_'.length + 4, -4));
  });

  it('audits the service account even if the outcome of its key is unknown', async () => {
    const { body } = await call('POST', '/administration/workspaces', { name: 'half' });
    const serviceAccounts = () => identity.serviceAccounts.listServiceAccounts(String(body['id']), { limit: 10 });
    jest.spyOn(identity.keys, 'createKey').mockRejectedValueOnce(new UnavailableError('document store', 'gone'));
    const inHalf = { ...newKey, workspace: 'half' };
    expect((await call('POST', '/administration/keys', inHalf)).status).toBe(503);
    const [account] = (await serviceAccounts()).items;
    const entries = async () => {
      const { items } = await identity.auditLog.listAuditEntries(String(body['id']), { filter: {}, limit: 50 });
      return items.map(({ type, outcome, target }) => [type, outcome, target.id]).sort();
    };
    const unknown = ['api_key.created', 'unknown', null];
    const made = ['service_account.created', 'done', account?.id];
    expect(await entries()).toEqual([unknown, made]);
    for (const refused of [{ name: ' x\u0007' }, { user: 'ann@example.com' }]) {
      expect((await call('POST', '/administration/keys', { ...inHalf, ...refused })).status).toBe(400);
    }
    expect([await entries(), (await serviceAccounts()).items]).toEqual([[unknown, made], [account]]);
  });

  describe('with an Idempotency-Key', () => {
    const keysNamed = async (name: string) => {
      const { data } = (await call('GET', '/administration/keys?workspace=default')).body as { data: JsonObject[] };
      return data.filter((each) => each['name'] === name);
    };

    it('returns the first response to a repeated request, and changes nothing', async () => {
      const once = (name: string) =>
        call('POST', '/administration/keys', { ...newKey, name }, undefined, 'lost answer');
      const first = await once('once');
      expect(first.status).toBe(201);
      expect(await once('once')).toEqual(first);
      expect(await keysNamed('once')).toHaveLength(1);
      expect(await once('other')).toMatchObject({ status: 409, body: { error: { code: 'idempotency_key_reused' } } });
    });

    it('creates nothing twice if a part failed or the first response could not be stored', async () => {
      jest.spyOn(identity.keys, 'createKey').mockRejectedValueOnce(new UnavailableError('document store', 'gone'));
      const again = () => call('POST', '/administration/keys', { ...newKey, name: 'half' }, undefined, 'half');
      expect((await again()).status).toBe(503);
      expect((await again()).status).toBe(201);
      expect(await keysNamed('half')).toHaveLength(1);
      const { data } = (await call('GET', '/administration/workspaces')).body as { data: JsonObject[] };
      const accounts = await identity.serviceAccounts.listServiceAccounts(String(data[0]?.['id']), { limit: 50 });
      expect(accounts.items.filter(({ name }) => name === 'half')).toHaveLength(1);

      jest.spyOn(idempotency, 'storeResponseOfClaim').mockImplementationOnce(async (claim) => {
        await idempotency.releaseIdempotencyClaim(claim);
        throw new UnavailableError('document store', 'gone');
      });
      const create = () => call('POST', '/administration/workspaces', { name: 'Repeated' }, undefined, 'workspace');
      expect((await create()).status).toBe(503);
      const created = await create();
      expect([created.status, created.body['name']]).toEqual([201, 'Repeated']);
    });

    it('stores nothing for an unknown path, and refuses a key that is too long', async () => {
      expect((await call('POST', '/administration/nothing', {}, undefined, 'nothing')).status).toBe(404);
      expect((await call('POST', '/administration/keys', newKey, undefined, 'x'.repeat(256))).status).toBe(400);
    });
  });

  it('lists all invalid fields', async () => {
    const { status, body } = await call('POST', '/administration/keys', {
      name: 7,
      environment: 'prod',
      role: 'root',
      owner: 'x',
    });
    expect(status).toBe(400);
    const { details } = (body as { error: { details: { param: string; code: string }[] } }).error;
    expect(details.map(({ param, code }) => `${param} ${code}`).sort()).toEqual([
      'environment invalid_value',
      'name invalid_type',
      'owner unknown_field',
      'role invalid_value',
      'workspace required',
    ]);
  });

  it.each([
    ['GET', '/administration/keys?workspace=nowhere', undefined, 404],
    ['GET', '/administration/keys', undefined, 400],
    ['GET', '/administration/keys?workspace=a&workspace=b', undefined, 400],
    ['POST', '/administration/keys', '{', 400],
    ['POST', '/administration/keys', '[]', 400],
    ['POST', '/administration/keys', '"x"', 400],
    ['POST', '/administration/keys/key_none/revoke', '{"workspace":"default"}', 404],
    ['POST', '/administration/read_models/nothing/rebuild', undefined, 404],
    ['POST', '/administration/parked/none/retry', undefined, 404],
    ['DELETE', '/administration/keys', undefined, 405],
    ['PUT', '/administration/read_models/nothing/rebuild', undefined, 405],
    ['GET', '/v1/shipments', undefined, 404],
    ['GET', '/%', undefined, 404],
  ] as const)('responds to %s %s %j with %i in the error format', async (method, path, raw, status) => {
    const answer = await call(method, path, undefined, raw);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({
      error: {
        type: expect.any(String),
        code: expect.any(String),
        message: expect.any(String),
        param: status === 400 && raw === undefined ? 'workspace' : null,
        details: expect.any(Array),
        request_id: expect.stringMatching(/^req_/),
      },
    });
  });

  it.each([
    ['GET', '/administration'],
    ['GET', '/administration/workspaces'],
    ['POST', '/administration/workspaces'],
    ['GET', '/administration/keys'],
    ['POST', '/administration/keys/key_none/revoke'],
    ['GET', '/administration/read_models'],
    ['POST', '/administration/read_models/nothing/rebuild'],
    ['GET', '/administration/parked'],
    ['POST', '/administration/parked/none/retry'],
  ])('refuses unknown parameters of %s %s', async (method, path) => {
    const { status, body } = await call(method, `${path}?workspaces=default`);
    expect([status, (body['error'] as JsonObject)['details']]).toEqual([
      400,
      expect.arrayContaining([
        { param: 'workspaces', code: 'unknown_parameter', message: expect.stringContaining('Allowed: ') },
      ]),
    ]);
  });

  it('lists read models and rebuilds them', async () => {
    const { body } = await call('GET', '/administration/read_models');
    const { data } = body as { data: { name: string; generation: number }[] };
    expect(data.map(({ name }) => name)).toEqual(expect.arrayContaining(['shipments', 'milestones']));
    expect(data[0]).toEqual({
      name: 'shipments',
      generation: 1,
      position: expect.any(String),
      caught_up: true,
      building: null,
      parked: 0,
    });
    expect(await call('POST', '/administration/read_models/shipments/rebuild')).toEqual({
      status: 202,
      body: { name: 'shipments', generation: 2 },
    });
  });

  it('lists parked shipments and reports the outcome of another attempt', async () => {
    const parked = {
      id: 'shipments.1.shipment-a',
      read_model: 'shipments',
      generation: 1,
      stream: 'shipment-a',
      revision: 4,
      event_type: 'milestone.recorded.v1',
      error: 'TypeError: no such thing',
      parked_at: '2026-03-01T12:00:00.000Z',
      attempts: 2,
    };
    overridden = {
      listParkedShipments: () => Promise.resolve([{ ...parked, partition: 'shipment-', retry: false }]),
      retryParkedStream: (id) => Promise.resolve(id === parked.id ? 'parked' : 'not_found'),
    };
    expect(await call('GET', '/administration/parked')).toEqual({ status: 200, body: { data: [parked] } });
    expect(await call('POST', `/administration/parked/${parked.id}/retry`)).toEqual({
      status: 200,
      body: { id: parked.id, outcome: 'parked' },
    });
  });

  describe('the administration socket', () => {
    async function served(folder: string): Promise<{ path: string; close: () => Promise<void> }> {
      const other = await createAdministrationHttpApi({ identity, idempotency, appUrl, readModels, logger });
      try {
        const path = await serveOnAdministrationSocket(other, folder);
        return { path, close: () => other.close() };
      } catch (error) {
        await other.close();
        throw error;
      }
    }

    it('replaces a socket left by a crash, and is removed with the application', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'administration-'));
      await writeFile(join(folder, 'administration.sock'), '');
      const { path, close } = await served(folder);
      expect((await stat(path)).isSocket()).toBe(true);
      await close();
      await expect(stat(path)).rejects.toThrow('ENOENT');
      await rm(folder, { recursive: true });
    });

    it('has its own folder if the path of the data folder is too long', async () => {
      const root = await mkdtemp(join(tmpdir(), 'administration-'));
      const deep = join(root, 'deep'.repeat(30));
      await mkdir(deep);
      const { path, close } = await served(deep);
      expect(path).toBe(getSocketPath(deep, tmpdir()));
      expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
      await close();
      await rm(dirname(path), { recursive: true });
      await rm(root, { recursive: true });
    });

    it('is not created in a folder that others can access', async () => {
      const root = await mkdtemp(join(tmpdir(), 'administration-'));
      const deep = join(root, 'deep'.repeat(30));
      const folder = dirname(getSocketPath(deep, tmpdir()));
      await symlink(tmpdir(), folder);
      await expect(served(deep)).rejects.toThrow(`${folder} is needed for the administration socket`);
      await rm(folder);
      await rm(root, { recursive: true });
    });
  });

  it('on another server responds only with the token, and leaves other paths alone', async () => {
    const token = 'a-token-of-thirty-two-characters';
    const own = await createAdministrationHttpApi({ identity, idempotency, appUrl, readModels, logger });
    const handler = await createTokenProtectedHandler(own, token);
    const server = createServer((incoming, response) => {
      if (!handler(incoming, response)) response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const status = async (path: string, authorization?: string) =>
      (await fetch(url + path, { headers: { ...(authorization && { authorization }) } })).status;
    try {
      expect(await status('/administration', `Bearer ${token}`)).toBe(200);
      expect(await status('/administration/workspaces', `Bearer ${token}`)).toBe(200);
      for (const wrong of [undefined, '', token, `Bearer ${token}x`, `Bearer ${token.slice(1)}`, 'Bearer ']) {
        expect(await status('/administration/workspaces', wrong)).toBe(401);
        const refused = await fetch(`${url}/administration`, { headers: { ...(wrong && { authorization: wrong }) } });
        expect(((await refused.json()) as { error: JsonObject }).error).toMatchObject({
          type: 'authentication',
          request_id: refused.headers.get('request-id'),
        });
      }
      expect(await status('/administrations', `Bearer ${token}`)).toBe(404);
      expect(await status('/v1/shipments', `Bearer ${token}`)).toBe(404);
      expect(lines.join()).not.toContain(token);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await own.close();
    }
  });

  it('lists the leases of all processes', async () => {
    const holder = { id: 'one', name: 'webhooks@host-1:4711', address: '10.0.0.1:4002' };
    const held = [
      { name: 'webhooks-shard-00', epoch: 3, holder },
      { name: 'webhooks-shard-01', epoch: 1, holder: null },
    ];
    const leases = { listHeldLeases: () => Promise.resolve(held) };
    const own = await createAdministrationHttpApi({ identity, idempotency, appUrl, readModels, leases, logger });
    try {
      const response = await own.inject('/administration/leases');
      expect([response.statusCode, response.json()]).toEqual([200, { data: held }]);
    } finally {
      await own.close();
    }
  });

  it('lists and changes the number of partitions of a subscriber', async () => {
    const partitions = new PartitionCountManager(engine.documentStore, ['publisher']);
    const own = await createAdministrationHttpApi({ identity, idempotency, appUrl, readModels, partitions, logger });
    const post = async (subscriber: string, body: object) => {
      const url = `/administration/partitions/${subscriber}`;
      const response = await own.inject({ method: 'POST', url, payload: body });
      return [response.statusCode, response.json<{ error?: { code: string } }>()];
    };
    try {
      const before = { subscriber: 'publisher', partitions: 1, requested: 16 };
      expect((await own.inject('/administration/partitions')).json()).toEqual({ data: [before] });
      expect(await post('publisher', { partitions: 4 })).toEqual([202, { ...before, requested: 4 }]);
      expect((await own.inject('/administration/partitions')).json()).toEqual({ data: [{ ...before, requested: 4 }] });
      for (const wrong of [{ partitions: 3 }, { partitions: 64 }, { partitions: 'four' }, {}])
        expect(await post('publisher', wrong)).toMatchObject([400, { error: { code: 'validation_failed' } }]);
      expect(await post('shipments', { partitions: 4 })).toMatchObject([404, { error: { code: 'not_found' } }]);
    } finally {
      await own.close();
    }
  });

  it('exports events from the first one, or after a position', async () => {
    const asked: unknown[] = [];
    const events = {
      exportEvents: (request: object) => Promise.resolve({ events: [], next: asked.push(request) }),
      importEvents: jest.fn<never>(),
    } as unknown as AdministrationDependencies['events'];
    const own = await createAdministrationHttpApi({
      identity,
      idempotency,
      appUrl,
      readModels,
      logger,
      ...(events && { events }),
    });
    const status = async (query: string) => (await own.inject(`/administration/events${query}`)).statusCode;
    try {
      expect(await status('')).toBe(200);
      expect(await status('?after=0a')).toBe(200);
      expect(await status('?after=no')).toBe(400);
    } finally {
      await own.close();
    }
    expect(asked).toMatchObject([{ after: null }, { after: '0a' }]);
  });

  it('checks the shipments of workspaces after all events of an import are stored', async () => {
    const requested: string[] = [];
    const workspaceSettings = { rechecks: { requestRecheck: async (id: string) => void requested.push(id) } };
    const events = { exportEvents: jest.fn<never>(), importEvents: jest.fn<never>() };
    const ids = ['a', 'b'].map((letter) => `wsp_${letter.repeat(26)}`);
    for (const parts of [{ workspaceSettings }, {}]) {
      const own = await createAdministrationHttpApi({
        identity,
        idempotency,
        appUrl,
        readModels,
        logger,
        events,
        ...parts,
      });
      const end = async (payload: object) => {
        const { statusCode } = await own.inject({ method: 'POST', url: '/administration/events/end', payload });
        return statusCode;
      };
      try {
        expect(await end({ workspaces: ids })).toBe(200);
        for (const wrong of [{}, { workspaces: 'wsp_a' }, { workspaces: [...ids, 'wsp_1'] }, { workspaces: [7] }]) {
          expect([wrong, await end(wrong)]).toEqual([wrong, 400]);
        }
      } finally {
        await own.close();
      }
    }
    expect(requested).toEqual(ids);
  });
});
