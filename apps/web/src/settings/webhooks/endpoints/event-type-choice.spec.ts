import { STANDARD_EVENT_TYPES } from '../../../values/event-types.ts';
import { choose, chooseStandard, eventTypesLabel, isChosen } from './event-type-choice.ts';

describe('the types that an endpoint gets', () => {
  it('are the standard ones for a star', () => {
    expect(isChosen(['*'], 'shipment.created')).toBe(true);
    expect(isChosen(['*'], 'document.rejected')).toBe(false);
  });

  it('are chosen beside a star where they are no standard ones', () => {
    expect(choose(['*'], ['document.rejected', 'shipment.created'], true)).toEqual(['*', 'document.rejected']);
    expect(choose(['*', 'document.rejected'], ['document.rejected'], false)).toEqual(['*']);
  });

  it('stand for themselves once a standard one is left out', () => {
    const left = choose(['*', 'document.rejected'], ['shipment.created'], false);
    expect([...left].sort()).toEqual(
      [...STANDARD_EVENT_TYPES.filter((type) => type !== 'shipment.created'), 'document.rejected'].sort(),
    );
  });

  it('are the same with a star and without, until a release adds one', () => {
    const named = chooseStandard(['*', 'exception.updated'], false);
    expect(named).toEqual([...STANDARD_EVENT_TYPES, 'exception.updated']);
    expect(chooseStandard(named, true)).toEqual(['*', 'exception.updated']);
  });

  it.each([
    [['*'], 'All standard types'],
    [['*', 'exception.updated'], 'All standard types and 1 more'],
    [['shipment.created'], 'Shipment created'],
    [['shipment.created', 'shipment.updated', 'milestone.recorded'], 'Shipment created and 2 more'],
    [[], 'None'],
  ] as const)('%j are called so', (types, label) => expect(eventTypesLabel([...types])).toBe(label));
});
