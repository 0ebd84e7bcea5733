import { readCsv } from './locode-list.ts';

function records(text: string | Buffer): readonly (readonly string[])[] {
  const all: (readonly string[])[] = [];
  readCsv(Buffer.from(text as string), (fields) => all.push(fields));
  return all;
}

describe('readCsv', () => {
  it('reads plain, quoted and empty fields with any line ends', () => {
    expect(records(',"AD",ALV,"Andorra la Vella",""\r\n"=",AT,,"Wien = Vienna", x \nlast,one')).toEqual([
      ['', 'AD', 'ALV', 'Andorra la Vella', ''],
      ['=', 'AT', '', 'Wien = Vienna', 'x'],
      ['last', 'one'],
    ]);
  });

  it('keeps commas, doubled quotes and line breaks inside quotes', () => {
    expect(records('"a,b","say ""so""","two\nlines",""""\nnext')).toEqual([
      ['a,b', 'say "so"', 'two\nlines', '"'],
      ['next'],
    ]);
  });

  it('reads quoted fields after a byte order mark, and both kinds of line breaks', () => {
    const text = '﻿"Ö",b\r\n"x\r\ny",d\r\ne,"f""g"\r\n';
    expect(records(text)).toEqual([
      ['Ö', 'b'],
      ['x\ny', 'd'],
      ['e', 'f"g'],
    ]);
  });

  it('reads UTF-8 and Latin-1 in one file, and drops byte order marks inside it', () => {
    const bytes = Buffer.concat([
      Buffer.from('﻿DE,Köln\n'),
      Buffer.from('CH,Zürich\n', 'latin1'),
      Buffer.from('﻿SE,Malmö\n'),
    ]);
    expect(records(bytes)).toEqual([
      ['DE', 'Köln'],
      ['CH', 'Zürich'],
      ['SE', 'Malmö'],
    ]);
  });

  it('names the line of an unclosed quote', () => {
    expect(() => records('a,b\nc,"d\ne,f\n')).toThrow('line 2 has an unclosed quote');
    expect(() => records(`a,b\nc,"d\n${'e,f\n'.repeat(50_000)}`)).toThrow('line 2 has an unclosed quote');
  });

  it('refuses bytes that are not text', () => {
    expect(() => records('PK\u0003\u0004\0\0\n')).toThrow('line 1 is not encoded as text');
    expect(() => records('x'.repeat(200_000))).toThrow('line 1 has an unclosed quote, or is not encoded as text');
  });

  it('counts lines inside quoted fields', () => {
    const lines: number[] = [];
    readCsv(Buffer.from('"a\nb\nc",1\r\n"d\r\ne",2\nf,3\n'), (_, line) => lines.push(line));
    expect(lines).toEqual([1, 4, 6]);
  });
});
