import { ActionIcon, Button, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconPlus, IconTrash } from '@tabler/icons-react';
import { EMPTY_LEG } from './form-values.ts';
import { JourneyFields } from './journey-fields.tsx';
import type { ShipmentForm } from './shipment-form.tsx';
import classes from './shipment-form.module.css';

const MOST_LEGS = 50;

/** The legs in their order. */
export function LegFields({ form }: { readonly form: ShipmentForm }) {
  const { legs } = form.values;
  const add = () => {
    // A leg begins where the one before it ended.
    const origin_port = legs.at(-1)?.destination_port ?? (legs.length === 0 ? form.values.origin_port : null);
    form.setFieldValue('legs', [...legs, { ...EMPTY_LEG, origin_port }]);
  };
  return (
    <Stack gap="sm">
      {legs.length === 0 && (
        <Text size="sm" c="dimmed">
          Without any there is one leg, from the shipment’s first port to its last.
        </Text>
      )}
      {legs.map((_, index) => (
        // Nothing but its place tells a leg from the others.
        <Leg key={index} form={form} index={index} />
      ))}
      <Button
        variant="default"
        leftSection={<IconPlus size={16} aria-hidden />}
        w="fit-content"
        onClick={add}
        disabled={legs.length >= MOST_LEGS}
      >
        Add a leg
      </Button>
    </Stack>
  );
}

function Leg({ form, index }: { readonly form: ShipmentForm; readonly index: number }) {
  const { legs } = form.values;
  const name = `leg ${index + 1}`;
  const move = (to: number) => form.reorderListItem('legs', { from: index, to });
  return (
    <Paper withBorder p="sm" role="group" aria-label={`Leg ${index + 1}`}>
      <Group justify="space-between" mb="xs">
        <Title order={3} size="h6">
          Leg {index + 1}
        </Title>
        <Group gap={4}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Move ${name} up`}
            disabled={index === 0}
            onClick={() => move(index - 1)}
          >
            <IconArrowUp size={16} />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Move ${name} down`}
            disabled={index === legs.length - 1}
            onClick={() => move(index + 1)}
          >
            <IconArrowDown size={16} />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove ${name}`}
            onClick={() => form.removeListItem('legs', index)}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      </Group>
      <div className={classes['fields']}>
        <JourneyFields form={form} leg={index} />
        <TextInput {...form.getInputProps(`legs.${index}.vessel`)} label="Vessel" />
        <TextInput {...form.getInputProps(`legs.${index}.voyage`)} label="Voyage, flight or trip" />
      </div>
    </Paper>
  );
}
