import { Table, Text } from '@mantine/core';
import type { RowError } from './check-rows.ts';
import classes from './import-page.module.css';

/** Shown at once: all of them are in the file to be downloaded. */
const SHOWN = 200;

export function RowErrors({ errors }: { readonly errors: readonly RowError[] }) {
  return (
    <div>
      <div className={classes['errors']} tabIndex={0} role="region" aria-label="What is wrong">
        <Table stickyHeader>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Row</Table.Th>
              <Table.Th>Column</Table.Th>
              <Table.Th>What is wrong</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {errors.slice(0, SHOWN).map(({ row, column, value, message }, index) => (
              // Two errors of one row may say the same of two containers.
              <Table.Tr key={index}>
                <Table.Td>{row}</Table.Td>
                <Table.Td>{column === '' ? '—' : column}</Table.Td>
                <Table.Td>
                  {value !== '' && <b>“{value}” </b>}
                  {message}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      {errors.length > SHOWN && (
        <Text size="sm" c="dimmed">
          And {(errors.length - SHOWN).toLocaleString()} more
        </Text>
      )}
    </div>
  );
}
