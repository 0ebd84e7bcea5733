import type { Container } from '@tracking/contracts';
import { SHIPMENT_LIMITS } from './check-shipment.ts';
import type { Changes } from './events/event-data.ts';

/** What clients say of a container, and no milestone tells. */
export type GivenOfContainer = Pick<Container, 'size_type' | 'seal_number' | 'last_free_day' | 'empty_return_by'>;

/** By number, of containers that were taken off their shipment: put back, they have it again. */
export type TakenOff = ReadonlyMap<string, GivenOfContainer>;

export const NOTHING_GIVEN: GivenOfContainer = {
  size_type: null,
  seal_number: null,
  last_free_day: null,
  empty_return_by: null,
};

/** With those that the changes take off, without those that they put on; of very many the newest. */
export function takenOffAfter(takenOff: TakenOff, { containers }: Changes): TakenOff {
  if (containers === undefined) return takenOff;
  const present = new Set(containers.to.map(({ number }) => number));
  const removed = containers.from.filter(({ number }) => !present.has(number));
  const isPutBack = [...present].some((number) => takenOff.has(number));
  if (removed.length === 0 && !isPutBack) return takenOff;
  const after = new Map([...takenOff].filter(([number]) => !present.has(number)));
  for (const container of removed) {
    const given = givenOf(container);
    if (given !== undefined) after.set(container.number, given);
  }
  return new Map([...after].slice(-SHIPMENT_LIMITS.containers));
}

/** Undefined where nothing is. */
function givenOf(container: Partial<GivenOfContainer>): GivenOfContainer | undefined {
  const { size_type = null, seal_number = null, last_free_day = null, empty_return_by = null } = container;
  const given = { size_type, seal_number, last_free_day, empty_return_by };
  return Object.values(given).some((value) => value !== null) ? given : undefined;
}
