import { ActionIcon, Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import type { ReactNode } from 'react';

interface RowMenuProps {
  /** Name of the row, for the label of the menu button. */
  readonly of: string;
  /** Menu items for the actions on the row. */
  readonly children: ReactNode;
}

/** A menu of actions on one row of a list. */
export function RowMenu({ of, children }: RowMenuProps) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${of}`}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}
