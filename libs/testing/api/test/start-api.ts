import type { Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes, randomUUID } from 'node:crypto';
import { EVENT_MESSAGE_HEADERS, SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import type { Environment, PublishedEvent, Role } from '@tracking/contracts';
import { StorageQuotaLimiter } from '@tracking/documents';
import { FileObjectStore } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import { createHttpApi, IdempotencyClaims } from '@tracking/http';
import type { Deprecations, IdempotencyOptions } from '@tracking/http';
import { ACCESS_TO_ALL_KEYS, IdentityServices } from '@tracking/identity';
import { createOutboundHttp } from '@tracking/outbound-http';
import { loadPlaces } from '@tracking/places';
import type { DiskSpace, DocumentStore, Metrics } from '@tracking/ports';
import { PublishedEventReader, ReadModels } from '@tracking/read-models';
import {
  EventSourcedShipmentService,
  createCachedRuleSettingsReader,
  createPublicEventRecreator,
} from '@tracking/shipments';
import { type LogLine, createRecordingLogger } from '@tracking/testing';
import { SecretBox, WEBHOOK_BROKER_TOPICS, type WebhookSettings, WebhooksFeature } from '@tracking/webhooks';
import { WorkspaceSettingsStore } from '@tracking/workspace-settings';
import type { InjectOptions } from 'fastify';
import { type ApiDependencies, TESTED_HTTP_MODULES } from './features.ts';
import { type ApiResponse, expectResponseMatchesDescription } from './described-responses.ts';

const createResponseCipher = (key: Uint8Array) => new SecretBox(key);
export const PUBLIC_URLS_FOR_TEST = { appUrl: 'https://app.example', baseUrl: 'https://api.example' };

export interface ApiTestRequest {
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Request body that is sent as JSON. */
  readonly json?: unknown;
  /** Request body that is sent unchanged, as `application/json` unless `headers` contain another type. */
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  /** Signal that aborts the request and closes its connection. */
  readonly signal?: AbortSignal;
}

export interface TestApiStartOptions {
  readonly settings?: Partial<ApiDependencies['settings']>;
  readonly webhooks?: Partial<WebhookSettings>;
  readonly deprecations?: Deprecations;
  /** Maximum number of bytes of one workspace's documents. */
  readonly storagePerWorkspace?: number;
  /** Disk of the stored files, which may be smaller than the real one. */
  readonly disk?: Partial<DiskSpace>;
  /** False to start no projections, which simulates a service that is down. */
  readonly project?: boolean;
  /** Wraps the document store that all features use. */
  readonly store?: (store: DocumentStore) => DocumentStore;
  readonly override?: (dependencies: Required<ApiDependencies>) => Partial<ApiDependencies>;
}

/** Starts the API on embedded engines, on its own port and with an empty data folder. */
export async function startApi(options: TestApiStartOptions = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'http-api-'));
  const lines: LogLine[] = [];
  const logger = createRecordingLogger(lines);
  const counts = new Map<string, number>();
  const metrics = createCountingMetrics(counts);
  const clock = () => new Date();
  const engine = await openTestEngine(dataDir, { logger, metrics });
  const { eventStore, messageBroker: broker, leases, quota } = engine;
  const documentStore = options.store?.(engine.documentStore) ?? engine.documentStore;
  const identityOptions = {
    documentStore,
    clock,
    logger,
    secret: randomBytes(32),
    // The lowest cost that argon2 accepts keeps the tests fast.
    passwords: { cost: { memory: 8, passes: 1, parallelism: 1 } },
  };
  const identity = await IdentityServices.openIdentity(identityOptions);
  const places = await loadPlaces();
  const project = options.project ?? true;
  const readModels = await ReadModels.startReadModelsOfProcess({
    eventStore,
    documentStore,
    leases,
    logger,
    metrics,
    clock,
    project,
  });
  if (project) await readModels.ready;
  await broker.ensureTopics([SHIPMENT_EVENTS_TOPIC, ...WEBHOOK_BROKER_TOPICS]);
  const outbound = createOutboundHttp({ allowedCidrs: ['127.0.0.0/8'], allowHttp: true });
  const events = new PublishedEventReader(
    readModels,
    createPublicEventRecreator({ eventStore, addresses: PUBLIC_URLS_FOR_TEST }),
  );
  const webhooks = await WebhooksFeature.start({
    eventStore,
    eventLog: events.log,
    documentStore,
    broker,
    leases,
    outbound,
    secretsKey: randomBytes(32),
    clock,
    random: Math.random,
    logger,
    metrics,
    settings: { addresses: PUBLIC_URLS_FOR_TEST, pollMs: 10, drainMs: 1_000, ...options.webhooks },
  });
  const claiming = {
    documentStore,
    leases,
    clock,
    logger,
    metrics,
    secret: randomBytes(32),
    takeOverAfterMs: 0,
    responseCipher: createResponseCipher,
  };
  const idempotency = await IdempotencyClaims.openIdempotencyClaims(claiming);
  /** Functions that close resources of single tests, called in reverse order. */
  const opened: (() => Promise<unknown>)[] = [() => idempotency.stopClaimSweeper()];
  const storageQuota = await StorageQuotaLimiter.openStorageQuota({
    documentStore,
    storageBytes: (workspaceId) => readModels.queries.documents.sumDocumentBytesOfWorkspace(workspaceId),
    isCounted: (position, timeoutMs) => readModels.progress.reached('documents', position, timeoutMs),
    limitBytes: options.storagePerWorkspace ?? 2 ** 40,
    clock,
    logger,
    isSoleProcess: true,
  });
  const workspaceSettings = await WorkspaceSettingsStore.openWorkspaceSettings({ documentStore });
  const settings = createCachedRuleSettingsReader(workspaceSettings);
  const dependencies = {
    shipments: new EventSourcedShipmentService({ eventStore, places, settings, logger, metrics }),
    readModels,
    identity,
    authenticateKey: (key) => identity.authenticateKey(key),
    head: () => eventStore.head(),
    quota,
    idempotency,
    objects: await FileObjectStore.openFileObjectStore(join(dataDir, 'objects'), options.disk),
    storageQuota,
    places,
    clock,
    logger,
    metrics,
    health: () => ({ status: 'ready', engines: { storage: 'ok' }, httpStatus: 200 }),
    webhooks,
    workspaceSettings,
    events,
    settings: {
      ...PUBLIC_URLS_FOR_TEST,
      rateLimitPerMinute: 100_000,
      trustedProxies: [],
      cursorSecret: Buffer.alloc(32, 7),
      // The wait exceeds any delay of a slow machine, because reads must wait for the read model.
      readYourWritesWaitMs: 60_000,
      duplicatesWaitMs: 60_000,
      ...options.settings,
    },
  } satisfies ApiDependencies;
  const app = await createHttpApi(
    { ...dependencies, ...options.override?.(dependencies) },
    TESTED_HTTP_MODULES,
    options.deprecations,
  );
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();

  const key = async (role: Role, environment: Environment = 'live', workspace = 'default'): Promise<string> => {
    const found =
      (await identity.workspaces.findWorkspaceByName(workspace)) ??
      (await identity.workspaces.createWorkspace(workspace));
    const actor = { type: 'system', id: 'test' } as const;
    const command = { id: randomUUID(), at: clock().toISOString(), actor, workspace_id: found.id };
    const account = await identity.serviceAccounts.createServiceAccount(command, { name: role, role });
    const owner = { type: 'service_account', id: account.after.id } as const;
    const created = await identity.keys.createKey(command, ACCESS_TO_ALL_KEYS, { name: role, environment, owner });
    return created.after.key;
  };

  return {
    url,
    server: app.getHttpServer() as Server,
    call: createResponseCheckingCaller(url),
    /** Makes a call without a connection, for large numbers of calls. */
    inject: (request: InjectOptions) => app.inject(request),
    identity,
    /** Options for opening another `IdentityServices` on the same store. */
    identityOptions,
    key,
    lines,
    counts,
    dependencies,
    storage: { eventStore, documentStore },
    /** Folder with all data of the API. */
    dataDir,
    /** Opens the idempotency claims like another process of this API. */
    claims: async (differing: Partial<IdempotencyOptions> = {}) => {
      const claims = await IdempotencyClaims.openIdempotencyClaims({ ...claiming, ...differing });
      opened.push(() => claims.stopClaimSweeper());
      return claims;
    },
    /** Starts another gateway that uses the same databases and broker. */
    gateway: async (differing: Partial<ApiDependencies>) => {
      const gateway = await createHttpApi({ ...dependencies, ...differing }, TESTED_HTTP_MODULES);
      opened.push(() => gateway.close());
      await gateway.listen(0, '127.0.0.1');
      return createResponseCheckingCaller(await gateway.getUrl());
    },
    /** Publishes the given events to webhooks, as if they were stored after the current head of the log. */
    publish: async (...published: readonly PublishedEvent[]) => {
      const headers = { [EVENT_MESSAGE_HEADERS.position]: `${(await eventStore.head()) ?? ''}.` };
      const messages = published.map((event) => ({ key: 'shipment', value: JSON.stringify(event), headers }));
      await broker.publishMessages(SHIPMENT_EVENTS_TOPIC.name, messages);
    },
    /** Returns the id of the workspace with this name. */
    workspace: async (name = 'default') => String((await identity.workspaces.findWorkspaceByName(name))?.id),
    /** Returns the position of the last stored event, which changes with every write of events. */
    head: () => eventStore.head(),
    async stop() {
      await app.close();
      for (const close of opened.reverse()) await close();
      await webhooks.stop();
      await outbound.closeOutboundHttp();
      await readModels.stop();
      await identity.closeIdentityAfterPendingWrites();
      await engine.closeEngine();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
export type Api = Awaited<ReturnType<typeof startApi>>;

/** Returns a function that calls the server at the URL and checks that every response is described. */
export function createResponseCheckingCaller(url: string) {
  return async (
    method: string,
    path: string,
    { key, headers, json, raw, signal }: ApiTestRequest = {},
  ): Promise<ApiResponse> => {
    const body = raw ?? (json === undefined ? undefined : JSON.stringify(json));
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true && text !== '';
    const answer = { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} };
    expectResponseMatchesDescription(method, path, answer);
    return answer;
  };
}

/** Returns metrics that add up values, by name and sorted labels in the notation of Prometheus. */
function createCountingMetrics(counts: Map<string, number>): Metrics {
  const add = (name: string, amount: number, labels: Readonly<Record<string, string | number>> = {}): void => {
    const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const series = `${name}{${pairs.sort().join(',')}}`;
    counts.set(series, (counts.get(series) ?? 0) + amount);
  };
  return {
    createCounter: (name) => ({ add: (amount = 1, labels) => add(name, amount, labels) }),
    createGauge: () => ({ set: () => undefined }),
    createHistogram: (name) => ({ observe: (_value, labels) => add(`${name}_count`, 1, labels) }),
  };
}

/** Returns a service with some operations replaced. */
export function overrideOperations<T extends object>(service: T, operations: Partial<T>): T {
  return Object.assign(Object.create(service) as T, operations);
}
