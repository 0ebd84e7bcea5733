import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { AUDITED_BY, auditedByClient } from './audit/audited.ts';
import { AuditLogController } from './audit/audit-log.controller.ts';
import { SessionCookie } from './authentication/session-cookie.ts';
import { SessionController } from './identity/session.controller.ts';
import { SessionsController } from './identity/sessions.controller.ts';
import { SignInThrottle } from './identity/sign-in-throttle.ts';
import { AuditTrail } from './audit/audit-trail.ts';
import { BulkAnswers } from './bulk/bulk-answers.ts';
import { BulkMilestonesController } from './bulk/bulk-milestones.controller.ts';
import { BulkShipmentsController } from './bulk/bulk-shipments.controller.ts';
import { ShipmentFinder } from './bulk/shipment-finder.ts';
import * as tokens from './dependencies.ts';
import type { HttpApiDependencies } from './dependencies.ts';
import { AddDocumentController } from './documents/add-document.controller.ts';
import { ContentController } from './documents/content.controller.ts';
import { DocumentReader } from './documents/document-reader.ts';
import { DocumentStorage } from './documents/document-storage.ts';
import { DocumentWrites } from './documents/document-writes.ts';
import { DocumentController } from './documents/document.controller.ts';
import { DocumentsController } from './documents/documents.controller.ts';
import { DownloadController } from './documents/download.controller.ts';
import { UploadThrottle } from './documents/upload-throttle.ts';
import { UploadUrls } from './documents/upload-urls.ts';
import { UploadsController } from './documents/uploads.controller.ts';
import { ErrorFilter } from './errors/error-filter.ts';
import { EventsController } from './events/events.controller.ts';
import { EventStreams } from './events/stream/event-streams.ts';
import { Following } from './events/stream/following.ts';
import { EventsStreamController } from './events/stream/events-stream.controller.ts';
import { ExceptionListsController } from './exceptions/exception-lists.controller.ts';
import { ExceptionWrites } from './exceptions/exception-writes.ts';
import { ExceptionController } from './exceptions/exception.controller.ts';
import { OpenExceptionController } from './exceptions/open-exception.controller.ts';
import { HealthController } from './health/health.controller.ts';
import { ApiKeysController } from './identity/api-keys.controller.ts';
import { IdentityWrites } from './identity/identity-writes.ts';
import { ServiceAccountsController } from './identity/service-accounts.controller.ts';
import { InvitationsController } from './identity/invitations.controller.ts';
import { UsersController } from './identity/users.controller.ts';
import { MilestoneCodesController } from './milestones/milestone-codes.controller.ts';
import { MilestoneWrites } from './milestones/milestone-writes.ts';
import { MilestoneController } from './milestones/milestone.controller.ts';
import { MilestonesController } from './milestones/milestones.controller.ts';
import { Cursors } from './paging/cursors.ts';
import { ReadYourWrites } from './read-your-writes/read-your-writes.ts';
import { Admission } from './server/admission.ts';
import { Observation } from './server/observation.ts';
import { Sealer } from './server/seal.ts';
import { ActorNames } from './shipments/actor-names.ts';
import { CancellationController } from './shipments/cancellation.controller.ts';
import { ShipmentChangesController } from './shipments/changes.controller.ts';
import { HistoryController } from './shipments/history.controller.ts';
import { PossibleDuplicates } from './shipments/possible-duplicates.ts';
import { PlacesController } from './places/places.controller.ts';
import { ShipmentReader } from './shipments/shipment-reader.ts';
import { ShipmentWrites } from './shipments/shipment-writes.ts';
import { ShipmentsController } from './shipments/shipments.controller.ts';
import { EndpointSecretsController } from './webhooks/endpoint-secrets.controller.ts';
import { WebhookDeliveriesController } from './webhooks/webhook-deliveries.controller.ts';
import { WebhookDeadLettersController } from './webhooks/webhook-dead-letters.controller.ts';
import { WebhookReplaysController } from './webhooks/webhook-replays.controller.ts';
import { WebhookEndpointsController } from './webhooks/webhook-endpoints.controller.ts';
import { WebhookWrites } from './webhooks/webhook-writes.ts';
import { RequiredDocumentsController } from './workspace-settings/required-documents.controller.ts';
import { SettingsController } from './workspace-settings/settings.controller.ts';

