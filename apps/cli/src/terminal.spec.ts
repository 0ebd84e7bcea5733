import { PassThrough, Readable } from 'node:stream';
import { type Column, Printer, readPassword } from './terminal.ts';

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
    expect(printed(false, (printer) => printer.printList(rows, COLUMNS))).toBe(
      'NAME       COUNT\nlong name  1\nx          -\n',
    );
  });

  it('reports that a list is empty', () => {
    expect(printed(false, (printer) => printer.printList([], COLUMNS))).toBe('none\n');
  });

  it('prints lists as JSON in the form of the API', () => {
    expect(JSON.parse(printed(true, (printer) => printer.printList(rows, COLUMNS)))).toEqual({ data: rows });
    expect(JSON.parse(printed(true, (printer) => printer.printList([], COLUMNS)))).toEqual({ data: [] });
  });

  it('prints one result as text or as JSON', () => {
    expect(printed(false, (printer) => printer.printResult(rows[0], (row) => row?.name ?? ''))).toBe('long name\n');
    expect(JSON.parse(printed(true, (printer) => printer.printResult(rows[0], () => '')))).toEqual(rows[0]);
  });

  it('replaces control characters, so that data cannot control the terminal', () => {
    const hostile = [{ name: 'a\u001b[31m\nb\u202e', count: 0 }];
    expect(printed(false, (printer) => printer.printList(hostile, COLUMNS))).toBe('NAME       COUNT\na [31m b   0\n');
  });
});

/** A simulated user at a terminal, and the output shown there. */
function terminal(...typed: readonly string[]) {
  const input = Object.assign(new PassThrough(), { isTTY: true, isRaw: false, setRawMode: (_on: boolean) => input });
  const modes: boolean[] = [];
  input.setRawMode = (on) => {
    modes.push(on);
    return input;
  };
  let shown = '';
  const lines = [...typed];
  const write = (text: string) => {
    shown += text;
    // Typed after the prompt appears.
    if (text.endsWith(': ')) input.write(lines.shift() ?? '');
  };
  const { signal } = new AbortController();
  return { read: () => readPassword({ input, err: { write }, signal }), shown: () => shown, modes };
}

describe('a password at a terminal', () => {
  it('is requested twice, and neither shown nor echoed by the terminal', async () => {
    const { read, shown, modes } = terminal('harbour 1\r', 'harbour 1\r');
    expect(await read()).toBe('harbour 1');
    expect(shown()).toBe('Password: \nAgain: \n');
    expect([modes[0], modes.at(-1)]).toEqual([true, false]);
  });

  it('can be corrected while it is typed', async () => {
    const { read } = terminal('harbouv\u007fr\r', 'harbour\r');
    expect(await read()).toBe('harbour');
  });

  it.each([
    ['the two passwords differ; enter the same password twice', ['one\r', 'other\r']],
    ['no password was entered', ['\u0004']],
    ['standard input contains no password', ['\r', '\r']],
    ['the command was interrupted by the user', ['\u0003']],
  ])('is refused: %s', async (message, typed) => {
    const { read, modes } = terminal(...typed);
    await expect(read()).rejects.toThrow(message);
    expect(modes.at(-1)).toBe(false);
  });
});

it.each(['', '\n', 'two\nlines\n'])('what comes through a pipe as %j is no password', async (text) => {
  const { signal } = new AbortController();
  const input = Readable.from([text]);
  await expect(readPassword({ input, err: { write: () => undefined }, signal })).rejects.toThrow(/password/);
});

it('is canceled if the command is interrupted before the pipe ends', async () => {
  const interrupted = new AbortController();
  const reading = readPassword({
    input: new PassThrough(),
    err: { write: () => undefined },
    signal: interrupted.signal,
  });
  interrupted.abort();
  await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
});
