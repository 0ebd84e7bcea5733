import { readFile } from 'node:fs/promises';
import { generatePlaceTableFile, PLACE_TABLE_FILE } from './make-table.ts';

it('the table of known places matches the packages (otherwise run node test/make-table.ts)', async () => {
  expect((await generatePlaceTableFile()) === (await readFile(PLACE_TABLE_FILE, 'utf8'))).toBe(true);
}, 60_000);
