import { SHIPMENT_LIMITS } from '../check-shipment.ts';
import { fold } from '../index.ts';
import {
  CONTAINER_A,
  CONTAINER_B,
  findDataOfDecidedEvent,
  createTimeInJanuary2026,
  captureRefusal,
  createShipmentScenario,
  getTypesOfDecidedEvents,
} from '../../test/scenario.ts';

const GIVEN = {
  size_type: '45G1',
  seal_number: 'S-1',
  last_free_day: '2026-12-24',
  empty_return_by: '2027-01-04',
};

describe('client fields of a container', () => {
  it('are announced, and keep omitted fields', () => {
    const scenario = createShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    const decision = scenario.patchContainer(CONTAINER_A, GIVEN);
    expect([decision.outcome, getTypesOfDecidedEvents(decision)]).toEqual(['updated', ['shipment.changed.v1']]);
    expect(findDataOfDecidedEvent(decision, 'shipment.changed.v1')?.changes).toEqual({
      containers: {
        from: [{ number: CONTAINER_A, size_type: null, seal_number: null, last_free_day: null, empty_return_by: null }],
        to: [{ number: CONTAINER_A, ...GIVEN }],
      },
    });
    scenario.patchContainer(CONTAINER_A, { seal_number: null });
    expect(scenario.getContainer(CONTAINER_A)).toMatchObject({ ...GIVEN, seal_number: null });
    expect(scenario.getContainer(CONTAINER_B)).toMatchObject({ size_type: null, last_free_day: null });
  });

  it('store no event without changes', () => {
    const scenario = createShipmentScenario({ container_numbers: [CONTAINER_A] });
    scenario.patchContainer(CONTAINER_A, GIVEN);
    expect(scenario.patchContainer(CONTAINER_A, { size_type: '45G1' })).toMatchObject({
      outcome: 'unchanged',
      events: [],
    });
    expect(scenario.patchContainer(CONTAINER_A, {})).toMatchObject({ outcome: 'unchanged', events: [] });
  });

  it('of an unknown container are not found', () => {
    expect(
      captureRefusal(() =>
        createShipmentScenario({ container_numbers: [CONTAINER_A] }).patchContainer(CONTAINER_B, GIVEN),
      ).code,
    ).toBe('not_found');
  });

  it('survive upserts, milestones and the removal of the container', () => {
    const scenario = createShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.patchContainer(CONTAINER_A, GIVEN);
    scenario.upsertShipment({ container_numbers: [CONTAINER_B, CONTAINER_A], house_bill: 'HB' });
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(3), { container_number: CONTAINER_A });
    expect(scenario.getContainer(CONTAINER_A)).toMatchObject({ ...GIVEN, discharged_at: createTimeInJanuary2026(3) });
    scenario.upsertShipment({ container_numbers: [CONTAINER_B] });
    scenario.upsertShipment({ master_bill: 'MB' });
    scenario.patchShipment({ container_numbers: [CONTAINER_A] });
    expect(scenario.getContainer(CONTAINER_A)).toMatchObject({ ...GIVEN, discharged_at: createTimeInJanuary2026(3) });
    expect(fold(scenario.events)).toEqual(scenario.state);
  });

  it('have the values from when the container was last removed', () => {
    const scenario = createShipmentScenario({ container_numbers: [CONTAINER_A] });
    for (const seal_number of ['S-1', 'S-2', null]) {
      scenario.patchContainer(CONTAINER_A, { seal_number });
      scenario.upsertShipment({ container_numbers: [] });
      scenario.upsertShipment({ container_numbers: [CONTAINER_A] });
      expect(scenario.getContainer(CONTAINER_A).seal_number).toBe(seal_number);
    }
    expect(scenario.state?.removedContainers.size).toBe(0);
  });

  it('are remembered for a limited number of removed containers', () => {
    const scenario = createShipmentScenario();
    const numbers = Array.from({ length: SHIPMENT_LIMITS.containers + 5 }, (_, n) => `ABCU${1_000_000 + n}`);
    for (const number of numbers) {
      scenario.upsertShipment({ container_numbers: [number] });
      scenario.patchContainer(number, GIVEN);
    }
    scenario.upsertShipment({ container_numbers: [] });
    expect([...(scenario.state?.removedContainers.keys() ?? [])]).toEqual(numbers.slice(-SHIPMENT_LIMITS.containers));
  });

  it('get a warning if the shipment is cancelled', () => {
    const scenario = createShipmentScenario({ container_numbers: [CONTAINER_A] });
    scenario.cancelShipment();
    expect(scenario.patchContainer(CONTAINER_A, GIVEN).warnings).toMatchObject([{ code: 'shipment_cancelled' }]);
  });
});
