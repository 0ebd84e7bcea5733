import { Button, Group, Menu, Stack, TextInput, type TextInputProps } from '@mantine/core';
import { IconClock } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useEnvironment } from '../session/session.ts';
import { placeQuery } from './places.ts';
import {
  DATE_LIMITS,
  USER_TIME_ZONE,
  DATE_TIME_LIMITS,
  getDateInZone,
  isDateOnly,
  parseLocalInputValue,
  convertLocalTimeToUtc,
  toLocalInputValue,
  toWallClock,
  formatZone,
} from './zones.ts';

interface TimeRangeBounds {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

const HOUR_MS = 3_600_000;
const RECENT_RANGES = [
  { label: 'Last hour', ms: HOUR_MS },
  { label: 'Last 24 hours', ms: 24 * HOUR_MS },
  { label: 'Last 7 days', ms: 7 * 24 * HOUR_MS },
] as const;

interface TimeRangeFieldsProps {
  readonly range: TimeRangeBounds;
  readonly onChange: (range: TimeRangeBounds) => void;
}

/**
 * Form fields for a time range in the user's time zone. If the user chooses a recent range, the URL contains fixed
 * times. A shared URL therefore always shows the same range.
 */
export function TimeRangeFields({ range: { since, until }, onChange }: TimeRangeFieldsProps) {
  const minute = (ms: number) => new Date(Math.floor(ms / 60_000) * 60_000).toISOString();
  return (
    <Group gap="xs" align="end">
      <DateField
        type="datetime-local"
        size="xs"
        label="From"
        value={toLocalInputValue(since)}
        onChange={(text) => onChange({ since: parseLocalInputValue(text), until })}
      />
      <DateField
        type="datetime-local"
        size="xs"
        label="To"
        value={toLocalInputValue(until)}
        onChange={(text) => onChange({ since, until: parseLocalInputValue(text) })}
      />
      <Menu position="bottom-start">
        <Menu.Target>
          <Button size="xs" variant="default" leftSection={<IconClock size={14} aria-hidden />}>
            Choose a recent period
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {RECENT_RANGES.map(({ label, ms }) => (
            <Menu.Item key={label} onClick={() => onChange({ since: minute(Date.now() - ms) })}>
              {label}
            </Menu.Item>
          ))}
          <Menu.Item onClick={() => onChange({})}>Any time</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}

const DATE_LIMITS_BY_INPUT_TYPE = { date: DATE_LIMITS, 'datetime-local': DATE_TIME_LIMITS } as const;

interface DateFieldProps extends Omit<TextInputProps, 'type' | 'value' | 'onChange'> {
  readonly type: keyof typeof DATE_LIMITS_BY_INPUT_TYPE;
  /** Value of the native date field, such as `2026-12-15` or `2026-12-15T10:30`. Empty if no date is set. */
  readonly value: string;
  /** Callback that receives a complete and valid date, or undefined after the field was cleared. */
  readonly onChange: (value: string | undefined) => void;
}

/**
 * Native form field for a date, or for a date and time. An incomplete value stays in the field, and the callback does
 * not receive it.
 * @param error error from the API or the form; an incomplete value is reported instead
 */
export function DateField({ value, onChange, type, error, ...input }: DateFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const [inputError, setInputError] = useState<string>();
  const show = () => {
    if (field.current !== null && field.current.value !== value) field.current.value = value;
  };
  // The input element is uncontrolled, because React would replace the year after each typed digit.
  useEffect(() => {
    if (document.activeElement !== field.current) show();
  });
  return (
    <TextInput
      {...DATE_LIMITS_BY_INPUT_TYPE[type]}
      {...input}
      ref={field}
      type={type}
      defaultValue={value}
      error={inputError ?? error}
      onChange={({ currentTarget: { value: text, validity } }) => {
        setInputError(undefined);
        if (validity.valid) onChange(text === '' ? undefined : text);
      }}
      onBlur={({ currentTarget: { validity, validationMessage } }) => {
        if (validity.valid) show();
        else setInputError(validationMessage);
      }}
    />
  );
}

interface TimeInputProps {
  readonly label: string;
  /** Value of the field: an ISO 8601 time in UTC, a date such as `2026-12-09`, or null if no time is set. */
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
  /**
   * Code of the place whose time zone applies. If the time zone of the place is unknown, the user's time zone applies.
   */
  readonly place: string | null;
  readonly error?: ReactNode;
  readonly 'data-path'?: string;
}

/** Form field for an expected time at a place: a local time, or only a date, which means the whole day. */
export function ExpectedTimeField({ value, onChange, place, ...input }: TimeInputProps) {
  const { data } = useQuery({ ...placeQuery(useEnvironment(), place ?? ''), enabled: place !== null });
  const zone = data?.timezone ?? USER_TIME_ZONE;
  const [prefersDate, setPrefersDate] = useState(false);
  const isDate = value === null ? prefersDate : isDateOnly(value);
  const switchForm = (toDate: boolean) => {
    setPrefersDate(toDate);
    if (value !== null)
      onChange(toDate ? getDateInZone(value, zone) : (convertLocalTimeToUtc(`${value}T00:00`, zone) ?? null));
  };
  return (
    <Stack gap={4}>
      {isDate ? (
        <DateField
          {...input}
          type="date"
          value={value ?? ''}
          onChange={(date) => onChange(date ?? null)}
          description="Whole day at the place"
          inputWrapperOrder={['label', 'input', 'description', 'error']}
        />
      ) : (
        <LocalTimeInput {...input} value={value} onChange={onChange} zone={zone} />
      )}
      <Button size="compact-xs" variant="subtle" w="fit-content" onClick={() => switchForm(!isDate)}>
        {isDate ? 'Enter a time' : 'Enter only a date'}
      </Button>
    </Stack>
  );
}

type LocalTimeInputProps = Omit<TimeInputProps, 'place'> & { readonly zone: string };

/** Form field for a local time in a time zone. If the zone changes, the field still shows the same local time. */
function LocalTimeInput({ value, onChange, zone, ...input }: LocalTimeInputProps) {
  const field = useRef<HTMLInputElement>(null);
  const shown = useRef<{ readonly value: string | null; readonly zone: string; readonly isTyped: boolean }>(undefined);
  // The input element is uncontrolled, because React would discard an incomplete time after each keystroke.
  useEffect(() => {
    const before = shown.current;
    if (field.current === null || (before?.value === value && before.zone === zone)) return;
    const isMoved = before?.isTyped === true && before.value === value && value !== null;
    const instant = isMoved ? (convertLocalTimeToUtc(toWallClock(value, before.zone), zone) ?? value) : value;
    shown.current = { value: instant, zone, isTyped: isMoved };
    field.current.value = toWallClock(instant, zone);
    if (instant !== value) onChange(instant);
  }, [value, zone, onChange]);
  const type = ({ value: text, validity }: HTMLInputElement) => {
    // An incomplete time is reported as an empty text. It must not clear the value.
    if (text === '' && validity.badInput) return;
    const typed = text === '' ? null : convertLocalTimeToUtc(text, zone);
    // An invalid time is ignored, because the limits of the input element already report the error.
    if (typed === undefined) return;
    shown.current = { value: typed, zone, isTyped: true };
    onChange(typed);
  };
  return (
    <TextInput
      {...input}
      ref={field}
      type="datetime-local"
      {...DATE_TIME_LIMITS}
      description={formatZone(zone, value)}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      onChange={(event) => type(event.currentTarget)}
    />
  );
}
