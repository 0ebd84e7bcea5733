import type { FieldError } from '@tracking/client';
import { labelOf, refusedForm } from './form-errors.ts';
import { EMPTY_VALUES } from './form-values.ts';

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
