import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { Clock } from '@tracking/ports';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorFilter } from '../errors/error-filter.ts';
import { notFound } from '../errors/request-error.ts';
import { giveCommandIdentity } from './command-identity.ts';
import { JSON_KIND, JSON_LIMIT, MERGE_PATCH_KIND } from './json-body.ts';
import { refuseUnclear } from './refuse-unclear.ts';
import { LONGEST_BODY_MS, boundBodyTimes } from './body-times.ts';
import { endConnectionsWhenClosing } from './closing.ts';
import { FILE_KIND, FORM_KIND } from './streamed-bodies.ts';
import { newRequestId, traceparentOf } from './request.ts';
import { responseHeaders } from './response-headers.ts';
import { hasBody, readRouteBodies } from './route-bodies.ts';
import { BareAnswers } from './unreadable.ts';

export interface AdapterOptions {
  readonly errors: ErrorFilter;
  readonly clock: Clock;
  /** Where clients reach it; empty for a socket. */
  readonly baseUrl: string;
  readonly trustedProxies?: readonly string[];
}

/** Fastify as this API wants it: bodies as routes declare them, its own request ids, and no answer in any other error form. */
export function createFastifyAdapter(options: AdapterOptions): FastifyAdapter {
  const { errors, clock, trustedProxies = [] } = options;
  const headers = responseHeaders(options.baseUrl);
  const bare = new BareAnswers(headers.api);
  const adapter = new FastifyAdapter({
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    bodyLimit: JSON_LIMIT,
    // Of what comes so slowly that not even a route is known, Node ends the wait after its own minute for headers.
    requestTimeout: LONGEST_BODY_MS,
    requestIdHeader: false,
    genReqId: newRequestId,
    return503OnClosing: false,
    // A path that Fastify cannot even read: no hook has run.
    frameworkErrors: (_error: unknown, request: FastifyRequest, reply: FastifyReply) => {
      reply.headers(headers.api).header('Request-Id', request.id);
      errors.answer(notFound('path'), request, reply);
    },
    clientErrorHandler: (error, socket) => bare.unreadable(error, socket),
    // Node would answer in a form of its own, see `refuseUnclear`; what asks to upgrade is answered as it would be without.
    http: { requireHostHeader: false, shouldUpgradeCallback: () => false },
    // No Nest middleware is used; its dispatcher would run for every request.
    skipMiddie: true,
    // Nor is any of Fastify's schemas: only to load its compilers takes a tenth of a start.
    schemaController: { compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas } },
  });
  const fastify: FastifyInstance = adapter.getInstance();
  fastify.decorateRequest('principal', null);
  fastify.decorateRequest('traceparent', '');
  fastify.decorateRequest('about', null);
  fastify.decorateRequest('begun', false);
  fastify.decorateRequest('audited', null);
  fastify.decorateRequest('commandIdentity', null);
  fastify.decorateRequest('expectedVersions', null);
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers[request.routeOptions.config.answers ?? 'api']).header('Request-Id', request.id);
    request.traceparent = traceparentOf(request);
    forgetTypeOfNothing(request);
    refuseUnclear(request);
    done();
  });
  fastify.addHook('preHandler', (request, _reply, done) => {
    request.begun = true;
    giveCommandIdentity(request, clock);
    done();
  });
  readRouteBodies(fastify, [JSON_KIND, MERGE_PATCH_KIND, FORM_KIND, FILE_KIND]);
  boundBodyTimes(fastify, (socket) => bare.late(socket));
  endConnectionsWhenClosing(fastify);
  // Without a listener Node answers the one with a bare status, and the other not at all.
  fastify.server.on('checkExpectation', (request, response) => fastify.routing(request, response));
  fastify.server.on('connect', (_request, socket) => bare.connect(socket));
  return adapter;
}

function refuseSchemas(): never {
  throw new Error('bodies are checked as their DTOs say');
}

/** What a client calls a body that it does not send is no reason to refuse: many send the header always. */
function forgetTypeOfNothing({ headers }: FastifyRequest): void {
  if (!hasBody(headers)) delete headers['content-type'];
}
