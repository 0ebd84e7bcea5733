import { writeCsv } from '../../values/files.ts';
import { decode, readSheet } from './read-file.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('a file', () => {
  it('is rows below headers, whatever is between the cells', async () => {
    const { headers, rows } = await readSheet('a.csv', bytes('Ref; ;Name\nA;x;"Acme; Ltd"\n\nB\n'));
    expect(headers).toEqual(['Ref', 'Column 2', 'Name']);
    expect(rows).toEqual([
      ['A', 'x', 'Acme; Ltd'],
      ['', '', ''],
      ['B', '', ''],
    ]);
  });

  it('may have lines that say nothing around it, and cells beyond its headers', async () => {
    const { headers, rows, firstRow } = await readSheet('a.csv', bytes('\n,\nRef,Name\nA,Acme,Ltd, ,\n , \n\n'));
    expect([headers, rows, firstRow]).toEqual([['Ref', 'Name'], [['A', 'Acme', 'Ltd']], 4]);
  });

  it('may be of an older spreadsheet', () => {
    expect(decode(Uint8Array.of(0x47, 0xf6))).toBe('Gö');
    expect(decode(Uint8Array.of(0xff, 0xfe, 0x47, 0, 0xf6, 0))).toBe('Gö');
  });

  it('without rows is refused', async () => {
    await expect(readSheet('a.csv', bytes(''))).rejects.toThrow('no rows');
    await expect(readSheet('a.csv', bytes('Ref,Mode\n'))).rejects.toThrow('no rows');
  });

  it('with a quote that does not end is refused', async () => {
    await expect(readSheet('a.csv', bytes('Ref,Name\nA,"Acme\nB,x\n'))).rejects.toThrow('has no end');
  });

  it('of very many columns is refused', async () => {
    const wide = `${'x,'.repeat(200)}x\n`;
    await expect(readSheet('a.csv', bytes(wide + wide))).rejects.toThrow('201 columns');
  });

  it('that was written is read as it was', async () => {
    const rows = [
      ['A, "B"', 'é'],
      ['=1+1', '-5'],
      ['=1+1\nx', "'quoted"],
    ];
    const written = bytes(await writeCsv(['x', 'y'], rows));
    expect(await readSheet('a.csv', written)).toMatchObject({ headers: ['x', 'y'], rows });
    expect(decode(written)).not.toMatch(/(^|[,"\n])[=+@-]/);
  });
});
