import { csvRecords } from './csv-records.ts';

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
async function records(text: string | Buffer, size = 1_000): Promise<readonly (readonly string[])[]> {
  const all = [];
  for await (const { fields } of csvRecords(chunksOf(Buffer.from(text as string), size))) all.push(fields);
  return all;
}

describe('csvRecords', () => {
  it('reads plain, quoted and empty fields, whatever ends the lines', async () => {
    expect(await records(',"AD",ALV,"Andorra la Vella",""\r\n"=",AT,,"Wien = Vienna", x \nlast,one')).toEqual([
      ['', 'AD', 'ALV', 'Andorra la Vella', ''],
      ['=', 'AT', '', 'Wien = Vienna', 'x'],
      ['last', 'one'],
    ]);
  });

  it('keeps commas, doubled quotes and line breaks inside quotes', async () => {
    expect(await records('"a,b","say ""so""","two\nlines",""""\nnext')).toEqual([
      ['a,b', 'say "so"', 'two\nlines', '"'],
      ['next'],
    ]);
  });

  it.each([1, 2, 3, 7, 64])('does not care how the bytes arrive: %i at a time', async (size) => {
    const text = '﻿"Ö",b\r\n"x\r\ny",d\r\ne,"f""g"\r\n';
    expect(await records(text, size)).toEqual([
      ['Ö', 'b'],
      ['x\r\ny', 'd'],
      ['e', 'f"g'],
    ]);
  });

  it('reads UTF-8 and Latin-1 in one file, and drops byte order marks where files were joined', async () => {
    const bytes = Buffer.concat([
      Buffer.from('﻿DE,Köln\n'),
      Buffer.from('CH,Zürich\n', 'latin1'),
      Buffer.from('﻿SE,Malmö\n'),
    ]);
    expect(await records(bytes)).toEqual([
      ['DE', 'Köln'],
      ['CH', 'Zürich'],
      ['SE', 'Malmö'],
    ]);
  });

  it('names the line of a quote that is never closed', async () => {
    await expect(records('a,b\nc,"d\ne,f\n')).rejects.toThrow('line 2 has a quote that is never closed');
    await expect(records(`a,b\nc,"d\n${'e,f\n'.repeat(50_000)}`)).rejects.toThrow('line 2 has a quote');
  });

  it('refuses what is no text', async () => {
    await expect(records('PK\u0003\u0004\0\0\n')).rejects.toThrow('line 1 is no text');
    await expect(records('x'.repeat(200_000))).rejects.toThrow(
      'line 1 has a quote that is never closed, or is no text',
    );
  });

  it('counts lines inside quoted fields', async () => {
    const lines = [];
    for await (const { line } of csvRecords(chunksOf(Buffer.from('"a\nb\nc",1\nd,2\n'), 4))) lines.push(line);
    expect(lines).toEqual([1, 4]);
  });
});
