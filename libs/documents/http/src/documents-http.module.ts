import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { Sealer } from '@tracking/http';
import type { FeatureDocs, FeatureHooks } from '@tracking/http';
import { SHIPMENTS, shipmentReading } from '@tracking/shipments-http';
import { AddDocumentController } from './add-document.controller.ts';
import { ContentController } from './content.controller.ts';
import type { DocumentsHttpDependencies } from './dependencies.ts';
import { ERRORS, FIELDS, REFUSALS } from './docs/codes.ts';
import { RESOURCES, SAMPLES, VALUES } from './docs/samples.ts';
import { DocumentReader } from './document-reader.ts';
import { DocumentStorage } from './document-storage.ts';
import { DocumentController } from './document.controller.ts';
import { DocumentsController } from './documents.controller.ts';
import { DownloadController } from './download.controller.ts';
import { receiveForms } from './receive-forms.ts';
import { UploadThrottle } from './upload-throttle.ts';
import { UploadUrls } from './upload-urls.ts';
import { UploadsController } from './uploads.controller.ts';

/** Documents of shipments, with their bytes. */
@Module({})
export class DocumentsHttpModule {
  static readonly docs: FeatureDocs = {
    errors: ERRORS,
    fields: FIELDS,
    refusals: REFUSALS,
    resources: RESOURCES,
    samples: SAMPLES,
    values: VALUES,
  };

  static readonly hooks: FeatureHooks = {
    afterAdmission: (server, app) => app.get(UploadUrls).guard(server),
    afterBody: (server, app) => receiveForms(server, app.get(SHIPMENTS), app.get(DocumentStorage)),
  };

  static with(dependencies: DocumentsHttpDependencies): DynamicModule {
    const { objects, logger, metrics, clock, quota, settings } = dependencies;
    return {
      module: DocumentsHttpModule,
      controllers: [
        AddDocumentController,
        UploadsController,
        DocumentsController,
        DocumentController,
        DownloadController,
        ContentController,
      ],
      providers: [
        ...shipmentReading(dependencies),
        { provide: DocumentStorage, useFactory: () => new DocumentStorage({ objects, logger, metrics }) },
        {
          provide: UploadUrls,
          inject: [Sealer],
          useFactory: (sealer: Sealer) => new UploadUrls(sealer, clock, settings.baseUrl),
        },
        { provide: UploadThrottle, useFactory: () => new UploadThrottle(quota) },
        DocumentReader,
      ],
    };
  }
}
