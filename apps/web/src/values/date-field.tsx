import { TextInput, type TextInputProps } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { DAYS, TIMES } from './zones.ts';

const LIMITS = { date: DAYS, 'datetime-local': TIMES } as const;

interface Props extends Omit<TextInputProps, 'type' | 'value' | 'onChange' | 'error'> {
  readonly type: keyof typeof LIMITS;
  /** As the browser's fields have it: `2026-12-15` or `2026-12-15T10:30`; empty for none. */
  readonly value: string;
  /** Called with a whole date within the limits, or undefined when the field is emptied. */
  readonly onChange: (value: string | undefined) => void;
}

/** A date, or a date and time, that is typed in the browser's own field. What is half typed stays as it is and is not reported. */
export function DateField({ value, onChange, type, ...input }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const [error, setError] = useState<string>();
  const show = () => {
    if (field.current !== null && field.current.value !== value) field.current.value = value;
  };
  // Not a controlled field: that would replace the year at each of its digits.
  useEffect(() => {
    if (document.activeElement !== field.current) show();
  });
  return (
    <TextInput
      {...LIMITS[type]}
      {...input}
      ref={field}
      type={type}
      defaultValue={value}
      error={error}
      onChange={({ currentTarget: { value: text, validity } }) => {
        setError(undefined);
        if (validity.valid) onChange(text === '' ? undefined : text);
      }}
      onBlur={({ currentTarget: { validity, validationMessage } }) => {
        if (validity.valid) show();
        else setError(validationMessage);
      }}
    />
  );
}
