import { checkValues, containerNumbersIn } from './check-values.ts';
import { EMPTY_LEG, EMPTY_VALUES } from './form-values.ts';

const GOOD = { ...EMPTY_VALUES, external_id: 'PO-1' };

describe('before it is sent', () => {
  it('a form needs one of three references', () => {
    expect(checkValues(EMPTY_VALUES)).toHaveProperty('external_id');
    expect(checkValues(GOOD)).toEqual({});
    expect(checkValues({ ...EMPTY_VALUES, house_bill: 'H-1' })).toEqual({});
    expect(checkValues({ ...EMPTY_VALUES, container_numbers: ['CSQU3054383'] })).toEqual({});
  });

  it('containers need the form of their mode; a wrong check digit is not refused', () => {
    expect(checkValues({ ...GOOD, container_numbers: ['CSQU3054384'] })).toEqual({});
    expect(checkValues({ ...GOOD, container_numbers: ['CSQU3054383', 'BOX 1'] })).toEqual({
      container_numbers: 'Not a container number: BOX 1',
    });
  });

  it('codes are held against the mode of their leg, or else of the shipment', () => {
    const leg = { ...EMPTY_LEG, origin_port: 'AMS', carrier_scac: 'K4' };
    expect(Object.keys(checkValues({ ...GOOD, mode: 'ocean', legs: [leg] }))).toEqual([
      'legs.0.carrier_scac',
      'legs.0.origin_port',
    ]);
    expect(checkValues({ ...GOOD, mode: 'ocean', legs: [{ ...leg, mode: 'air' }] })).toEqual({});
  });

  it('rows of names and values are whole, and names there once', () => {
    const references = [{ type: 'purchase_order', value: '' }];
    const metadata = [
      { name: 'team', value: 'a' },
      { name: 'team ', value: 'b' },
    ];
    expect(Object.keys(checkValues({ ...GOOD, references, metadata }))).toEqual([
      'references.0.value',
      'metadata.1.name',
    ]);
  });
});

describe('numbers of containers', () => {
  it('are taken as they are pasted, each once', () => {
    expect(containerNumbersIn(['csqu 305438-3', 'CSQU3054383', ' '])).toEqual(['CSQU3054383']);
    expect(containerNumbersIn(['CSQU3054383 MSCU0000060'])).toEqual(['CSQU3054383', 'MSCU0000060']);
    expect(containerNumbersIn(['AKE12345LH'])).toEqual(['AKE12345LH']);
  });
});
