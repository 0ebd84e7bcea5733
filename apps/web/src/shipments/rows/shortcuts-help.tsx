import { Kbd, Modal, Table } from '@mantine/core';
import { Fragment } from 'react';

const KEYBOARD_SHORTCUTS: readonly { readonly keys: readonly string[]; readonly does: string }[] = [
  { keys: ['J', '↓'], does: 'Go to the next shipment' },
  { keys: ['K', '↑'], does: 'Go to the previous shipment' },
  { keys: ['Page Down', 'Page Up'], does: 'Go to the next or previous page of rows' },
  { keys: ['Home', 'End'], does: 'Go to the first or last loaded shipment' },
  { keys: ['Enter'], does: 'Open the shipment' },
  { keys: ['X'], does: 'Select or deselect the shipment' },
  { keys: ['Shift J', 'Shift K'], does: 'Extend the selection' },
  { keys: ['Esc'], does: 'Clear the selection' },
  { keys: ['/'], does: 'Go to the search field' },
  { keys: ['?'], does: 'Show keyboard shortcuts' },
];

export function ShortcutsHelp({ opened, onClose }: { readonly opened: boolean; readonly onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts">
      <Table withRowBorders={false}>
        <Table.Tbody>
          {KEYBOARD_SHORTCUTS.map(({ keys, does }) => (
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
