import { Printer } from './output.ts';
import type { Column } from './output.ts';

interface Row {
  readonly name: string;
  readonly count: number | null;
}
const COLUMNS: readonly Column<Row>[] = [
  ['NAME', ({ name }) => name],
  ['COUNT', ({ count }) => count],
];

function printed(asJson: boolean, print: (printer: Printer) => void): string {
  let text = '';
  print(new Printer({ write: (more) => void (text += more) }, asJson));
  return text;
}

describe('Printer', () => {
  const rows = [
    { name: 'long name', count: 1 },
    { name: 'x', count: null },
  ];

  it('prints lists as aligned columns', () => {
    expect(printed(false, (printer) => printer.list(rows, COLUMNS))).toBe(
      'NAME       COUNT\nlong name  1\nx          -\n',
    );
  });

  it('says that a list is empty', () => {
    expect(printed(false, (printer) => printer.list([], COLUMNS))).toBe('none\n');
  });

  it('prints lists as JSON in the form of the API', () => {
    expect(JSON.parse(printed(true, (printer) => printer.list(rows, COLUMNS)))).toEqual({ data: rows });
    expect(JSON.parse(printed(true, (printer) => printer.list([], COLUMNS)))).toEqual({ data: [] });
  });

  it('prints one result as text or as JSON', () => {
    expect(printed(false, (printer) => printer.one(rows[0], (row) => row?.name ?? ''))).toBe('long name\n');
    expect(JSON.parse(printed(true, (printer) => printer.one(rows[0], () => '')))).toEqual(rows[0]);
  });

  it('lets nothing that it shows command the terminal', () => {
    const hostile = [{ name: 'a\u001b[31m\nb\u202e', count: 0 }];
    expect(printed(false, (printer) => printer.list(hostile, COLUMNS))).toBe('NAME       COUNT\na [31m b   0\n');
  });
});
