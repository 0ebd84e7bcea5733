import { scenarioPlacesStub } from '../test/scenario.ts';
import {
  getCountryOfLocation,
  hasValidCheckDigit,
  isCarrierCode,
  isContainerNumber,
  isPortCode,
  isUnknownPort,
  normaliseCode,
  normaliseLocation,
} from './references.ts';

describe('normalising', () => {
  it('trims, upper-cases, and removes spaces and hyphens', () => {
    expect(normaliseCode('  csqu 305438-3 ')).toBe('CSQU3054383');
  });
});

describe('container numbers', () => {
  it.each(['CSQU3054383', 'MSCJ1234567', 'MSCZ1234567'])('ISO 6346: %s', (number) => {
    expect(isContainerNumber(number, 'ocean')).toBe(true);
  });

  it.each(['ABCA1234567', 'ABCB1234567', 'ABCD1234567', 'ABCE1234567', 'ABCK1234567'])(
    'EN 13044 swap body: %s',
    (number) => {
      expect(isContainerNumber(number, 'rail')).toBe(true);
    },
  );

  it.each(['', 'CSQ3054383', 'CSQX3054383', 'CSQU305438', 'CSQU30543833', 'CSQU305438A', 'C5QU3054383', 'INVALID'])(
    'refuses other text: %j',
    (number) => {
      expect(isContainerNumber(number, 'ocean')).toBe(false);
    },
  );

  it.each(['AKE12345LH', 'AKE1234LH', 'PMC12345R7', 'A1B123456X'])('accepts a ULD only for air: %s', (number) => {
    expect(isContainerNumber(number, 'air')).toBe(true);
    expect(isContainerNumber(number, 'ocean')).toBe(false);
    expect(isContainerNumber(number, 'road')).toBe(false);
  });

  it('accepts a ULD for air and multimodal, and for an unknown mode, but not without a mode', () => {
    expect(isContainerNumber('AKE12345LH', undefined)).toBe(true);
    expect(isContainerNumber('AKE12345LH', null)).toBe(false);
    expect(isContainerNumber('ABC1234567', null)).toBe(false);
    expect(isContainerNumber('AKE12345LH', 'multimodal')).toBe(true);
  });

  it.each(['AKE123LH', 'AKE123456LH', '1KE12345LH'])('refuses an invalid ULD: %s', (number) => {
    expect(isContainerNumber(number, 'air')).toBe(false);
  });

  // Published examples: ISO 6346 itself (CSQU 305438 3), and boxes in service.
  it.each(['CSQU3054383', 'MSCU1234566', 'TGHU9876542', 'MSKU0383250', 'TEXU3070079'])(
    'right check digit: %s',
    (number) => {
      expect(hasValidCheckDigit(number)).toBe(true);
    },
  );

  it.each(['CSQU3054384', 'MSCU1234567', 'TEXU3070070'])('wrong check digit: %s', (number) => {
    expect(hasValidCheckDigit(number)).toBe(false);
  });

  it('a remainder of ten counts as zero', () => {
    // The ten characters before give 10 modulo 11.
    expect(hasValidCheckDigit('TGHU1000050')).toBe(true);
    expect(hasValidCheckDigit('TGHU1000051')).toBe(false);
  });

  it('applies to a swap body, not to a ULD', () => {
    const right = [...'0123456789'].filter((digit) => hasValidCheckDigit(`ABCK123456${digit}`));
    expect(right).toHaveLength(1);
    expect(hasValidCheckDigit('AKE12345LH')).toBeNull();
  });
});

