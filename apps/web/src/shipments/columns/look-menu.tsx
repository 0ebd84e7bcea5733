import { Button, Checkbox, Popover, SegmentedControl, Stack, Text } from '@mantine/core';
import { IconColumns3 } from '@tabler/icons-react';
import { COLUMN_NAMES, USUAL_COLUMNS } from './column-names.ts';
import { COLUMNS } from './columns.tsx';
import classes from './look-menu.module.css';
import type { Density, Look } from './use-look.ts';

const DENSITIES: { readonly value: Density; readonly label: string }[] = [
  { value: 'comfortable', label: 'Comfortable' },
  { value: 'compact', label: 'Compact' },
];

export function LookMenu({ look }: { readonly look: Look }) {
  return (
    <Popover position="bottom-end" trapFocus>
      <Popover.Target>
        <Button variant="default" leftSection={<IconColumns3 size={16} aria-hidden />} className={classes['target']}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Columns and density">
        <Stack gap="sm">
          <SegmentedControl
            size="xs"
            aria-label="Density"
            value={look.density}
            data={DENSITIES}
            onChange={(value) => look.setDensity(value as Density)}
          />
          <Checkbox.Group value={[...look.columns]} onChange={look.setColumns} label="Columns">
            <div className={classes['columns']}>
              {COLUMN_NAMES.map((name) => (
                <Checkbox
                  key={name}
                  size="xs"
                  value={name}
                  label={COLUMNS[name].label}
                  // The last one stays.
                  disabled={look.columns.length === 1 && look.columns[0] === name}
                />
              ))}
            </div>
          </Checkbox.Group>
          <Button size="xs" variant="default" onClick={() => look.setColumns(USUAL_COLUMNS)}>
            Usual columns
          </Button>
          <Text size="xs" c="dimmed">
            Columns stand in the address, too.
          </Text>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
