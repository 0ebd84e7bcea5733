import type { ClientShipmentFields } from '@tracking/contracts';
import { journeyPlacesStub } from '../../test/journey-places.ts';
import { CONTAINER_A, CONTAINER_B, type ShipmentScenario } from '../../test/scenario.ts';
import { addMsToTime, createScenarioWithRule, createJanuaryTime } from '../../test/time-driven.ts';

const box = { container_number: CONTAINER_A };

describe('off_route', () => {
  const gatedOut = (location: string, fields: Partial<ClientShipmentFields> = {}): ShipmentScenario => {
    const scenario = createScenarioWithRule('off_route');
    scenario.places = journeyPlacesStub;
    scenario.upsertShipment({ destination_port: 'NLRTM', container_numbers: [CONTAINER_A], ...fields });
    scenario.setTimeOfNextCommand(createJanuaryTime(20));
    scenario.postMilestoneInScenario('discharged', createJanuaryTime(10), { location, ...box });
    scenario.postMilestoneInScenario('gated_out', createJanuaryTime(11), { location, ...box });
    return scenario;
  };
  const open = [`off_route ${CONTAINER_A} open`];
  const cleared = [`off_route ${CONTAINER_A} resolved auto_cleared`];

  it('opens when a container leaves a terminal in another country, far from the destination', () => {
    const scenario = gatedOut('USNYC');
    expect(scenario.exceptions).toEqual(open);
    const [exception] = scenario.state?.exceptions ?? [];
    expect(exception).toMatchObject({ severity: 'medium', metrics: { location: 'USNYC' } });
    const km = exception?.metrics?.['km_from_destination'];
    expect(km).toBeGreaterThan(5_000);
    expect(km).toBeLessThan(6_500);
  });

  it.each<[string, string, Partial<ClientShipmentFields>]>([
    ['the destination', 'NLRTM', {}],
    ['the origin', 'CNSHA', {}],
    ['a place within 1,500 km of the destination', 'LHR', {}],
    ['the country of the destination', 'USNYC', { destination_port: 'USLAX' }],
    ['an unknown place', 'Pier 400', {}],
  ])('does not open at %s', (_, location, fields) => {
    expect(gatedOut(location, fields).exceptions).toEqual([]);
  });

  it.each([
    ['loaded_on_vessel', 'USNYC'],
    ['transshipment_loaded', 'USNYC'],
    ['rail_departed', 'USCHI'],
    ['vessel_arrived', 'NLRTM'],
  ])('is resolved by %s at %s', (code, location) => {
    const scenario = gatedOut('USNYC');
    scenario.postMilestoneInScenario(code, createJanuaryTime(13), { location, ...box });
    expect(scenario.exceptions).toEqual(cleared);
  });

  it.each([
    ['a ship that sails on after the discharge', 'vessel_departed', 'USNYC', createJanuaryTime(13)],
    ['an arrival elsewhere', 'vessel_arrived', 'USORF', createJanuaryTime(13)],
    ['a movement dated before the gate-out', 'loaded_on_vessel', 'USNYC', createJanuaryTime(10)],
    ['a milestone without movement', 'customs_hold', 'USNYC', createJanuaryTime(13)],
  ])('is not resolved by %s', (_, code, location, time) => {
    const scenario = gatedOut('USNYC');
    scenario.postMilestoneInScenario(code, time, { location, ...box });
    expect(scenario.exceptions).toEqual(open);
  });

  it('is resolved when the route is changed', () => {
    const scenario = gatedOut('USNYC');
    scenario.patchShipment({ destination_port: 'USNYC' });
    expect(scenario.exceptions).toEqual(cleared);
  });

  it('opens only for the container that left', () => {
    expect(gatedOut('USNYC', { container_numbers: [CONTAINER_A, CONTAINER_B] }).exceptions).toEqual(open);
  });
});

