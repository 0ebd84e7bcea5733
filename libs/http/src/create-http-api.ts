import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';
import { RequestAdmission, CrossSiteRequestGuard } from './authentication/admission.ts';
import { KeyAuthenticator, SessionAuthenticator, SessionCookie } from './authentication/authenticators.ts';
import { combineApiDocs } from './docs/api-docs.ts';
import { describeApi } from './docs/openapi.ts';
import { serveDocs } from './docs/serve-docs.ts';
import { ErrorFilter } from './errors/error-response.ts';
import { HealthController } from './health/health.controller.ts';
import {
  CLOCK_INJECTION_TOKEN,
  type DependenciesOf,
  type FeatureHooks,
  HEALTH_INJECTION_TOKEN,
  type HttpDependencies,
  type HttpFeature,
  LOGGER_INJECTION_TOKEN,
  SETTINGS_INJECTION_TOKEN,
} from './http-feature.ts';
import { registerIdempotencyHooks } from './idempotency/safe-retries.ts';
import { addDeprecationHeaders, DEPRECATED_OPERATIONS, ACCESS_BY_OPERATION } from './operations/operations.ts';
import { PageCursorCodec } from './paging/paging.ts';
import { readPreconditions, respondNotModifiedIfCurrent } from './preconditions/preconditions.ts';
import { addReadModelAgeHeader, ReadYourWrites } from './read-your-writes/read-your-writes.ts';
import { WriteResponder } from './read-your-writes/write-responder.ts';
import { ResponseBudget } from './server/response-budget.ts';
import { compressResponses } from './server/compression.ts';
import { limitLargeBodies } from './server/body-limits.ts';
import { drainConnectionsWhenClosing } from './server/closing.ts';
import { createFastifyAdapter, createNestLogger } from './server/fastify-adapter.ts';
import { RequestLogAndMetrics } from './server/observation.ts';
import { runInRequestContext } from './server/request.ts';
import { RouteRegistry } from './server/routes.ts';
import { TokenSigner } from './server/seal.ts';
import { readAndValidateQueryParameters } from './validation/parameters.ts';
import { serveWebApp } from './web-app/serve-web-app.ts';

const DEFAULT_OWNER_RATE_LIMIT_FACTOR = 4;

/**
 * Creates the public API as an application that does not listen yet: call `await app.listen(port, host)`. `app.close()`
 * stops accepting connections, drains the open ones and lets open requests finish. It closes none of the `dependencies`:
 * close those afterwards.
 * @throws Error if an operation has no route, a route has no operation, or a code has no entry in the documentation
 */
export async function createHttpApi<Feature extends HttpFeature<never>>(
  dependencies: HttpDependencies & DependenciesOf<Feature>,
  features: readonly Feature[],
  deprecations = DEPRECATED_OPERATIONS,
): Promise<NestFastifyApplication> {
  const { logger, metrics, clock, settings } = dependencies;
  const { trustedProxies, baseUrl } = settings;
  const docs = combineApiDocs(features);
  const routes = new RouteRegistry();
  const errors = new ErrorFilter({
    logger,
    docsUrl: `${baseUrl}/docs`,
    refine: (error, request) => routes.toMethodNotAllowedIfKnown(error, request),
  });
  const cookie = new SessionCookie(baseUrl);
  const authenticators = [
    new KeyAuthenticator(dependencies.authenticateKey),
    new SessionAuthenticator((...session) => dependencies.identity.authenticateSession(...session), cookie),
  ];
  const admission = new RequestAdmission(authenticators, dependencies.quota, {
    perCredential: settings.rateLimitPerMinute,
    perOwner: settings.rateLimitPerMinute * (settings.rateLimitOwnerFactor ?? DEFAULT_OWNER_RATE_LIMIT_FACTOR),
  });
  const sealer = new TokenSigner(settings.cursorSecret);
  const readYourWrites = new ReadYourWrites(sealer, dependencies.readModels, {
    listMs: settings.readYourWritesWaitMs ?? 5_000,
    writeResponseMs: settings.writeResponseWaitMs ?? 0,
    duplicatesMs: settings.duplicatesWaitMs ?? 200,
  });
  const observation = new RequestLogAndMetrics(logger, metrics);

  const adapter = createFastifyAdapter({
    errors,
    clock,
    trustedProxies,
    baseUrl,
    connections: { metrics, ...settings.connections },
  });
  const fastify: FastifyInstance = adapter.getInstance();
  routes.recordRoutes(fastify);
  addDeprecationHeaders(fastify, deprecations);
  const providers = createCommonProviders(dependencies, {
    admission,
    observation,
    errors,
    cookie,
    sealer,
    cursors: new PageCursorCodec(sealer),
    readYourWrites,
  });
  const app = await NestFactory.create<NestFastifyApplication>(
    createRootModule(dependencies, features, providers),
    adapter,
    {
      logger: createNestLogger(logger),
      bodyParser: false,
      abortOnError: false,
    },
  );
  const addHooks = (place: keyof FeatureHooks) => {
    for (const { hooks } of features) hooks?.[place]?.(fastify, app);
  };

  const crossSiteRequests = new CrossSiteRequestGuard(cookie, [baseUrl, settings.appUrl]);
  fastify.addHook('onRequest', (request, _reply, done) => {
    crossSiteRequests.refuseCrossSiteRequest(request);
    done();
  });
  fastify.addHook('onRequest', (request, reply) => admission.authenticateAndAdmitRequest(request, reply));
  addHooks('afterAdmission');
  limitLargeBodies(fastify);
  fastify.addHook('onRequest', (request, _reply, done) => {
    readAndValidateQueryParameters(request);
    readPreconditions(request);
    done();
  });
  fastify.addHook('onSend', (request, reply, payload, done) =>
    done(null, respondNotModifiedIfCurrent(request, reply, payload)),
  );
  fastify.addHook('onSend', (request, reply, payload, done) => {
    addReadModelAgeHeader(request, reply);
    done(null, payload);
  });
  // Set the request context after the body is read, because body parsers lose the context.
  fastify.addHook('preValidation', (request, _reply, done) => runInRequestContext(request, done));
  fastify.addHook('preValidation', (request, _reply, done) => {
    if (request.routeOptions.config.bodyMayBeOmitted) request.body ??= {};
    done();
  });
  addHooks('afterBody');
  const { idempotency: claims, quota } = dependencies;
  registerIdempotencyHooks(fastify, { claims, errors, keysOf: { quota, readYourWrites } });
  // Add these `onSend` hooks last: the budget counts each text with its final length, which takes memory until it is
  // compressed.
  new ResponseBudget().addHooksThatCountResponseBytes(fastify);
  compressResponses(fastify);
  fastify.addHook('onResponse', (request, reply, done) => {
    observation.recordResponseMetrics(request, reply);
    done();
  });
  addHooks('beforeClose');
  drainConnectionsWhenClosing(fastify, settings.drainMs ?? 0);

  app.useGlobalFilters(errors);
  serveDocs(fastify, { describe: () => describeApi(app, { baseUrl, docs, deprecations }), docs, settings });
  if (settings.webAppFolder !== undefined) serveWebApp(fastify, settings.webAppFolder);
  await app.init();
  routes.requireRouteForEachOperation(Object.keys(ACCESS_BY_OPERATION));
  return app;
}

