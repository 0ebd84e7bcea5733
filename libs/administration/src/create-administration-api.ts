import { Controller, Get, HttpCode, Inject, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { AdministrationApiStatus, LeaseState } from '@tracking/contracts';
import {
  AUDITED_ACTOR_INJECTION_TOKEN,
  AuditTrail,
  createFastifyAdapter,
  ErrorFilter,
  registerIdempotencyHooks,
  createNestLogger,
  readAndValidateQueryParameters,
  RouteRegistry,
} from '@tracking/http';
import { isPasswordQueueFullError } from '@tracking/identity';
import type { FastifyInstance } from 'fastify';
import { DeadLettersController } from './dead-letters.controller.ts';
import { DeliveriesController } from './deliveries.controller.ts';
import {
  APP_URL_INJECTION_TOKEN,
  EVENT_EXPORT_AND_IMPORT_INJECTION_TOKEN,
  IDENTITY_INJECTION_TOKEN,
  LEASES_INJECTION_TOKEN,
  PUBLISHED_EVENTS_INJECTION_TOKEN,
  PARTITIONS_INJECTION_TOKEN,
  READ_MODELS_INJECTION_TOKEN,
  RECHECKS_INJECTION_TOKEN,
  FOLDER_RELEASE_INJECTION_TOKEN,
  WEBHOOKS_INJECTION_TOKEN,
} from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { EventTransferController, PublishedEventsController } from './events.controller.ts';
import { KeysController } from './keys.controller.ts';
import { ReplaysController } from './replays.controller.ts';
import { OperatorPrincipalFactory, createOperatorAuditActor } from './operator.ts';
import { ParkedController } from './parked.controller.ts';
import { SubscriberPartitionCountsController } from './partitions.controller.ts';
import { ReadModelsController } from './read-models.controller.ts';
import { DeclareQueryAndBodyLimit, wrapInListResponse } from './routes.ts';
import type { ListResponse } from './routes.ts';
import { UsersController } from './users.controller.ts';
import { WorkspacesController } from './workspaces.controller.ts';

@Controller('administration')
class StatusController {
  /** Returns the status of the service. Any response shows that the service runs. */
  @Get()
  @DeclareQueryAndBodyLimit()
  getStatus(): AdministrationApiStatus {
    return { status: 'ready', process_id: process.pid };
  }
}

@Controller('administration/release')
class ProcessShutdownController {
  constructor(@Inject(FOLDER_RELEASE_INJECTION_TOKEN) private readonly endProcess: () => void) {}

  /** Ends this process after its requests in progress, so that a server can use the data folder. */
  @Post()
  @DeclareQueryAndBodyLimit()
  @HttpCode(204)
  endThisProcessToReleaseFolder(): void {
    this.endProcess();
  }
}

@Controller('administration/leases')
class LeasesController {
  constructor(
    @Inject(LEASES_INJECTION_TOKEN) private readonly leases: NonNullable<AdministrationDependencies['leases']>,
  ) {}

  /** Lists the held leases of all processes, with their holders. */
  @Get()
  @DeclareQueryAndBodyLimit()
  async listLeases(): Promise<ListResponse<LeaseState>> {
    return wrapInListResponse(await this.leases.listHeldLeases());
  }
}

class AdministrationModule {}

/**
 * Creates the operators' API for the command line tool: JSON with the field names and error format of the public API.
 * It needs no key and checks no permissions, so serve it only where the operator alone can reach it: see
 * `serveOnAdministrationSocket`. A POST that is repeated with its `Idempotency-Key` gets the first response.
 * `app.close()` lets open requests finish and closes none of the `dependencies`.
 */
export async function createAdministrationHttpApi(
  dependencies: AdministrationDependencies,
): Promise<NestFastifyApplication> {
  const { logger, idempotency: claims, clock = () => new Date() } = dependencies;
  const routes = new RouteRegistry();
  const errors = new ErrorFilter({
    logger,
    docsUrl: '',
    refine: (error, request) => routes.toMethodNotAllowedIfKnown(error, request),
  });
  const adapter = createFastifyAdapter({ errors, clock, baseUrl: '' });
  const fastify: FastifyInstance = adapter.getInstance();
  routes.recordRoutes(fastify);
  fastify.addHook('onRequest', (request, _reply, done) => {
    readAndValidateQueryParameters(request);
    done();
  });
  registerIdempotencyHooks(fastify, { claims, errors, keysOf: { owner: 'operators' } });
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
      ...(dependencies.leases ? [LeasesController] : []),
      ...(dependencies.partitions ? [SubscriberPartitionCountsController] : []),
      ...(dependencies.release ? [ProcessShutdownController] : []),
      ...(dependencies.events ? [EventTransferController] : []),
      ...(dependencies.publishedEvents ? [PublishedEventsController] : []),
      ...(dependencies.webhooks ? [DeliveriesController, DeadLettersController, ReplaysController] : []),
    ],
    providers: [
      { provide: IDENTITY_INJECTION_TOKEN, useValue: dependencies.identity },
      {
        provide: AuditTrail,
        useValue: new AuditTrail(dependencies.identity.auditLog, logger, isPasswordQueueFullError),
      },
      { provide: AUDITED_ACTOR_INJECTION_TOKEN, useValue: createOperatorAuditActor(dependencies.identity) },
      { provide: APP_URL_INJECTION_TOKEN, useValue: dependencies.appUrl },
      { provide: LEASES_INJECTION_TOKEN, useValue: dependencies.leases },
      { provide: PARTITIONS_INJECTION_TOKEN, useValue: dependencies.partitions },
      { provide: READ_MODELS_INJECTION_TOKEN, useValue: dependencies.readModels },
      { provide: EVENT_EXPORT_AND_IMPORT_INJECTION_TOKEN, useValue: dependencies.events },
      { provide: RECHECKS_INJECTION_TOKEN, useValue: dependencies.workspaceSettings?.rechecks },
      { provide: PUBLISHED_EVENTS_INJECTION_TOKEN, useValue: dependencies.publishedEvents },
      { provide: WEBHOOKS_INJECTION_TOKEN, useValue: dependencies.webhooks },
      { provide: FOLDER_RELEASE_INJECTION_TOKEN, useValue: dependencies.release },
      OperatorPrincipalFactory,
    ],
  };
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    logger: createNestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  app.useGlobalFilters(errors);
  await app.init();
  return app;
}
