import { Inject, Injectable } from '@nestjs/common';
import type { ShipmentRecord, Warning } from '@tracking/contracts';
import type { Logger } from '@tracking/ports';
import type { FastifyRequest } from 'fastify';
import { LOGGER, READ_MODELS } from '../dependencies.ts';
import type { HttpApiDependencies } from '../dependencies.ts';
import { ReadYourWrites } from '../read-your-writes/read-your-writes.ts';
import { requestFields, scopeOf } from '../server/request.ts';

/** How long a write waits for the read model to show the key's write before, in milliseconds. */
const WAIT_MS = 200;

/** Warns when a write leaves another open shipment with the same house bill or container. A courtesy: it never fails a write. */
@Injectable()
export class PossibleDuplicates {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: HttpApiDependencies['readModels'],
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Resolves once the read model shows this key's write before, or soon; begin it beside the command. Never rejects. */
  async prepare(request: FastifyRequest): Promise<void> {
    await this.readYourWrites.shown('shipments', this.readYourWrites.lastOf(request), WAIT_MS).catch(() => false);
  }

  async warnings(request: FastifyRequest, record: ShipmentRecord): Promise<readonly Warning[]> {
    if (record.house_bill === null && record.container_numbers.length === 0) return [];
    try {
      const others = await this.readModels.queries.shipments.possibleDuplicates(scopeOf(request), record);
      return others.flatMap((other) => [
        ...(other.house_bill ? [warning('house_bill', `${other.id} has the same house bill.`)] : []),
        ...other.container_numbers.map((number) =>
          warning('container_numbers', `${other.id} has container ${number} too.`),
        ),
      ]);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.logger.warn({ ...requestFields(request), reason }, 'could not look for possible duplicates');
      return [];
    }
  }
}

function warning(param: string, message: string): Warning {
  return { code: 'possible_duplicate', param, message };
}
