import { ActionIcon, Button, Stack, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import type { ShipmentForm } from './shipment-form.tsx';
import classes from './shipment-form.module.css';

const MOST = 50;

interface Props {
  readonly form: ShipmentForm;
  readonly field: 'references' | 'metadata';
  /** "Kind": what the first of the two is. */
  readonly first: string;
  readonly firstExample: string;
  /** "a reference" */
  readonly one: string;
}

/** Rows of a name and a value. */
export function PairRows({ form, field, first, firstExample, one }: Props) {
  const rows = form.values[field];
  const key = field === 'references' ? 'type' : 'name';
  const add = () =>
    field === 'references'
      ? form.insertListItem(field, { type: '', value: '' })
      : form.insertListItem(field, { name: '', value: '' });
  return (
    <Stack gap="xs">
      {rows.map((_, index) => (
        // Nothing but its place tells a row from the others.
        <div key={index} className={classes['row']}>
          <TextInput
            {...form.getInputProps(`${field}.${index}.${key}`)}
            aria-label={`${first} ${index + 1}`}
            placeholder={firstExample}
          />
          <TextInput
            {...form.getInputProps(`${field}.${index}.value`)}
            aria-label={`Value ${index + 1}`}
            placeholder="Value"
          />
          <ActionIcon
            size={36}
            variant="subtle"
            color="gray"
            aria-label={`Remove ${one} ${index + 1}`}
            onClick={() => form.removeListItem(field, index)}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </div>
      ))}
      <Button
        variant="default"
        w="fit-content"
        leftSection={<IconPlus size={16} aria-hidden />}
        onClick={add}
        disabled={rows.length >= MOST}
      >
        Add {one}
      </Button>
    </Stack>
  );
}
