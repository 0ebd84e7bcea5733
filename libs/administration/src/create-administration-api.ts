import { Controller, Get, HttpCode, Inject, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { AdministrationStatus } from '@tracking/contracts';
import {
  AUDITED_BY,
  AuditTrail,
  createFastifyAdapter,
  ErrorFilter,
  makeRetriesSafe,
  nestLogger,
  readParameters,
  RouteRegistry,
} from '@tracking/http';
import { isPasswordsBusy } from '@tracking/identity';
import type { FastifyInstance } from 'fastify';
import { DeadLettersController } from './dead-letters.controller.ts';
import { DeliveriesController } from './deliveries.controller.ts';
import {
  APP_URL,
  EVENT_TRANSFER,
  IDENTITY,
  PUBLISHED_EVENTS,
  READ_MODELS,
  RECHECKS,
  RELEASE,
  WEBHOOKS,
} from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { EventTransferController, PublishedEventsController } from './events.controller.ts';
import { KeysController } from './keys.controller.ts';
import { ReplaysController } from './replays.controller.ts';
import { Operators, auditedByOperator } from './operator.ts';
import { ParkedController } from './parked.controller.ts';
import { ReadModelsController } from './read-models.controller.ts';
import { AcceptsInput } from './routes.ts';
import { UsersController } from './users.controller.ts';
import { WorkspacesController } from './workspaces.controller.ts';

@Controller('administration')
class StatusController {
  /** Returns the status of the service. Any response shows that the service runs. */
  @Get()
  @AcceptsInput()
  status(): AdministrationStatus {
    return { status: 'ready', process_id: process.pid };
  }
}

@Controller('administration/release')
class ReleaseController {
  constructor(@Inject(RELEASE) private readonly endProcess: () => void) {}

  /** Ends this process after its requests in progress, so that a server can use the data folder. */
  @Post()
  @AcceptsInput()
  @HttpCode(204)
  release(): void {
    this.endProcess();
  }
}

class AdministrationModule {}

/**
 * Creates the operators' API for the command line tool: JSON with the field names and error format of the public API.
 * It needs no key and checks no permissions, so serve it only where the operator alone can reach it: see
 * `listenOnSocket`. A POST that is repeated with its `Idempotency-Key` gets the first response. `app.close()` lets open
 * requests finish and closes none of the `dependencies`.
 */
export async function createAdministrationApi(
  dependencies: AdministrationDependencies,
): Promise<NestFastifyApplication> {
  const { logger, idempotency: claims, clock = () => new Date() } = dependencies;
  const routes = new RouteRegistry();
  const errors = new ErrorFilter({
    logger,
    docsUrl: '',
    refine: (error, request) => routes.refineNotFound(error, request),
  });
  const adapter = createFastifyAdapter({ errors, clock, baseUrl: '' });
  const fastify: FastifyInstance = adapter.getInstance();
  routes.watch(fastify);
  fastify.addHook('onRequest', (request, _reply, done) => {
    readParameters(request);
    done();
  });
  makeRetriesSafe(fastify, { claims, errors, keysOf: { owner: 'operators' } });
  fastify.addHook('onResponse', (request, reply, done) => {
    const { method, url: route } = request.routeOptions;
    logger.info({ request_id: request.id, method, route, status: reply.statusCode }, 'administration request');
    done();
  });
  const module = {
    module: AdministrationModule,
    controllers: [
      StatusController,
      WorkspacesController,
      KeysController,
      UsersController,
      ReadModelsController,
      ParkedController,
      ...(dependencies.release ? [ReleaseController] : []),
      ...(dependencies.events ? [EventTransferController] : []),
      ...(dependencies.publishedEvents ? [PublishedEventsController] : []),
      ...(dependencies.webhooks ? [DeliveriesController, DeadLettersController, ReplaysController] : []),
    ],
    providers: [
      { provide: IDENTITY, useValue: dependencies.identity },
      { provide: AuditTrail, useValue: new AuditTrail(dependencies.identity.auditLog, logger, isPasswordsBusy) },
      { provide: AUDITED_BY, useValue: auditedByOperator(dependencies.identity) },
      { provide: APP_URL, useValue: dependencies.appUrl },
      { provide: READ_MODELS, useValue: dependencies.readModels },
      { provide: EVENT_TRANSFER, useValue: dependencies.events },
      { provide: RECHECKS, useValue: dependencies.workspaceSettings?.rechecks },
      { provide: PUBLISHED_EVENTS, useValue: dependencies.publishedEvents },
      { provide: WEBHOOKS, useValue: dependencies.webhooks },
      { provide: RELEASE, useValue: dependencies.release },
      Operators,
    ],
  };
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    logger: nestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  app.useGlobalFilters(errors);
  await app.init();
  return app;
}
