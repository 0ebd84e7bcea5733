import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { useEnvironment } from '../session/session.ts';
import { placeQuery } from './place-queries.ts';
import { OWN_ZONE, TIMES, instantOf, wallClockOf, zoneLabel } from './zones.ts';

interface Props {
  readonly label: string;
  /** ISO 8601 in UTC; null for none. */
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
  /** A code: the time is shown and typed as clocks show it there; in the reader's zone where none is known. */
  readonly place: string | null;
  readonly error?: ReactNode;
  readonly 'data-path'?: string;
}

/** A moment at a place. Another place leaves what the clock shows: an arrival at eight is one at eight there. */
export function TimeInput({ value, onChange, place, ...input }: Props) {
  const { data } = useQuery({ ...placeQuery(useEnvironment(), place ?? ''), enabled: place !== null });
  const zone = data?.timezone ?? OWN_ZONE;
  const field = useRef<HTMLInputElement>(null);
  const shown = useRef<{ readonly value: string | null; readonly zone: string; readonly isTyped: boolean }>(undefined);
  // Not a controlled field: that would lose a half-typed time at each key.
  useEffect(() => {
    const before = shown.current;
    if (field.current === null || (before?.value === value && before.zone === zone)) return;
    const isMoved = before?.isTyped === true && before.value === value && value !== null;
    const there = isMoved ? (instantOf(wallClockOf(value, before.zone), zone) ?? value) : value;
    shown.current = { value: there, zone, isTyped: isMoved };
    field.current.value = wallClockOf(there, zone);
    if (there !== value) onChange(there);
  }, [value, zone, onChange]);
  const type = ({ value: text, validity }: HTMLInputElement) => {
    // A half-typed time reads as an empty one: it clears nothing.
    if (text === '' && validity.badInput) return;
    const typed = text === '' ? null : instantOf(text, zone);
    // Nor does what is no time: the limits of the field refuse it.
    if (typed === undefined) return;
    shown.current = { value: typed, zone, isTyped: true };
    onChange(typed);
  };
  return (
    <TextInput
      {...input}
      ref={field}
      type="datetime-local"
      {...TIMES}
      description={zoneLabel(zone, value)}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      onChange={(event) => type(event.currentTarget)}
    />
  );
}
