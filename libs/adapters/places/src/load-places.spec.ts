import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COUNTRY_CODES } from './locode-list.ts';
import { loadPlaces, PlacesFileError } from './index.ts';

const LIST = [
  ',"AD",,".ANDORRA",,,,,,,,',
  ',"AD","ALV","Andorra la Vella","Andorra la Vella",,"--34-6--","AI","0601",,"4230N 00131E",""',
  '"=","AT","","Wien = Vienna","Wien = Vienna","",,"",,"","",""',
  '"X","DE","HAM","Hamburg (Elbe)","Hamburg (Elbe)","HH","12345---","AI","0501",,,',
  ',"BR","SSZ","Santos","Santos","SP","1-3-----","AI","0901",,"2357S 04620W",',
  ',"AL","KKU","Kukes","Kukes","KU","--3--6--","RQ","0907",,"4204N 20251E",',
  ',"XZ","ABC","Platform","Platform",,"1-------","RQ","0907",,,',
].join('\r\n');

describe('places', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'places-'));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
  });
  const stored = async (content: string | Buffer) => {
    const file = join(folder, 'list.csv');
    await writeFile(file, content);
    return file;
  };

  describe('without the operator’s list', () => {
    it('finds sea ports with coordinates and time zone', async () => {
      const places = await loadPlaces();
      expect(places.find('DEHAM')).toEqual({
        code: 'DEHAM',
        country: 'DE',
        name: 'Hamburg',
        latitude: 53.5511,
        longitude: 9.9937,
        timezone: 'Europe/Berlin',
      });
    });

    it('finds airports by their IATA code', async () => {
      const places = await loadPlaces();
      expect(places.find('JFK')).toMatchObject({ country: 'US', timezone: 'America/New_York', latitude: 40.6423 });
    });

    it('does not report a place as unknown because the tables lack it', async () => {
      const places = await loadPlaces();
      expect(places.find('DEQQQ')).toBeUndefined();
      expect(places.isUnknownLocationCode('DEQQQ')).toBe(false);
    });

    it('distinguishes names of places from codes of the same form', async () => {
      const places = await loadPlaces();
      const names = ['TOKYO', 'SEOUL', 'GENOA', 'DELHI', 'PARIS', 'MALMO', 'GIJON'];
      expect(names.filter((name) => !places.isWordOfPlaceName(name))).toEqual([]);
      expect(['JPTYO', 'DEDUI', 'DEQQQ', 'FRA', 'tokyo'].filter((code) => places.isWordOfPlaceName(code))).toEqual([]);
    });

    it('finds airports by UN/LOCODE, and cities by IATA code', async () => {
      const places = await loadPlaces();
      for (const code of ['CNPVG', 'FRCDG', 'CZPRG', 'CNSHG', 'MIL', 'LON'])
        expect(places.find(code)).toMatchObject({ code, latitude: expect.any(Number) });
      expect(places.find('PARIS')).toBeUndefined();
    });

    it('lists the other codes of airports, cities and ports', async () => {
      const places = await loadPlaces();
      expect(places.listAliases('MXP')).toEqual(expect.arrayContaining(['MIL', 'ITMXP']));
      expect(places.listAliases('MIL')).toEqual(expect.arrayContaining(['MXP', 'LIN', 'BGY']));
      expect(places.listAliases('MXP')).not.toContain('LIN');
      expect(places.listAliases('DEHAM')).toEqual(['HAM']);
      expect(places.listAliases('FRCDG')).toEqual(['CDG', 'PAR']);
      expect(places.listAliases('DEQQQ')).toEqual([]);
    });

    it.each([
      ['LOS ANGELES, CA', ['USLAX']],
      ['Los Angeles, California, United States', ['USLAX']],
      ['Gda\u006e\u0301sk', ['PLGDN']],
      ['Gda\u0144sk', ['PLGDN']],
      ['ROTTERDAM, NETHERLANDS', ['NLRTM']],
      ['Vancouver', ['CAVAN', 'YVR']],
      ['VANCOUVER, WA', []],
      ['Portland, ME', ['USPWM']],
      ['Pier 400', undefined],
      ['Los Angeles Pier 400', undefined],
      ['', undefined],
    ])('finds places by name: %s', async (text, codes) => {
      const places = await loadPlaces();
      expect(places.lookUpPlaceCodesByName(text)).toEqual(codes);
    });

    it('reports a place of a nonexistent country as unknown', async () => {
      const places = await loadPlaces();
      expect(['ZZABC', 'UKLON', 'ANCUR', 'AAAAA'].filter((code) => !places.isUnknownLocationCode(code))).toEqual([]);
      expect(['XZABC', 'GBLON', 'CWCUR'].filter((code) => places.isUnknownLocationCode(code))).toEqual([]);
    });

    it('never reports an airport as unknown, because its code contains no country', async () => {
      const places = await loadPlaces();
      expect(places.isUnknownLocationCode('ZZZ')).toBe(false);
    });

    it('handles inherited property names of objects', async () => {
      const places = await loadPlaces();
      expect(['__proto__', 'constructor', ''].map((code) => places.find(code))).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    });
  });

  describe('with the operator’s list', () => {
    it('finds listed places, with coordinates in degrees', async () => {
      const places = await loadPlaces({ file: await stored(LIST) });
      expect(places.find('ADALV')).toEqual({
        code: 'ADALV',
        country: 'AD',
        name: 'Andorra la Vella',
        latitude: 42.5,
        longitude: 1.5167,
        timezone: 'Europe/Andorra',
      });
      expect(places.find('BRSSZ')).toMatchObject({
        latitude: -23.95,
        longitude: -46.3333,
        timezone: 'America/Sao_Paulo',
      });
    });

    it('takes missing values from the tables', async () => {
      const places = await loadPlaces({ file: await stored(LIST) });
      expect(places.find('DEHAM')).toMatchObject({
        name: 'Hamburg (Elbe)',
        latitude: 53.5511,
        timezone: 'Europe/Berlin',
      });
      expect(places.find('FRA')).toMatchObject({ country: 'DE' });
    });

    it('omits coordinates outside the valid range', async () => {
      const places = await loadPlaces({ file: await stored(LIST) });
      expect(places.find('ALKKU')).toMatchObject({ name: 'Kukes', latitude: null, longitude: null });
    });

    it('reports places missing in the list as unknown, even if the tables have them', async () => {
      const places = await loadPlaces({ file: await stored(LIST) });
      expect(['ADALV', 'DEHAM', 'XZABC'].filter((code) => places.isUnknownLocationCode(code))).toEqual([]);
      expect(['NLRTM', 'ATVIE', 'ZZABC'].filter((code) => !places.isUnknownLocationCode(code))).toEqual([]);
    });

    it('reads several concatenated files, with or without headers', async () => {
      const header =
        'Change,Country,Location,Name,NameWoDiacritics,Subdivision,Status,Function,Date,IATA,Coordinates,Remarks';
      const second = `${header}\n,SE,MMA,Malmö,Malmo,M,AI,1-345---,9601,,5536N 01300E,\n`;
      const bytes = Buffer.concat([Buffer.from(`﻿${header}\r\n${LIST}\r\n`), Buffer.from(second, 'latin1')]);
      const places = await loadPlaces({ file: await stored(bytes) });
      expect(places.find('SEMMA')).toMatchObject({ name: 'Malmö', latitude: 55.6 });
      expect(places.isUnknownLocationCode('ADALV')).toBe(false);
    });

    it.each([
      ['another separator', ',AD;ALV;Andorra', 'line 1 has 2 columns; expected 12, separated by commas'],
      ['a cut line', `${LIST}\r\n,"DE","BER","Berl`, 'line 8 has an unclosed quote, or is not encoded as text'],
      [
        'a missing column',
        `${LIST}\r\n"DE","BER","Berlin",,,,,,,,`,
        'line 8 has 11 columns; expected 12, separated by commas',
      ],
      [
        'a shifted column',
        `${LIST}\r\n,,"DE","BER","Berlin",,,,,,,`,
        'line 8 has no country code in its second column',
      ],
      ['nothing in it', '', 'contains no location; use a UN/LOCODE list as CSV'],
      ['only headings', ',"AD",,".ANDORRA",,,,,,,,\r\n', 'contains no location; use a UN/LOCODE list as CSV'],
    ])('refuses a file with %s in one line that names the file and the position', async (_, content, message) => {
      const file = await stored(content);
      const refused = loadPlaces({ file });
      await expect(refused).rejects.toThrow(PlacesFileError);
      await expect(refused).rejects.toMatchObject({ message: `PLACES_FILE ${file}: ${message}` });
    });

    it('refuses a missing file or a folder', async () => {
      const absent = join(folder, 'absent.csv');
      await expect(loadPlaces({ file: absent })).rejects.toThrow(`PLACES_FILE ${absent}: the file does not exist`);
      await expect(loadPlaces({ file: folder })).rejects.toThrow(
        `PLACES_FILE ${folder}: the path is a folder; specify a file`,
      );
    });
  });

  it('has the 249 countries of ISO 3166-1, XK and XZ', () => {
    expect(COUNTRY_CODES.size).toBe(251);
  });
});
