import { type Required, changedModes, requiredPatch } from './required-changes.ts';

const NONE = { ocean: [], air: [] } as unknown as Required;
const SOME = { ocean: ['bill_of_lading', 'packing_list'], air: [] } as unknown as Required;

it('the order of documents is no change', () => {
  const turned = { ocean: ['packing_list', 'bill_of_lading'], air: [] } as unknown as Required;
  expect(changedModes(SOME, turned)).toEqual([]);
  expect(requiredPatch(SOME, turned, NONE)).toBeUndefined();
});

it('only modes that changed are written', () => {
  const air = { ...SOME, air: ['air_waybill'] } as unknown as Required;
  expect(requiredPatch(SOME, air, NONE)).toEqual({ air: ['air_waybill'] });
});

it('a mode that is as by default again is left to the default', () => {
  expect(requiredPatch(SOME, NONE, NONE)).toEqual({ ocean: null });
});
