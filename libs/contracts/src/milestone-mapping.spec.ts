import { readFileSync } from 'node:fs';
import { FOREIGN_CODES, type MilestoneStandard } from './foreign-codes.ts';
import { MILESTONE_CATALOG, type MilestoneCatalogEntry } from './milestone-catalog.ts';
import { TRANSPORT_MODES } from './shipment.ts';

const GUIDE = readFileSync(new URL('../../../docs/guides/statuses-and-milestones.md', import.meta.url), 'utf8');

type Row = readonly string[];

const quoted = (text: string | null) => (text === null ? '' : `\`${text}\``);

function modes({ modes }: MilestoneCatalogEntry): string {
  return modes.length === TRANSPORT_MODES.length ? 'all' : modes.filter((mode) => mode !== 'multimodal').join(' ');
}

function catalog(): readonly Row[] {
  return MILESTONE_CATALOG.map((entry) => {
    const { code, description, status, once_per_visit, dcsa, x12_315, x12_214, rec24 } = entry;
    return [
      ...[code, status].map(quoted),
      modes(entry),
      once_per_visit ? 'yes' : '',
      ...[dcsa, x12_315, x12_214, rec24].map(quoted),
      description,
    ];
  });
}

/** Foreign codes in order, each with the catalog codes that it can mean. For DCSA, the first word is the code. */
function mapping(standard: MilestoneStandard): readonly Row[] {
  const rows = MILESTONE_CATALOG.flatMap(({ code, label, standards }): readonly Row[] =>
    standards[standard].map((foreign) => {
      const [, , classifier] = FOREIGN_CODES[standard].find(([name]) => name === foreign) ?? [];
      const meaning = [quoted(code), classifier === undefined ? label : `${label}, ${classifier}`];
      if (standard !== 'dcsa') return [quoted(foreign), ...meaning];
      const [event = '', ...rest] = foreign.split(' ');
      return [quoted(event), quoted(rest.join(' ') || null), ...meaning];
    }),
  );
  return rows.toSorted(([a = ''], [b = '']) => a.localeCompare(b, 'en', { numeric: true }));
}

/** Returns the rows of the first table after a heading, without its header. */
function tableUnder(heading: string): readonly Row[] {
  const [, section = ''] = GUIDE.split(`\n## ${heading}\n`);
  const [table = ''] = /(?:^\|.*\n)+/m.exec(section) ?? [];
  return table
    .trimEnd()
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
}

describe('the guide to statuses and milestones', () => {
  it('lists every code of the catalog unchanged', () => {
    expect(tableUnder('Our codes')).toEqual(catalog());
  });

  it.each([
    ['From DCSA', 'dcsa'],
    ['From X12 315', 'x12_315'],
    ['From X12 214', 'x12_214'],
    ['From EDIFACT IFTSTA', 'iftsta'],
    ['From IATA FSU', 'iata_fsu'],
  ] as const)('%s: lists every code with all its possible meanings', (heading, standard) => {
    expect(tableUnder(heading)).toEqual(mapping(standard));
  });
});
