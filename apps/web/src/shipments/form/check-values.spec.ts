import type { FieldError } from '@tracking/client';
import { checkValues, containerNumbersIn, labelOf, refusedForm } from './check-values.ts';
import { EMPTY_LEG, EMPTY_VALUES } from './form-values.ts';

describe('check values', () => {
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
});

describe('form errors', () => {
  const wrong = (param: string, message = 'Wrong.') => ({ param, message, code: 'invalid_value' }) as FieldError;

  describe('what the API found wrong', () => {
    it('stands at its field', () => {
      const values = {
        ...EMPTY_VALUES,
        metadata: [
          { name: 'a', value: '' },
          { name: 'cost.centre', value: 'x' },
        ],
      };
      const details = [
        wrong('legs[1].etd'),
        wrong('container_numbers[3]', 'No container number.'),
        wrong('container_numbers[4]', 'Neither.'),
        wrong('shipper.name'),
        wrong('metadata.cost.centre'),
      ];
      expect(refusedForm(details, values)).toEqual({
        errors: {
          'legs.1.etd': 'Wrong.',
          container_numbers: 'No container number. Neither.',
          'shipper.name': 'Wrong.',
          'metadata.1.value': 'Wrong.',
        },
        others: [],
      });
    });

    it('is said above all where it is of no field of the form', () => {
      expect(refusedForm([wrong('original_eta')], EMPTY_VALUES)).toEqual({
        errors: {},
        others: ['original_eta: Wrong.'],
      });
    });

    it('is called as the form calls it', () => {
      expect(labelOf('legs[1].etd')).toBe('Legs, 2');
      expect(labelOf('origin_port')).toBe('From');
      expect(labelOf('no_field')).toBeUndefined();
      expect(labelOf(null)).toBeUndefined();
    });
  });
});
