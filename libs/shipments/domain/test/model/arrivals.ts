import type { ClientShipmentFields } from '@tracking/contracts';
import * as fc from 'fast-check';
import type { MilestoneInput } from '../../src/index.ts';
import { createTimeInJanuary2026 } from '../scenario.ts';
import { actualMilestoneArbitrary, shipmentFieldsArbitrary } from './journeys.ts';

/** A post or retraction of a milestone. */
type Arrival = { readonly kind: 'post' | 'retract'; readonly milestone: MilestoneInput };
/** Posts and retractions of milestones, in two orders of arrival. */
export interface MilestonesInAndOutOfOrder {
  readonly fields: Partial<ClientShipmentFields>;
  /** The milestones in the order in which they happened. */
  readonly inOrder: readonly Arrival[];
  /** The milestones in another order, with additional milestones that are retracted again. */
  readonly inDisorder: readonly Arrival[];
}

/**
 * Milestones with different statements. No milestone cancels the shipment, because the order of arrival decides the
 * effect of a cancellation. No milestone has an `external_id`, because it would correct another milestone.
 */
const distinctMilestonesArbitrary = fc.uniqueArray(
  fc.record({
    milestone: actualMilestoneArbitrary
      .filter(({ code }) => code !== 'booking_cancelled')
      // Without a time, a milestone is reported when it is recorded, so the order of arrival would matter.
      .map((milestone) => ({
        ...milestone,
        external_id: null,
        reported_at: milestone.reported_at ?? createTimeInJanuary2026(13),
      })),
    stays: fc.boolean(),
    place: fc.nat(99),
    stands: fc.nat(50),
  }),
  {
    selector: ({ milestone: { note: _, reported_at: _reported, ...statement } }) => JSON.stringify(statement),
    maxLength: 14,
    size: 'max',
  },
);

export const milestoneArrivalOrdersArbitrary: fc.Arbitrary<MilestonesInAndOutOfOrder> = fc
  .record({ fields: shipmentFieldsArbitrary, milestones: distinctMilestonesArbitrary })
  .map(({ fields, milestones }) => {
    const staying = milestones.filter(({ stays }) => stays).map(({ milestone }) => milestone);
    const disorder = milestones.flatMap(({ milestone, stays, place, stands }) => [
      { place, arrival: { kind: 'post' as const, milestone } },
      ...(stays ? [] : [{ place: place + stands, arrival: { kind: 'retract' as const, milestone } }]),
    ]);
    return {
      fields,
      inOrder: staying
        .toSorted((a, b) => (a.occurred_at < b.occurred_at ? -1 : 1))
        .map((milestone) => ({ kind: 'post', milestone })),
      inDisorder: disorder.toSorted((a, b) => a.place - b.place).map(({ arrival }) => arrival),
    };
  });
