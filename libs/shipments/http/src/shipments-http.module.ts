import { Module } from '@nestjs/common';
import type { DynamicModule, Provider } from '@nestjs/common';
import type { FeatureDocs } from '@tracking/http';
import { BulkAnswers } from './bulk/bulk-answers.ts';
import { BulkMilestonesController } from './bulk/bulk-milestones.controller.ts';
import { BulkShipmentsController } from './bulk/bulk-shipments.controller.ts';
import { ShipmentFinder } from './bulk/shipment-finder.ts';
import { IDENTITY, PLACES, READ_MODELS, SHIPMENTS } from './dependencies.ts';
import type { ShipmentsHttpDependencies } from './dependencies.ts';
import { ERRORS, FIELDS, REFUSALS, WARNINGS } from './docs/codes.ts';
import { PATH_PARAMETERS, RESOURCES, SAMPLES, VALUES } from './docs/samples.ts';
import { ExceptionListsController } from './exceptions/exception-lists.controller.ts';
import { ExceptionController } from './exceptions/exception.controller.ts';
import { OpenExceptionController } from './exceptions/open-exception.controller.ts';
import { MilestoneCodesController } from './milestones/milestone-codes.controller.ts';
import { MilestoneController } from './milestones/milestone.controller.ts';
import { MilestonesController } from './milestones/milestones.controller.ts';
import { ActorNames } from './shipments/actor-names.ts';
import { CancellationController } from './shipments/cancellation.controller.ts';
import { ShipmentChangesController } from './shipments/changes.controller.ts';
import { HistoryController } from './shipments/history.controller.ts';
import { PossibleDuplicates } from './shipments/possible-duplicates.ts';
import { ShipmentReader } from './shipments/shipment-reader.ts';
import { WrittenShipments } from './shipments/written-shipments.ts';
import { ShipmentsController } from './shipments/shipments.controller.ts';

/** Shipments with their milestones and exceptions. */
@Module({})
export class ShipmentsHttpModule {
  static readonly docs: FeatureDocs = {
    errors: ERRORS,
    fields: FIELDS,
    warnings: WARNINGS,
    refusals: REFUSALS,
    resources: RESOURCES,
    pathParameters: PATH_PARAMETERS,
    samples: SAMPLES,
    values: VALUES,
  };

  static with(dependencies: ShipmentsHttpDependencies): DynamicModule {
    return {
      module: ShipmentsHttpModule,
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
      ],
      providers: [
        { provide: IDENTITY, useValue: dependencies.identity },
        { provide: PLACES, useValue: dependencies.places },
        ...shipmentReading(dependencies),
        ActorNames,
        ShipmentFinder,
        BulkAnswers,
        WrittenShipments,
        PossibleDuplicates,
      ],
    };
  }
}

/** Providers that read shipments, also for features that keep parts of them. */
export function shipmentReading({
  shipments,
  readModels,
}: Pick<ShipmentsHttpDependencies, 'shipments' | 'readModels'>): readonly Provider[] {
  return [{ provide: SHIPMENTS, useValue: shipments }, { provide: READ_MODELS, useValue: readModels }, ShipmentReader];
}
