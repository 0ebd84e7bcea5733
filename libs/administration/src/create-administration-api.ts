import { Controller, Get } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { AdministrationStatus } from '@tracking/contracts';
import {
  AUDITED_BY,
  AuditTrail,
  createFastifyAdapter,
  ErrorFilter,
  nestLogger,
  readParameters,
  Routes,
} from '@tracking/http';
import { isPasswordsBusy } from '@tracking/identity';
import type { FastifyInstance } from 'fastify';
import { auditedByOperator } from './audited-by-operator.ts';
import { Takes } from './takes.ts';
import { DeadLettersController } from './dead-letters.controller.ts';
import { DeliveriesController } from './deliveries.controller.ts';
import {
  APP_URL,
  EVENT_TRANSFER,
  IDENTITY,
  PUBLISHED_EVENTS,
  READ_MODELS,
  RECHECKS,
  WEBHOOKS,
} from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { EventTransferController } from './event-transfer.controller.ts';
import { KeysController } from './keys.controller.ts';
import { OperatedDeadLetters } from './operated-dead-letters.ts';
import { ReplayOperations } from './operated-replays.ts';
import { ReplaysController } from './replays.controller.ts';
import { OperatedDeliveries } from './operated-deliveries.ts';
import { ParkedController } from './parked.controller.ts';
import { PublishedEventsController } from './published-events.controller.ts';
import { ReadModelsController } from './read-models.controller.ts';
import { OperatedUsersController } from './users.controller.ts';
import { WorkspacesController } from './workspaces.controller.ts';

@Controller('administration')
class StatusController {
  /** Whoever gets an answer has found the service. */
  @Get()
  @Takes()
  status(): AdministrationStatus {
    return { status: 'ready', process_id: process.pid };
  }
}

class AdministrationModule {}

/**
 * The operators' API: what the command line tool asks for. JSON in the public API's field names and error form. It asks
 * for no key and knows no permissions, so it must be served only where nobody but the operator reaches it: see
 * `listenOnSocket`. `app.close()` lets what is in flight finish and touches nothing of `dependencies`.
 */
export async function createAdministrationApi(
  dependencies: AdministrationDependencies,
): Promise<NestFastifyApplication> {
  const { logger, clock = () => new Date() } = dependencies;
  const routes = new Routes();
  const errors = new ErrorFilter({
    logger,
    docsUrl: '',
    refine: (error, request) => routes.refine(error, request),
  });
  const adapter = createFastifyAdapter({ errors, clock, baseUrl: '' });
  const fastify: FastifyInstance = adapter.getInstance();
  routes.watch(fastify);
  fastify.addHook('onRequest', (request, _reply, done) => {
    readParameters(request);
    done();
  });
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
      OperatedUsersController,
      ReadModelsController,
      ParkedController,
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
      ...(dependencies.webhooks ? [OperatedDeliveries, OperatedDeadLetters, ReplayOperations] : []),
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