/** Returns the OpenAPI description of a server at the URL from its routes alone, without engines and providers. */
export async function describeRoutesInOpenApi(
  baseUrl: string,
  features: readonly HttpFeature<never>[],
): Promise<OpenAPIObject> {
  const nothing: unknown = { identity: {}, readModels: {}, settings: { baseUrl } };
  const module = createRootModule(
    nothing as never,
    features,
    createCommonProviders(nothing as never, {} as ServerPartsForFeatures),
  );
  const options = { preview: true, logger: false, abortOnError: false } as const;
  const app = await NestFactory.create(module, new FastifyAdapter(), options);
  return describeApi(app, { baseUrl, docs: combineApiDocs(features), deprecations: DEPRECATED_OPERATIONS });
}

@Module({})
class RootModule {}

/** Providers for all features. */
@Module({})
class CommonModule {}

@Module({ controllers: [HealthController] })
class HealthModule {}

/** Features in the order in which the OpenAPI description lists their operations. */
function createRootModule<Feature extends HttpFeature<never>>(
  dependencies: HttpDependencies & DependenciesOf<Feature>,
  features: readonly Feature[],
  providers: Provider[],
): DynamicModule {
  const common = { module: CommonModule, global: true, providers, exports: providers };
  return {
    module: RootModule,
    imports: [
      common,
      ...features.map((each) => each.createModuleWithDependencies(dependencies as never)),
      HealthModule,
    ],
  };
}

/** Parts of the server that features use. */
interface ServerPartsForFeatures {
  readonly admission: RequestAdmission;
  readonly observation: RequestLogAndMetrics;
  readonly errors: ErrorFilter;
  readonly cookie: SessionCookie;
  readonly sealer: TokenSigner;
  readonly cursors: PageCursorCodec;
  readonly readYourWrites: ReadYourWrites<never>;
}

function createCommonProviders(
  { clock, logger, health, settings }: HttpDependencies,
  parts: ServerPartsForFeatures,
): Provider[] {
  return [
    { provide: CLOCK_INJECTION_TOKEN, useValue: clock },
    { provide: LOGGER_INJECTION_TOKEN, useValue: logger },
    { provide: HEALTH_INJECTION_TOKEN, useValue: health },
    { provide: SETTINGS_INJECTION_TOKEN, useValue: settings },
    { provide: RequestAdmission, useValue: parts.admission },
    { provide: RequestLogAndMetrics, useValue: parts.observation },
    { provide: ErrorFilter, useValue: parts.errors },
    { provide: SessionCookie, useValue: parts.cookie },
    { provide: TokenSigner, useValue: parts.sealer },
    { provide: PageCursorCodec, useValue: parts.cursors },
    { provide: ReadYourWrites, useValue: parts.readYourWrites },
    WriteResponder,
  ];
}
