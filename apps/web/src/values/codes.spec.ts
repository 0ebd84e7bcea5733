import {
  calculateCheckDigit,
  findChoiceByText,
  isCarrierCode,
  isContainerNumber,
  isPortCode,
  normaliseCode,
  suggestContainerNumberWithCorrectCheckDigit,
} from './codes.ts';

describe('codes', () => {
  describe('codes', () => {
    it('are normalised to upper case without spaces and hyphens', () => {
      expect(normaliseCode(' csqu 305438-3 ')).toBe('CSQU3054383');
    });

    it.each([
      ['CSQU3054383', 3],
      ['MSKU9070323', 3],
      // If the remainder is 10, the check digit is 0.
      ['MSCU0000060', 0],
      ['AKE12345LH', undefined],
      ['CSQU30543', undefined],
    ])('calculates the check digit of %s', (number, digit) => {
      expect(calculateCheckDigit(number)).toBe(digit);
    });

    it('suggests the container number with the correct check digit', () => {
      expect(suggestContainerNumberWithCorrectCheckDigit('CSQU3054384')).toBe('CSQU3054383');
      expect(suggestContainerNumberWithCorrectCheckDigit('CSQU3054383')).toBeUndefined();
      expect(suggestContainerNumberWithCorrectCheckDigit('AKE12345LH')).toBeUndefined();
    });

    it('checks container numbers by mode', () => {
      expect(isContainerNumber('CSQU3054383', 'ocean')).toBe(true);
      expect(isContainerNumber('CSQX3054383', 'ocean')).toBe(false);
      expect(isContainerNumber('AKE12345LH', 'ocean')).toBe(false);
      expect(isContainerNumber('AKE12345LH', 'air')).toBe(true);
      expect(isContainerNumber('AKE12345LH', null)).toBe(false);
    });

    it('checks carrier codes by mode', () => {
      expect(isCarrierCode('MAEU', 'ocean')).toBe(true);
      expect(isCarrierCode('K4', 'ocean')).toBe(false);
      expect(isCarrierCode('K4', 'air')).toBe(true);
      expect(isCarrierCode('MAERSK', 'ocean')).toBe(false);
    });

    it('checks port codes by mode', () => {
      expect(isPortCode('NLRTM', 'ocean')).toBe(true);
      expect(isPortCode('NLRT1', 'ocean')).toBe(false);
      expect(isPortCode('AMS', 'ocean')).toBe(false);
      expect(isPortCode('AMS', 'air')).toBe(true);
      expect(isPortCode('AMS', null)).toBe(true);
    });
  });
});

describe('typed choice', () => {
  const CHOICES = ['Discharged', 'Discharged at transshipment port', 'Vessel departed'].map((label) => ({
    value: label.toLowerCase(),
    label,
  }));

  it.each([
    ['vessel', 'Vessel departed'],
    [' VESSEL DEP ', 'Vessel departed'],
    ['discharged', 'Discharged'],
    ['disch', undefined],
    ['gate', undefined],
    [' ', undefined],
  ])('finds for “%s” the option %s', (text, label) => {
    expect(findChoiceByText(text, CHOICES)?.label).toBe(label);
  });
});
