import { unescapeCell, writeCsv } from './files.ts';

describe('a CSV file', () => {
  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '＝1+1', '＋1', '－1', '＠SUM(A1)', '\t=1'])(
    'has no formula in a cell: %s',
    async (cell) => {
      const text = await writeCsv(['a'], [[cell]]);
      expect(text).toContain(`'${cell}`);
      expect(unescapeCell(`'${cell}`)).toBe(cell);
    },
  );

  it.each([
    ['x;=1+1', "x;'=1+1"],
    ['x; ＝1+1;"@SUM(A1)', `x;' ＝1+1;'"@SUM(A1)`],
    ['x\n=1', "x\n'=1"],
    ['=1;-1', "=1;'-1"],
  ])('has no formula if cells are separated by semicolons: %s', async (cell, escaped) => {
    const text = await writeCsv(['a', 'b'], [['x', cell]]);
    expect(text.replaceAll('""', '"')).toContain(escaped);
    expect(unescapeCell(escaped)).toBe(cell);
  });

  it('keeps other cells as they are', async () => {
    expect(await writeCsv(['a'], [['x;y'], ['a=b'], ["it's"]])).toBe("\uFEFFa\r\nx;y\r\na=b\r\nit's\r\n");
  });
});
