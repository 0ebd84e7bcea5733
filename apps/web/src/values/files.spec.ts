import { unescapeCell, createCsvText } from './files.ts';

describe('a CSV file', () => {
  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '＝1+1', '＋1', '－1', '＠SUM(A1)', '\t=1'])(
    'escapes a cell that looks like a formula: %s',
    async (cell) => {
      const text = await createCsvText(['a'], [[cell]]);
      expect(text).toContain(`'${cell}`);
      expect(unescapeCell(`'${cell}`)).toBe(cell);
    },
  );

  it.each([
    ['x;=1+1', "x;'=1+1"],
    ['x; ＝1+1;"@SUM(A1)', `x;' ＝1+1;'"@SUM(A1)`],
    ['x\n=1', "x\n'=1"],
    ['=1;-1', "=1;'-1"],
  ])('escapes a formula even if cells are separated by semicolons: %s', async (cell, escaped) => {
    const text = await createCsvText(['a', 'b'], [['x', cell]]);
    expect(text.replaceAll('""', '"')).toContain(escaped);
    expect(unescapeCell(escaped)).toBe(cell);
  });

  it('leaves all other cells unchanged', async () => {
    expect(await createCsvText(['a'], [['x;y'], ['a=b'], ["it's"]])).toBe("\uFEFFa\r\nx;y\r\na=b\r\nit's\r\n");
  });
});
