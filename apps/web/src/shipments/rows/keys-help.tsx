import { Kbd, Modal, Table } from '@mantine/core';
import { Fragment } from 'react';

const KEYS: readonly { readonly keys: readonly string[]; readonly does: string }[] = [
  { keys: ['J', '↓'], does: 'Next shipment' },
  { keys: ['K', '↑'], does: 'Previous shipment' },
  { keys: ['Page ↓', 'Page ↑'], does: 'A page further, or back' },
  { keys: ['Home', 'End'], does: 'First, or last that is loaded' },
  { keys: ['Enter'], does: 'Open it' },
  { keys: ['X'], does: 'Select it, or not' },
  { keys: ['Shift J', 'Shift K'], does: 'Select further' },
  { keys: ['Esc'], does: 'Select none' },
  { keys: ['/'], does: 'Search' },
  { keys: ['?'], does: 'These keys' },
];

export function KeysHelp({ opened, onClose }: { readonly opened: boolean; readonly onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keys">
      <Table withRowBorders={false}>
        <Table.Tbody>
          {KEYS.map(({ keys, does }) => (
            <Table.Tr key={does}>
              <Table.Td>
                {keys.map((key) => (
                  <Fragment key={key}>
                    <Kbd>{key}</Kbd>{' '}
                  </Fragment>
                ))}
              </Table.Td>
              <Table.Td>{does}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
