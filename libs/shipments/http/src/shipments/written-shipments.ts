import { Inject, Injectable } from '@nestjs/common';
import type { Shipment, ShipmentRecord, Warning } from '@tracking/contracts';
import { LOGGER_INJECTION_TOKEN, ReadYourWrites, createRequestLogFields, getRequestScope } from '@tracking/http';
import type { WrittenResource } from '@tracking/http';
import type { Logger, Position } from '@tracking/ports';
import type { ReadModelName, PossibleDuplicate } from '@tracking/read-models';
import type { AnswerWithPosition } from '@tracking/shipments';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { READ_MODELS_INJECTION_TOKEN } from '../dependencies.ts';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { ShipmentReader } from './shipment-reader.ts';

type WrittenShipment = AnswerWithPosition<{ readonly shipment: ShipmentRecord; readonly warnings: readonly Warning[] }>;

/** Number of references whose last writer this process remembers. It is far more than the read model can lag behind. */
const MAX_REMEMBERED_REFERENCES = 10_000;
/** Maximum number of container numbers that one warning lists. */
const MAX_NAMED_CONTAINERS = 3;

/**
 * Warns if another open shipment has the same house bill or container as the written shipment. A failed search causes
 * no warning and never fails the write.
 */
@Injectable()
export class DuplicateShipmentFinder {
  /** Id of the shipment that was last written with a reference, by reference. */
  private readonly lastWritten = new LRUCache<string, string>({ max: MAX_REMEMBERED_REFERENCES });

  constructor(
    @Inject(READ_MODELS_INJECTION_TOKEN) private readonly readModels: ShipmentsHttpDependencies['readModels'],
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites<ReadModelName>,
    @Inject(LOGGER_INJECTION_TOKEN) private readonly logger: Logger,
  ) {}

  /** Returns warnings for a write at the given position. Waits for the read model only if there may be a warning. */
  async findDuplicateWarningsAfterWrite(
    request: FastifyRequest,
    record: ShipmentRecord,
    position: Position,
  ): Promise<readonly Warning[]> {
    if (
      !this.rememberReferencesAndDetectDuplicates(request, record) &&
      (await this.findWarningsOfDuplicateShipments(request, record)).length === 0
    )
      return [];
    await this.readYourWrites.waitForModelBriefly('shipments', position);
    return this.findWarningsOfDuplicateShipments(request, record);
  }

  /**
   * Remembers the references of a written shipment. Call it before responding.
   * @returns true if another shipment was recently written with one of the references, which the read model may not
   * contain yet
   */
  rememberReferencesAndDetectDuplicates(
    request: FastifyRequest,
    { id, house_bill, container_numbers }: ShipmentRecord,
  ): boolean {
    const { workspace_id, environment } = getRequestScope(request);
    let isShared = false;
    const add = (kind: string, reference: string) => {
      const key = `${workspace_id}/${environment}/${kind}/${reference}`;
      const last = this.lastWritten.get(key);
      if (last === id) return;
      isShared ||= last !== undefined;
      this.lastWritten.set(key, id);
    };
    if (house_bill !== null) add('house_bill', house_bill);
    for (const number of container_numbers) add('container_number', number);
    return isShared;
  }

  /** Returns the warnings that the read model yields at present. */
  async findWarningsOfDuplicateShipments(request: FastifyRequest, record: ShipmentRecord): Promise<readonly Warning[]> {
    if (record.house_bill === null && record.container_numbers.length === 0) return [];
    try {
      const others = await this.readModels.queries.shipments.findPossibleDuplicates(getRequestScope(request), record);
      return others.flatMap((other) => [
        ...(other.house_bill
          ? [createPossibleDuplicateWarning('house_bill', `${other.id} has the same house bill.`)]
          : []),
        ...warnOfSharedContainers(other),
      ]);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.logger.warn(
        { ...createRequestLogFields(request), reason },
        'the search for possible duplicates of a shipment failed',
      );
      return [];
    }
  }
}

/**
 * There is at most one warning about containers, because five other shipments with 200 containers each would cause a
 * thousand.
 */
function warnOfSharedContainers({ id, container_numbers }: PossibleDuplicate): readonly Warning[] {
  const more = container_numbers.length - MAX_NAMED_CONTAINERS;
  const named = container_numbers.slice(0, MAX_NAMED_CONTAINERS).join(', ') + (more > 0 ? ` and ${more} more` : '');
  const noun = container_numbers.length === 1 ? 'container' : 'containers';
  return named === '' ? [] : [createPossibleDuplicateWarning('container_numbers', `${id} has ${noun} ${named} too.`)];
}

function createPossibleDuplicateWarning(param: string, message: string): Warning {
  return { code: 'possible_duplicate', param, message };
}

/** Creates responses to writes of shipments. */
@Injectable()
export class ShipmentWriteResponder {
  constructor(
    @Inject(ShipmentReader) private readonly reader: ShipmentReader,
    @Inject(DuplicateShipmentFinder) private readonly duplicates: DuplicateShipmentFinder,
  ) {}

  toWrittenResource({ answer: { shipment, warnings }, position }: WrittenShipment): WrittenResource<Shipment> {
    const about = { shipment_id: shipment.id };
    return {
      body: this.reader.convertToShipmentResource(shipment),
      position,
      version: shipment.version,
      warnings,
      about,
    };
  }

  /** Returns the response to a write that leaves the shipment open, with warnings of possible duplicates. */
  async respondWithDuplicateWarnings(
    request: FastifyRequest,
    written: WrittenShipment,
  ): Promise<WrittenResource<Shipment>> {
    const { answer, position } = written;
    const duplicates = await this.duplicates.findDuplicateWarningsAfterWrite(request, answer.shipment, position);
    return { ...this.toWrittenResource(written), warnings: [...answer.warnings, ...duplicates] };
  }

  /**
   * Returns the response to an item of a bulk request. `lateWarnings` finds possible duplicates after all items are
   * written.
   */
  createBulkItemResponse(
    request: FastifyRequest,
    { answer: { shipment, warnings }, position }: WrittenShipment,
    ignored: readonly Warning[],
  ) {
    this.duplicates.rememberReferencesAndDetectDuplicates(request, shipment);
    return {
      resource: this.reader.convertToShipmentResource(shipment),
      warnings: [...ignored, ...warnings],
      position,
      lateWarnings: () => this.duplicates.findWarningsOfDuplicateShipments(request, shipment),
    };
  }
}