describe('carriers', () => {
  it.each(['MAEU', 'UPS', 'CP'])('accepts a SCAC: %s', (code) => {
    expect(isCarrierCode(code, 'ocean')).toBe(true);
  });

  it.each(['M', 'MAEUX', 'MA1U', ''])('refuses other text as a carrier: %j', (code) => {
    expect(isCarrierCode(code, 'air')).toBe(false);
    expect(isCarrierCode(code, 'ocean')).toBe(false);
  });

  it.each(['5X', 'U2', 'LH'])('accepts an airline for air and courier: %s', (code) => {
    expect(isCarrierCode(code, 'air')).toBe(true);
    expect(isCarrierCode(code, 'courier')).toBe(true);
    expect(isCarrierCode(code, undefined)).toBe(true);
  });

  it('refuses an airline with a digit elsewhere, and two digits', () => {
    expect(isCarrierCode('5X', 'ocean')).toBe(false);
    expect(isCarrierCode('5X', null)).toBe(false);
    expect(isCarrierCode('55', 'air')).toBe(false);
  });
});

describe('ports', () => {
  it.each(['CNSHA', 'USLAX', 'GBF2T'])('accepts a UN/LOCODE for every mode: %s', (code) => {
    expect(isPortCode(code, 'ocean')).toBe(true);
    expect(isPortCode(code, 'air')).toBe(true);
    expect(isPortCode(code, null)).toBe(true);
  });

  it.each(['CNSH', 'CNSHAA', 'C1SHA', 'CNSH1', 'CNSH0', ''])('refuses other text as a port: %j', (code) => {
    expect(isPortCode(code, 'air')).toBe(false);
  });

  it.each(['air', 'courier', 'multimodal', null, undefined] as const)(
    'accepts an airport if the mode is %s',
    (mode) => {
      expect(isPortCode('FRA', mode)).toBe(true);
    },
  );

  it.each(['ocean', 'road', 'rail', 'barge'] as const)('refuses an airport for %s', (mode) => {
    expect(isPortCode('FRA', mode)).toBe(false);
  });

  it('reports a code of an unknown country, but never an airport', () => {
    expect(isUnknownPort('XXABC', scenarioPlacesStub)).toBe(true);
    expect(isUnknownPort('USLAX', scenarioPlacesStub)).toBe(false);
    expect(isUnknownPort('XXX', scenarioPlacesStub)).toBe(false);
  });
});

describe('locations', () => {
  it.each([
    ['USLAX', 'USLAX'],
    [' us lax ', 'USLAX'],
    ['cn-sha', 'CNSHA'],
    ['USZZZ', 'USZZZ'],
    ['US ZZZ', 'USZZZ'],
  ])('normalises a UN/LOCODE: %j', (text, code) => {
    expect(normaliseLocation(text, scenarioPlacesStub, [])).toBe(code);
  });

  it.each([
    [' Genoa ', 'Genoa'],
    ['uszzz', 'uszzz'],
    ['XXABC', 'XXABC'],
    ['Terminal 5, Los Angeles', 'Terminal 5, Los Angeles'],
    ['fra', 'fra'],
    ['ITALY', 'ITALY'],
  ])('keeps free text: %j', (text, plain) => {
    expect(normaliseLocation(text, scenarioPlacesStub, [])).toBe(plain);
  });

  it('normalises the shipment’s own ports in any spelling', () => {
    expect(normaliseLocation('fra', scenarioPlacesStub, ['FRA', null])).toBe('FRA');
    expect(normaliseLocation('us zzz', scenarioPlacesStub, ['USZZZ'])).toBe('USZZZ');
  });

  it('have a country if they are a UN/LOCODE or a known airport', () => {
    expect(getCountryOfLocation('CNSHA', scenarioPlacesStub)).toBe('CN');
    expect(getCountryOfLocation('USZZZ', scenarioPlacesStub)).toBe('US');
    expect(getCountryOfLocation('FRA', scenarioPlacesStub)).toBe('DE');
    expect(getCountryOfLocation('XXABC', scenarioPlacesStub)).toBeUndefined();
    expect(getCountryOfLocation('ABC', scenarioPlacesStub)).toBeUndefined();
    expect(getCountryOfLocation('Genoa', scenarioPlacesStub)).toBeUndefined();
    expect(getCountryOfLocation('ITALY', scenarioPlacesStub)).toBeUndefined();
  });
});
