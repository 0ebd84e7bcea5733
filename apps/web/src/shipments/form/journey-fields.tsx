import { Select, TextInput } from '@mantine/core';
import { PlaceSelect } from '../../values/place-select.tsx';
import { MODE_OPTIONS } from '../../values/codes.ts';
import { TimeInput } from '../../values/time-fields.tsx';
import type { ShipmentForm } from './shipment-form.tsx';

interface Props {
  readonly form: ShipmentForm;
  /** Of one leg; of the shipment in all where absent. */
  readonly leg?: number;
}

/** How goods go from one place to another: in all, and on one leg. */
export function JourneyFields({ form, leg }: Props) {
  const prefix = leg === undefined ? '' : `legs.${leg}.`;
  const values = leg === undefined ? form.values : form.values.legs[leg];
  if (values === undefined) return null;
  return (
    <>
      <Select
        {...form.getInputProps(`${prefix}mode`)}
        label="Mode"
        placeholder={leg === undefined ? 'Choose' : 'As the shipment'}
        data={MODE_OPTIONS}
        clearable
        clearButtonProps={{ 'aria-label': 'Clear the mode' }}
      />
      <TextInput
        {...form.getInputProps(`${prefix}carrier_scac`)}
        label="Carrier"
        placeholder="SCAC, as MAEU"
        autoCapitalize="characters"
        spellCheck={false}
      />
      <PlaceSelect {...form.getInputProps(`${prefix}origin_port`)} value={values.origin_port} label="From" />
      <PlaceSelect {...form.getInputProps(`${prefix}destination_port`)} value={values.destination_port} label="To" />
      <TimeInput
        {...form.getInputProps(`${prefix}etd`)}
        value={values.etd}
        label="Departure (ETD)"
        place={values.origin_port}
      />
      <TimeInput
        {...form.getInputProps(`${prefix}eta`)}
        value={values.eta}
        label="Arrival (ETA)"
        place={values.destination_port}
      />
    </>
  );
}
