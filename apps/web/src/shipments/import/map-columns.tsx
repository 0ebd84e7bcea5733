import { Select, Table } from '@mantine/core';
import { TARGETS, type Mapping, type Target, withTarget } from './columns.ts';
import type { Sheet } from './read-file.ts';
import classes from './import-page.module.css';

const OPTIONS = Object.entries(TARGETS).map(([value, label]) => ({ value, label }));
const SAMPLES = 3;

interface Props {
  readonly sheet: Sheet;
  readonly mapping: Mapping;
  readonly onChange: (mapping: Mapping) => void;
}

/** What each column of the file is. */
export function MapColumns({ sheet, mapping, onChange }: Props) {
  return (
    <Table.ScrollContainer minWidth={340}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Column of the file</Table.Th>
            <Table.Th>For example</Table.Th>
            <Table.Th w={220}>Is</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sheet.headers.map((header, index) => (
            // Two columns may have one name.
            <Table.Tr key={index}>
              <Table.Td>{header}</Table.Td>
              <Table.Td className={classes['sample']}>{samplesOf(sheet, index)}</Table.Td>
              <Table.Td>
                <Select
                  aria-label={`What “${header}” is`}
                  data={OPTIONS}
                  value={mapping[index] ?? null}
                  onChange={(target) => onChange(withTarget(mapping, index, target as Target | null))}
                  placeholder="Left out"
                  clearable
                  clearButtonProps={{ 'aria-label': `Leave “${header}” out` }}
                  searchable
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function samplesOf({ rows }: Sheet, column: number): string {
  const samples = new Set<string>();
  for (const row of rows) {
    const cell = row[column] ?? '';
    if (cell !== '') samples.add(cell);
    if (samples.size === SAMPLES) break;
  }
  return [...samples].join(', ');
}
