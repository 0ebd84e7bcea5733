import { createCsvText } from '../../values/files.ts';
import { decodeText, parseCsvSheet } from './read-file.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('a file', () => {
  it('is parsed with any delimiter', async () => {
    const { headers, rows } = await parseCsvSheet('a.csv', bytes('Ref; ;Name\nA;x;"Acme; Ltd"\n\nB\n'));
    expect(headers).toEqual(['Ref', 'Column 2', 'Name']);
    expect(rows).toEqual([
      ['A', 'x', 'Acme; Ltd'],
      ['', '', ''],
      ['B', '', ''],
    ]);
  });

  it('may have empty lines around the rows and empty cells beyond the headers', async () => {
    const { headers, rows, firstRow } = await parseCsvSheet('a.csv', bytes('\n,\nRef,Name\nA,Acme,Ltd, ,\n , \n\n'));
    expect([headers, rows, firstRow]).toEqual([['Ref', 'Name'], [['A', 'Acme', 'Ltd']], 4]);
  });

  it('may have the encoding of older spreadsheets', () => {
    expect(decodeText(Uint8Array.of(0x47, 0xf6))).toBe('Gö');
    expect(decodeText(Uint8Array.of(0xff, 0xfe, 0x47, 0, 0xf6, 0))).toBe('Gö');
  });

  it('is rejected without rows', async () => {
    await expect(parseCsvSheet('a.csv', bytes(''))).rejects.toThrow('no rows');
    await expect(parseCsvSheet('a.csv', bytes('Ref,Mode\n'))).rejects.toThrow('no rows');
  });

  it('is rejected with an unclosed quote', async () => {
    await expect(parseCsvSheet('a.csv', bytes('Ref,Name\nA,"Acme\nB,x\n'))).rejects.toThrow('is not closed');
  });

  it('is rejected with too many columns', async () => {
    const wide = `${'x,'.repeat(200)}x\n`;
    await expect(parseCsvSheet('a.csv', bytes(wide + wide))).rejects.toThrow('201 columns');
  });

  it('is parsed to the same rows after it was written', async () => {
    const rows = [
      ['A, "B"', 'é'],
      ['=1+1', '-5'],
      ['=1+1\nx', "'quoted"],
    ];
    const written = bytes(await createCsvText(['x', 'y'], rows));
    expect(await parseCsvSheet('a.csv', written)).toMatchObject({ headers: ['x', 'y'], rows });
    expect(decodeText(written)).not.toMatch(/(^|[,"\n])[=+@-]/);
  });
});
