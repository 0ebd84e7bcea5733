import { ActionIcon, Button, Group, Paper, Select, Stack, Text, TextInput, Title } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconPlus, IconTrash } from '@tabler/icons-react';
import { MODE_OPTIONS } from '../../values/codes.ts';
import { PlaceSelect } from '../../values/place-select.tsx';
import { ExpectedTimeField } from '../../values/time-fields.tsx';
import { EMPTY_LEG_VALUES, type ShipmentForm } from './form-values.ts';
import classes from './shipment-form.module.css';

interface JourneyFieldsProps {
  readonly form: ShipmentForm;
  /** Index of the leg whose fields are shown. If left out, the fields describe the route of the whole shipment. */
  readonly leg?: number;
}

/** Form fields for the route of a shipment, or of one of its legs. */
export function RouteFormFields({ form, leg }: JourneyFieldsProps) {
  const prefix = leg === undefined ? '' : `legs.${leg}.`;
  const values = leg === undefined ? form.values : form.values.legs[leg];
  if (values === undefined) return null;
  return (
    <>
      <Select
        {...form.getInputProps(`${prefix}mode`)}
        label="Mode"
        placeholder={leg === undefined ? 'Select a mode' : 'Same mode as the shipment'}
        data={MODE_OPTIONS}
        clearable
        clearButtonProps={{ 'aria-label': 'Clear mode' }}
      />
      <TextInput
        {...form.getInputProps(`${prefix}carrier_scac`)}
        label="Carrier"
        placeholder="SCAC, such as MAEU"
        autoCapitalize="characters"
        spellCheck={false}
      />
      <PlaceSelect {...form.getInputProps(`${prefix}origin_port`)} value={values.origin_port} label="Origin" />
      <PlaceSelect
        {...form.getInputProps(`${prefix}destination_port`)}
        value={values.destination_port}
        label="Destination"
      />
      <ExpectedTimeField
        {...form.getInputProps(`${prefix}etd`)}
        value={values.etd}
        label="Departure (ETD)"
        place={values.origin_port}
      />
      <ExpectedTimeField
        {...form.getInputProps(`${prefix}eta`)}
        value={values.eta}
        label="Arrival (ETA)"
        place={values.destination_port}
      />
    </>
  );
}

const MAX_LEGS = 50;

/** Form fields for the legs of a shipment, in travel order. */
export function LegFormFields({ form }: { readonly form: ShipmentForm }) {
  const { legs } = form.values;
  const add = () => {
    // A new leg starts where the previous leg ends.
    const origin_port = legs.at(-1)?.destination_port ?? (legs.length === 0 ? form.values.origin_port : null);
    form.setFieldValue('legs', [...legs, { ...EMPTY_LEG_VALUES, origin_port }]);
  };
  return (
    <Stack gap="sm">
      {legs.length === 0 && (
        <Text size="sm" c="dimmed">
          Without legs, the journey is one leg from origin to destination.
        </Text>
      )}
      {legs.map((_, index) => (
        // The position of the leg is its key, because legs have no id.
        <LegFormItem key={index} form={form} index={index} />
      ))}
      <Button
        variant="default"
        leftSection={<IconPlus size={16} aria-hidden />}
        w="fit-content"
        onClick={add}
        disabled={legs.length >= MAX_LEGS}
      >
        Add leg
      </Button>
    </Stack>
  );
}

function LegFormItem({ form, index }: { readonly form: ShipmentForm; readonly index: number }) {
  const { legs } = form.values;
  const name = `leg ${index + 1}`;
  const move = (to: number) => form.reorderListItem('legs', { from: index, to });
  return (
    <Paper withBorder p="sm" role="group" aria-label={`Leg ${index + 1}`}>
      <Group justify="space-between" mb="xs">
        <Title order={3} size="h6">
          {`Leg ${index + 1}`}
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
        <RouteFormFields form={form} leg={index} />
        <TextInput {...form.getInputProps(`legs.${index}.vessel`)} label="Vessel" />
        <TextInput {...form.getInputProps(`legs.${index}.voyage`)} label="Voyage, flight or trip number" />
      </div>
    </Paper>
  );
}
