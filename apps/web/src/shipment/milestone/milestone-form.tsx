import {
  Autocomplete,
  Checkbox,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
  Textarea,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { Milestone } from '@tracking/client';
import { useEnvironment, useHasPermission } from '../../session/session.ts';
import { usePlaces } from '../../values/place.tsx';
import { placeSearchQuery } from '../../values/places.ts';
import { SearchableSelectField } from '../../values/search-select.tsx';
import {
  USER_TIME_ZONE,
  DATE_LIMITS,
  DATE_TIME_LIMITS,
  isDateOnly,
  convertLocalTimeToUtc,
  formatInstantInZone,
  toWallClock,
} from '../../values/zones.ts';
import {
  CLASSIFIER_LABELS,
  type Classifier,
  MILESTONE_REASON_OPTIONS,
  DATA_SOURCE_LABELS,
  type Source,
} from '../labels.ts';
import { useShipmentOfPage } from '../shipment-queries.ts';
import { type MilestoneFormValues, buildMilestoneCodeOptions, milestoneCodesQuery } from './milestone-values.ts';

const CLASSIFIER_SELECT_OPTIONS = Object.entries(CLASSIFIER_LABELS).map(([value, label]) => ({ value, label }));
const SOURCE_OPTIONS = Object.entries(DATA_SOURCE_LABELS)
  .filter(([value]) => value !== 'client')
  .map(([value, label]) => ({ value, label }));

export type MilestoneForm = UseFormReturnType<MilestoneFormValues>;

interface MilestoneInputsProps {
  readonly form: MilestoneForm;
  /** Time zone in which the user enters the time. */
  readonly zone: string;
  readonly onZone: (zone: string) => void;
  /**
   * Milestone that the form corrects. Undefined in a form that records a new milestone. The source of a milestone
   * cannot be corrected.
   */
  readonly corrects?: Milestone;
}

/** Form fields of a milestone, for recording and correcting. */
export function MilestoneFormFields({ form, zone, onZone, corrects }: MilestoneInputsProps) {
  const shipment = useShipmentOfPage();
  const codes = useQuery(milestoneCodesQuery(useEnvironment()));
  const mayFeed = useHasPermission('milestones:feed');
  return (
    <Stack gap="sm">
      <SearchableSelectField
        {...form.getInputProps('code')}
        value={form.values.code}
        label="Milestone"
        placeholder={codes.isPending ? 'Loading…' : 'Type to search'}
        data={buildMilestoneCodeOptions(codes.data ?? [], shipment.mode)}
        required
        data-autofocus
      />
      <SegmentedControl
        aria-label="Actual, estimated or planned"
        value={form.values.classifier}
        onChange={(value) => form.setFieldValue('classifier', value as Classifier)}
        data={CLASSIFIER_SELECT_OPTIONS}
      />
      <MilestoneTimeFields form={form} zone={zone} onZone={onZone} />
      <LocationField form={form} zone={zone} onZone={onZone} />
      <Select
        {...form.getInputProps('container_number')}
        label="Container"
        placeholder="All containers"
        data={listSelectableContainers(shipment.container_numbers, corrects)}
        disabled={shipment.container_numbers.length === 0 && corrects?.container_number == null}
        clearable
      />
      <Group grow align="start">
        <TextInput {...form.getInputProps('vessel')} label="Vessel" />
        <TextInput {...form.getInputProps('voyage')} label="Voyage, flight, train or trip number" />
      </Group>
      <Group grow align="start">
        <TextInput {...form.getInputProps('imo')} label="IMO number" />
        <TextInput {...form.getInputProps('terminal')} label="Terminal" />
      </Group>
      <Group grow align="start">
        <TextInput {...form.getInputProps('latitude')} label="Latitude" inputMode="decimal" />
        <TextInput {...form.getInputProps('longitude')} label="Longitude" inputMode="decimal" />
      </Group>
      <Group grow align="start">
        <TextInput {...form.getInputProps('pieces')} label="Pieces" inputMode="numeric" />
        <TextInput {...form.getInputProps('temperature_celsius')} label="Temperature (°C)" inputMode="decimal" />
      </Group>
      <SearchableSelectField
        {...form.getInputProps('reason_code')}
        value={form.values.reason_code}
        label="Reason"
        data={MILESTONE_REASON_OPTIONS}
        clearable
      />
      <Textarea {...form.getInputProps('note')} label="Note" autosize={false} rows={2} />
      <TextInput
        {...form.getInputProps('external_id')}
        label="Your milestone reference"
        description="Your own reference of this milestone, such as a message number. Recording it again corrects the milestone."
      />
      {mayFeed && corrects === undefined && (
        <Select
          label="Source"
          description="All sources except “Manual” are data feeds."
          value={form.values.source}
          onChange={(value) => form.setFieldValue('source', (value ?? 'manual') as Source)}
          error={form.errors['source']}
          data={SOURCE_OPTIONS}
          allowDeselect={false}
        />
      )}
    </Stack>
  );
}

/**
 * Lists the containers that the user can select: all containers of the shipment, and the container of the corrected
 * milestone even if it was removed from the shipment.
 */
function listSelectableContainers(numbers: readonly string[], corrects: Milestone | undefined): string[] {
  return [...new Set([...numbers, corrects?.container_number ?? ''])].filter((number) => number !== '');
}

function MilestoneTimeFields({ form, zone, onZone }: Omit<MilestoneInputsProps, 'corrects'>) {
  const { location, occurred_at } = form.values;
  const there = usePlaces([location.trim()]).get(location.trim())?.timezone;
  const isDate = isDateOnly(occurred_at);
  const at = isDate ? undefined : convertLocalTimeToUtc(occurred_at, zone);
  const switchForm = (toDate: boolean) =>
    form.setFieldValue('occurred_at', toDate ? occurred_at.slice(0, 10) : `${occurred_at}T00:00`);
  const zones = [...new Set([...(there == null ? [] : [there]), zone, USER_TIME_ZONE, 'UTC'])];
  const labels: Readonly<Record<string, string>> = {
    UTC: 'UTC',
    [USER_TIME_ZONE]: `${USER_TIME_ZONE} (your time zone)`,
    ...(there != null && { [there]: `${there} (local time of the place)` }),
  };
  return (
    <Stack gap={4}>
      <Group grow align="start">
        <TextInput
          {...form.getInputProps('occurred_at')}
          label="Time"
          type={isDate ? 'date' : 'datetime-local'}
          {...(isDate ? DATE_LIMITS : DATE_TIME_LIMITS)}
          required
        />
        <Select
          disabled={isDate}
          label="Time zone"
          value={zone}
          onChange={(value) => value !== null && onZone(value)}
          data={zones.map((value) => ({ value, label: labels[value] ?? value }))}
          allowDeselect={false}
        />
      </Group>
      {(isDate || form.values.classifier !== 'actual') && (
        <Checkbox
          size="xs"
          label="Date only"
          description="Whole day at the location"
          checked={isDate}
          disabled={occurred_at === ''}
          onChange={({ currentTarget }) => switchForm(currentTarget.checked)}
        />
      )}
      {at !== undefined && zone !== USER_TIME_ZONE && (
        <Text size="xs" c="dimmed">
          {`${formatInstantInZone(at, USER_TIME_ZONE)} in your time zone`}
        </Text>
      )}
    </Stack>
  );
}

/**
 * Form field for a location: a port found by name, or any text. When the location changes, a time that the user has not
 * edited is converted to the time zone of the new place.
 */
function LocationField({ form, zone, onZone }: Omit<MilestoneInputsProps, 'corrects'>) {
  const environment = useEnvironment();
  const followPlace = (there: string) => {
    const at = isDateOnly(form.values.occurred_at) ? undefined : convertLocalTimeToUtc(form.values.occurred_at, zone);
    if (at === undefined) return;
    form.setFieldValue('occurred_at', toWallClock(at, there));
    form.resetTouched();
    onZone(there);
  };
  const [q] = useDebouncedValue(form.values.location.trim(), 200);
  const found = useQuery(placeSearchQuery(environment, q.length < 2 ? '' : q));
  const places = new Map((found.data ?? []).map((place) => [place.code, place]));
  return (
    <Autocomplete
      {...form.getInputProps('location')}
      label="Location"
      description="Name or code of a port or airport, or any text."
      data={[...places.keys()]}
      filter={({ options }) => options}
      renderOption={({ option: { value } }) => (
        <Text size="sm">
          {places.get(value)?.name ?? value}{' '}
          <Text span c="dimmed" inherit>
            {value}
          </Text>
        </Text>
      )}
      onOptionSubmit={(code) => {
        const there = places.get(code)?.timezone;
        if (there != null && !form.isTouched('occurred_at')) followPlace(there);
      }}
    />
  );
}