describe.each([
  ['terminal_hold', 'terminal_released', 'freight_released'],
  ['freight_hold', 'freight_released', 'terminal_released'],
] as const)('%s', (type, release, otherRelease) => {
  const held = (fields: Partial<ClientShipmentFields> = {}): ShipmentScenario => {
    const scenario = createScenarioWithRule(type, fields).setTimeOfNextCommand(createJanuaryTime(20));
    scenario.postMilestoneInScenario(type, createJanuaryTime(10));
    return scenario;
  };

  it('opens with medium severity and does not affect the status', () => {
    const scenario = held();
    expect(scenario.state?.exceptions).toMatchObject([{ type, severity: 'medium', status: 'open' }]);
    expect(scenario.record.status).toBe('pending');
  });

  it(`is resolved by ${release} at the same time or later`, () => {
    for (const time of [createJanuaryTime(10), createJanuaryTime(12)]) {
      const scenario = held();
      scenario.postMilestoneInScenario(release, time);
      expect(scenario.exceptions).toEqual([`${type} resolved auto_cleared`]);
    }
  });

  it('is not resolved by an earlier release, the release of another hold, or a departure', () => {
    const scenario = held();
    scenario.postMilestoneInScenario(release, addMsToTime(createJanuaryTime(10), -1));
    scenario.postMilestoneInScenario(otherRelease, createJanuaryTime(12));
    scenario.postMilestoneInScenario('vessel_departed', createJanuaryTime(12), { location: 'CNSHA' });
    expect(scenario.exceptions).toEqual([`${type} open`]);
  });

  it('does not open if the release was recorded first', () => {
    const scenario = createScenarioWithRule(type).setTimeOfNextCommand(createJanuaryTime(20));
    scenario.postMilestoneInScenario(release, createJanuaryTime(12));
    scenario.postMilestoneInScenario(type, createJanuaryTime(10));
    expect(scenario.exceptions).toEqual([]);
  });

  it('opens again with a hold after the release', () => {
    const scenario = held();
    scenario.postMilestoneInScenario(release, createJanuaryTime(12));
    scenario.postMilestoneInScenario(type, createJanuaryTime(13));
    expect(scenario.exceptions).toEqual([`${type} resolved auto_cleared`, `${type} open`]);
  });

  it('is resolved by the delivery', () => {
    const scenario = held();
    scenario.postMilestoneInScenario('delivered', createJanuaryTime(12));
    expect(scenario.exceptions).toEqual([`${type} resolved auto_cleared`]);
  });

  it('stays open for the container that was not released', () => {
    const scenario = createScenarioWithRule(type, {
      container_numbers: [CONTAINER_A, CONTAINER_B],
    }).setTimeOfNextCommand(createJanuaryTime(20));
    for (const container_number of [CONTAINER_A, CONTAINER_B])
      scenario.postMilestoneInScenario(type, createJanuaryTime(10), { container_number });
    scenario.postMilestoneInScenario(release, createJanuaryTime(12), box);
    expect(scenario.exceptions).toEqual([
      `${type} ${CONTAINER_A} resolved auto_cleared`,
      `${type} ${CONTAINER_B} open`,
    ]);
  });
});

describe('return_to_sender', () => {
  const returning = (): ShipmentScenario => {
    const scenario = createScenarioWithRule('return_to_sender', {
      mode: 'courier',
      origin_port: null,
      destination_port: null,
    });
    scenario
      .setTimeOfNextCommand(createJanuaryTime(20))
      .postMilestoneInScenario('out_for_delivery', createJanuaryTime(9));
    scenario.postMilestoneInScenario('return_started', createJanuaryTime(10));
    return scenario;
  };

  it('opens with high severity; the goods are in transit again', () => {
    const scenario = returning();
    expect(scenario.state?.exceptions).toMatchObject([{ severity: 'high', status: 'open' }]);
    expect(scenario.record.status).toBe('in_transit');
  });

  it('is resolved by a delivery after the start, which counts as the return', () => {
    const scenario = returning();
    scenario.postMilestoneInScenario('delivered', createJanuaryTime(12));
    expect(scenario.exceptions).toEqual(['return_to_sender resolved auto_cleared']);
    expect(scenario.record.status).toBe('returned');
  });

  it('is not resolved by a checkpoint or a new delivery run', () => {
    const scenario = returning();
    scenario.postMilestoneInScenario('in_transit_checkpoint', createJanuaryTime(11));
    scenario.postMilestoneInScenario('out_for_delivery', createJanuaryTime(12));
    expect(scenario.exceptions).toEqual(['return_to_sender open']);
  });

  it('is resolved when the start is retracted', () => {
    const scenario = returning();
    const start = scenario.state?.timeline.find(({ milestone }) => milestone.code === 'return_started');
    scenario.retractMilestone({ id: start?.milestone.id ?? '' });
    expect(scenario.open).toEqual([]);
    expect(scenario.record.status).toBe('out_for_delivery');
  });
});
