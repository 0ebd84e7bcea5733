import type { FieldError } from '@tracking/client';
import {
  validateShipment,
  parseContainerNumbers,
  getLabelOfWarnedField,
  assignErrorsToFields,
} from './check-values.ts';
import { EMPTY_LEG_VALUES, EMPTY_SHIPMENT_VALUES } from './form-values.ts';

describe('check values', () => {
  const GOOD = { ...EMPTY_SHIPMENT_VALUES, external_id: 'PO-1' };

  describe('the check before sending', () => {
    it('requires at least one of three references', () => {
      expect(validateShipment(EMPTY_SHIPMENT_VALUES)).toHaveProperty('external_id');
      expect(validateShipment(GOOD)).toEqual({});
      expect(validateShipment({ ...EMPTY_SHIPMENT_VALUES, house_bill: 'H-1' })).toEqual({});
      expect(validateShipment({ ...EMPTY_SHIPMENT_VALUES, container_numbers: ['CSQU3054383'] })).toEqual({});
    });

    it('checks container numbers by mode, but accepts a wrong check digit', () => {
      expect(validateShipment({ ...GOOD, container_numbers: ['CSQU3054384'] })).toEqual({});
      expect(validateShipment({ ...GOOD, container_numbers: ['CSQU3054383', 'BOX 1'] })).toEqual({
        container_numbers: 'Not a valid container number: BOX 1',
      });
    });

    it('checks codes by the mode of the leg, otherwise by the mode of the shipment', () => {
      const leg = { ...EMPTY_LEG_VALUES, origin_port: 'AMS', carrier_scac: 'K4' };
      expect(Object.keys(validateShipment({ ...GOOD, mode: 'ocean', legs: [leg] }))).toEqual([
        'legs.0.carrier_scac',
        'legs.0.origin_port',
      ]);
      expect(validateShipment({ ...GOOD, mode: 'ocean', legs: [{ ...leg, mode: 'air' }] })).toEqual({});
    });

    it('requires complete rows of names and values, with unique names', () => {
      const references = [{ type: 'purchase_order', value: '' }];
      const metadata = [
        { name: 'team', value: 'a' },
        { name: 'team ', value: 'b' },
      ];
      expect(Object.keys(validateShipment({ ...GOOD, references, metadata }))).toEqual([
        'references.0.value',
        'metadata.1.name',
      ]);
    });
  });

  describe('container numbers', () => {
    it('parses pasted text and drops duplicates', () => {
      expect(parseContainerNumbers(['csqu 305438-3', 'CSQU3054383', ' '])).toEqual(['CSQU3054383']);
      expect(parseContainerNumbers(['CSQU3054383 MSCU0000060'])).toEqual(['CSQU3054383', 'MSCU0000060']);
      expect(parseContainerNumbers(['AKE12345LH'])).toEqual(['AKE12345LH']);
    });
  });
});

describe('form errors', () => {
  const wrong = (param: string, message = 'Wrong.') => ({ param, message, code: 'invalid_value' }) as FieldError;

  describe('the errors of the API', () => {
    it('shows errors at the fields of the form', () => {
      const values = {
        ...EMPTY_SHIPMENT_VALUES,
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
      expect(assignErrorsToFields(details, values)).toEqual({
        errors: {
          'legs.1.etd': 'Wrong.',
          container_numbers: 'No container number. Neither.',
          'shipper.name': 'Wrong.',
          'metadata.1.value': 'Wrong.',
        },
        others: [],
      });
    });

    it('shows errors above the form if the form has no such field', () => {
      expect(assignErrorsToFields([wrong('original_eta')], EMPTY_SHIPMENT_VALUES)).toEqual({
        errors: {},
        others: ['original_eta: Wrong.'],
      });
    });

    it('uses the labels of the form', () => {
      expect(getLabelOfWarnedField('legs[1].etd')).toBe('Legs, 2');
      expect(getLabelOfWarnedField('origin_port')).toBe('Origin');
      expect(getLabelOfWarnedField('no_field')).toBeUndefined();
      expect(getLabelOfWarnedField(null)).toBeUndefined();
    });
  });
});
