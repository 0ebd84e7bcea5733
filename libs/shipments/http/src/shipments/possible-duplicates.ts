import { Inject, Injectable } from '@nestjs/common';
import type { ShipmentRecord, Warning } from '@tracking/contracts';
import { LOGGER, ReadYourWrites, requestFields, scopeOf } from '@tracking/http';
import type { Logger, Position } from '@tracking/ports';
import type { PossibleDuplicate } from '@tracking/read-models';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { READ_MODELS } from '../dependencies.ts';

/** References of which this process remembers who was written with them last: many more than the read model is ever behind. */
const MAX_REMEMBERED = 10_000;
/** Containers that a warning names. */
const MAX_NAMED = 3;

/** Warns when a write leaves another open shipment with the same house bill or container. A courtesy: it never fails a write. */
@Injectable()
export class PossibleDuplicates {
  /** The shipment that was written last with a reference. */
  private readonly lastWritten = new LRUCache<string, string>({ max: MAX_REMEMBERED });

  constructor(
    @Inject(READ_MODELS) private readonly readModels: ShipmentsHttpDependencies['readModels'],
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Remembers a write, before it is answered.
   * @returns whether another shipment was written with one of its references not long ago: the read model may not show it yet
   */
  remember(request: FastifyRequest, { id, house_bill, container_numbers }: ShipmentRecord): boolean {
    const { workspace_id, environment } = scopeOf(request);
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

  /** The warnings of a write at this position. Only where there may be some does it wait for the read model to show it. */
  async warningsOfWrite(
    request: FastifyRequest,
    record: ShipmentRecord,
    position: Position,
  ): Promise<readonly Warning[]> {
    if (!this.remember(request, record) && (await this.warnings(request, record)).length === 0) return [];
    await this.readYourWrites.shownSoon('shipments', position);
    return this.warnings(request, record);
  }

  /** As the read model has it. */
  async warnings(request: FastifyRequest, record: ShipmentRecord): Promise<readonly Warning[]> {
    if (record.house_bill === null && record.container_numbers.length === 0) return [];
    try {
      const others = await this.readModels.queries.shipments.possibleDuplicates(scopeOf(request), record);
      return others.flatMap((other) => [
        ...(other.house_bill ? [warning('house_bill', `${other.id} has the same house bill.`)] : []),
        ...sharedContainers(other),
      ]);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.logger.warn({ ...requestFields(request), reason }, 'could not look for possible duplicates');
      return [];
    }
  }
}

/** One warning of however many: five others of 200 containers each would make a thousand. */
function sharedContainers({ id, container_numbers }: PossibleDuplicate): readonly Warning[] {
  const more = container_numbers.length - MAX_NAMED;
  const named = container_numbers.slice(0, MAX_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
  const what = container_numbers.length === 1 ? 'container' : 'containers';
  return named === '' ? [] : [warning('container_numbers', `${id} has ${what} ${named} too.`)];
}

function warning(param: string, message: string): Warning {
  return { code: 'possible_duplicate', param, message };
}
