import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { CrossSiteRequests } from './authentication/cross-site-requests.ts';
import { KeyAuthenticator } from './authentication/key-authenticator.ts';
import { SessionAuthenticator } from './authentication/session-authenticator.ts';
import { SessionCookie } from './authentication/session-cookie.ts';
import type { HttpApiDependencies } from './dependencies.ts';
import { describeApi } from './docs/openapi.ts';
import { serveDocs } from './docs/serve-docs.ts';
import { DocumentStorage } from './documents/document-storage.ts';
import { receiveForms } from './documents/receive-forms.ts';
import { UploadUrls } from './documents/upload-urls.ts';
import { ErrorFilter } from './errors/error-filter.ts';
import { openEventStreams } from './events/stream/open-event-streams.ts';
import { HttpApiModule } from './http-api.module.ts';
import { makeRetriesSafe } from './idempotency/safe-retries.ts';
import { DEPRECATIONS, announceDeprecations } from './operations/deprecations.ts';
import { OPERATIONS } from './operations/operations.ts';
import { readPreconditions, unlessNotModified } from './preconditions/preconditions.ts';
import { ReadYourWrites } from './read-your-writes/read-your-writes.ts';
import { Admission } from './server/admission.ts';
import { createFastifyAdapter } from './server/fastify-adapter.ts';
import { AnswersUnderWay } from './server/answers-under-way.ts';
import { boundLargeBodies } from './server/large-bodies.ts';
import { nestLogger } from './server/nest-logger.ts';
import { Observation } from './server/observation.ts';
import { during } from './server/request.ts';
import { Sealer } from './server/seal.ts';
import { Routes } from './server/routes.ts';
import { readParameters } from './validation/parameters.ts';
import { serveWebApp } from './web-app/serve-web-app.ts';

/**
 * The public API as an application that does not listen yet: `await app.listen(port, host)`. `app.close()` stops
 * accepting, lets what is in flight finish, and touches nothing of `dependencies`: whoever opened them closes them after.
 */
export async function createHttpApi(
  dependencies: HttpApiDependencies,
  deprecations = DEPRECATIONS,
): Promise<NestFastifyApplication> {
  const { logger, metrics, clock, settings } = dependencies;
  const { trustedProxies, baseUrl } = settings;
  const routes = new Routes();
  const errors = new ErrorFilter({
    logger,
    docsUrl: `${baseUrl}/docs`,
    refine: (error, request) => routes.refine(error, request),
  });
  const adapter = createFastifyAdapter({ errors, clock, trustedProxies, baseUrl });
  const fastify: FastifyInstance = adapter.getInstance();
  routes.watch(fastify);
  announceDeprecations(fastify, deprecations);

  const cookie = new SessionCookie(baseUrl);
  const authenticators = [
    new KeyAuthenticator(dependencies.authenticateKey),
    new SessionAuthenticator((...session) => dependencies.identity.authenticateSession(...session), cookie),
  ];
  const crossSiteRequests = new CrossSiteRequests(cookie, [baseUrl, settings.appUrl]);
  fastify.addHook('onRequest', (request, _reply, done) => {
    crossSiteRequests.refuse(request);
    done();
  });
  const admission = new Admission(authenticators, dependencies.quota, settings.rateLimitPerMinute);
  fastify.addHook('onRequest', (request, reply) => admission.admit(request, reply));
  const storage = new DocumentStorage(dependencies);
  const sealer = new Sealer(settings.cursorSecret);
  const readYourWrites = new ReadYourWrites(sealer, dependencies.readModels, {
    listMs: settings.readYourWritesWaitMs ?? 5_000,
    answerMs: settings.answerWaitMs ?? 0,
    duplicatesMs: settings.duplicatesWaitMs ?? 200,
  });
  const uploads = new UploadUrls(sealer, clock, baseUrl);
  uploads.guard(fastify);
  boundLargeBodies(fastify);
  fastify.addHook('onRequest', (request, _reply, done) => {
    readParameters(request);
    readPreconditions(request);
    done();
  });
  fastify.addHook('onSend', (request, reply, payload, done) => done(null, unlessNotModified(request, reply, payload)));
  // After the body was read: what reads it runs in no request's context.
  fastify.addHook('preValidation', (request, _reply, done) => during(request, done));
  receiveForms(fastify, dependencies.shipments, storage);
  makeRetriesSafe(fastify, { claims: dependencies.idempotency, quota: dependencies.quota, errors, readYourWrites });
  // Last of these hooks: it counts what is sent.
  new AnswersUnderWay().watch(fastify);
  const observation = new Observation(logger, metrics);
  fastify.addHook('onResponse', (request, reply, done) => {
    observation.answered(request, reply);
    done();
  });

  const streaming = openEventStreams(dependencies);
  fastify.addHook('preClose', (done) => {
    streaming.close();
    done();
  });

  const module = HttpApiModule.with(dependencies, {
    admission,
    observation,
    errors,
    sealer,
    readYourWrites,
    storage,
    uploads,
    ...streaming,
  });
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    logger: nestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  app.useGlobalFilters(errors);
  serveDocs(fastify, () => describeApi(app, baseUrl, deprecations), settings);
  if (settings.webAppFolder !== undefined) serveWebApp(fastify, settings.webAppFolder);
  await app.init();
  routes.requireAll(Object.keys(OPERATIONS));
  return app;
}