/** What routes share with the hooks before them. */
export interface HttpApiParts {
  readonly admission: Admission;
  readonly observation: Observation;
  readonly following: Following;
  readonly streams: EventStreams;
  readonly errors: ErrorFilter;
  readonly sealer: Sealer;
  readonly readYourWrites: ReadYourWrites;
  readonly storage: DocumentStorage;
  readonly uploads: UploadUrls;
}

/** The routes of the public API. Every provider is a singleton; what belongs to a request is on the request. */
@Module({})
export class HttpApiModule {
  static with(dependencies: HttpApiDependencies, parts: HttpApiParts): DynamicModule {
    const { readModels, settings } = dependencies;
    return {
      module: HttpApiModule,
      controllers: [
        BulkShipmentsController,
        BulkMilestonesController,
        ShipmentsController,
        ShipmentChangesController,
        CancellationController,
        HistoryController,
        MilestonesController,
        MilestoneController,
        MilestoneCodesController,
        ExceptionListsController,
        OpenExceptionController,
        ExceptionController,
        AddDocumentController,
        UploadsController,
        DocumentsController,
        DocumentController,
        DownloadController,
        ContentController,
        EventsStreamController,
        PlacesController,
        EventsController,
        WebhookEndpointsController,
        EndpointSecretsController,
        WebhookDeliveriesController,
        WebhookDeadLettersController,
        WebhookReplaysController,
        ServiceAccountsController,
        ApiKeysController,
        UsersController,
        InvitationsController,
        SessionController,
        SessionsController,
        AuditLogController,
        SettingsController,
        RequiredDocumentsController,
        HealthController,
      ],
      providers: [
        { provide: tokens.IDENTITY, useValue: dependencies.identity },
        { provide: AuditTrail, useValue: new AuditTrail(dependencies.identity.auditLog, dependencies.logger) },
        { provide: AUDITED_BY, useValue: auditedByClient(dependencies.identity) },
        { provide: SessionCookie, useValue: new SessionCookie(settings.baseUrl) },
        { provide: SignInThrottle, useValue: new SignInThrottle(dependencies.quota) },
        { provide: tokens.SHIPMENTS, useValue: dependencies.shipments },
        { provide: tokens.READ_MODELS, useValue: readModels },
        { provide: tokens.WEBHOOKS, useValue: dependencies.webhooks },
        { provide: tokens.WORKSPACE_SETTINGS, useValue: dependencies.workspaceSettings },
        { provide: tokens.EVENTS, useValue: dependencies.events },
        { provide: tokens.HEAD, useValue: dependencies.head },
        { provide: tokens.PLACES, useValue: dependencies.places },
        { provide: tokens.CLOCK, useValue: dependencies.clock },
        { provide: tokens.LOGGER, useValue: dependencies.logger },
        { provide: tokens.HEALTH, useValue: dependencies.health },
        { provide: tokens.SETTINGS, useValue: settings },
        { provide: Admission, useValue: parts.admission },
        { provide: Observation, useValue: parts.observation },
        { provide: Following, useValue: parts.following },
        { provide: EventStreams, useValue: parts.streams },
        { provide: ReadYourWrites, useValue: parts.readYourWrites },
        { provide: Cursors, useValue: new Cursors(parts.sealer) },
        { provide: ErrorFilter, useValue: parts.errors },
        { provide: DocumentStorage, useValue: parts.storage },
        { provide: UploadUrls, useValue: parts.uploads },
        { provide: UploadThrottle, useValue: new UploadThrottle(dependencies.quota) },
        ShipmentReader,
        ActorNames,
        ShipmentFinder,
        BulkAnswers,
        ShipmentWrites,
        MilestoneWrites,
        ExceptionWrites,
        DocumentReader,
        DocumentWrites,
        PossibleDuplicates,
        WebhookWrites,
        IdentityWrites,
      ],
    };
  }
}
