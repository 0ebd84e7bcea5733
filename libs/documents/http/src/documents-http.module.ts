import { type DynamicModule, Module } from '@nestjs/common';
import { type FeatureHooks, TokenSigner } from '@tracking/http';
import { createShipmentReadProviders, SHIPMENTS_INJECTION_TOKEN } from '@tracking/shipments-http';
import type { DocumentsHttpDependencies } from './dependencies.ts';
import { DocumentBytesController } from './document-bytes.controller.ts';
import { DocumentReader } from './document-reader.ts';
import { DocumentStorage } from './document-storage.ts';
import { DocumentController } from './document.controller.ts';
import { DOCUMENTS_DOCS } from './documents-docs.ts';
import { registerDocumentFormReader } from './receive-forms.ts';
import { ShipmentDocumentsController } from './shipment-documents.controller.ts';
import { StorageController } from './storage.controller.ts';
import { UploadRateLimiterPerDocument, UploadUrlIssuer } from './upload-urls.ts';

/** Documents of shipments, with their bytes. */
@Module({})
export class DocumentsHttpModule {
  static readonly docs = DOCUMENTS_DOCS;

  static readonly hooks: FeatureHooks = {
    afterAdmission: (server, app) => app.get(UploadUrlIssuer).addUploadTokenCheck(server),
    afterBody: (server, app) =>
      registerDocumentFormReader(server, app.get(SHIPMENTS_INJECTION_TOKEN), app.get(DocumentStorage)),
  };

  static createModuleWithDependencies(dependencies: DocumentsHttpDependencies): DynamicModule {
    const { objects, logger, metrics, clock, quota, storageQuota, settings } = dependencies;
    return {
      module: DocumentsHttpModule,
      controllers: [ShipmentDocumentsController, DocumentController, DocumentBytesController, StorageController],
      providers: [
        ...createShipmentReadProviders(dependencies),
        {
          provide: DocumentStorage,
          useFactory: () => new DocumentStorage({ objects, quota: storageQuota, logger, metrics }),
        },
        {
          provide: UploadUrlIssuer,
          inject: [TokenSigner],
          useFactory: (sealer: TokenSigner) => new UploadUrlIssuer(sealer, clock, settings.baseUrl),
        },
        { provide: UploadRateLimiterPerDocument, useFactory: () => new UploadRateLimiterPerDocument(quota) },
        DocumentReader,
      ],
    };
  }
}
