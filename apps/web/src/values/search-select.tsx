import {
  MultiSelect,
  type MultiSelectProps,
  Select,
  type SelectProps,
  getOptionsLockup,
  getParsedComboboxData,
} from '@mantine/core';
import { type FocusEvent, type KeyboardEvent, type ReactNode, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { type SelectChoice, findChoiceByText } from './codes.ts';

const MUST_CHOOSE_LIST_ENTRY_MESSAGE = 'Choose an entry from the list, or clear the field.';

/**
 * Finds the option that a typed text means. `isEntered` is true if the user pressed Enter, and false if the field lost
 * the focus.
 */
export type FindChoice = (
  text: string,
  isEntered: boolean,
) => SelectChoice | undefined | Promise<SelectChoice | undefined>;

interface SearchableSelectOptions {
  /** Label of the selected option. Empty if no option is selected. */
  readonly shown: string;
  readonly find: FindChoice;
  readonly onFound: (choice: SelectChoice) => void;
  /** Returns the text that the field shows after an option was selected. */
  readonly textOf: (choice: SelectChoice) => string;
  readonly error?: ReactNode;
  readonly onSearchChange?: ((text: string) => void) | undefined;
}

/**
 * Returns the state of a select field with a search. Enter selects the option that matches the typed text. Leaving the
 * field does the same. If no option matches, the field keeps the text and shows an error, and the form cannot be
 * submitted.
 */
function useSearchableSelectState({ shown, find, onFound, textOf, error, onSearchChange }: SearchableSelectOptions) {
  const [text, setText] = useState(shown);
  const [isRefused, setIsRefused] = useState(false);
  const wrapper = useRef<HTMLDivElement>(null);
  const latest = useRef(text);
  const isLeaving = useRef(false);
  const isUntaken = text !== shown;
  useLayoutEffect(() => {
    const field = wrapper.current?.querySelector<HTMLInputElement>('input:not([type=hidden])');
    field?.setCustomValidity(isUntaken ? MUST_CHOOSE_LIST_ENTRY_MESSAGE : '');
  }, [isUntaken]);

  const change = (next: string) => {
    latest.current = next;
    setText(next);
    setIsRefused(false);
    onSearchChange?.(next);
  };
  const attempt = (isEntered: boolean) => {
    const typed = latest.current;
    const finish = (choice: SelectChoice | undefined) => {
      // The result is ignored if the user has changed the text during the request.
      if (latest.current !== typed) return;
      if (choice === undefined) return setIsRefused(true);
      onFound(choice);
      change(textOf(choice));
    };
    const found = find(typed, isEntered);
    // A known option is selected synchronously, because a click on the submit button may follow immediately.
    if (!(found instanceof Promise)) return finish(found);
    found.then(finish, () => finish(undefined));
  };
  const isField = ({ target }: { readonly target: EventTarget }) => target instanceof HTMLInputElement;
  return {
    searchValue: text,
    onSearchChange: (next: string) => {
      // Mantine clears the text of a field that loses the focus. This change is ignored.
      if (!isLeaving.current) change(next);
    },
    error: error ?? (isRefused && isUntaken ? MUST_CHOOSE_LIST_ENTRY_MESSAGE : undefined),
    wrapperProps: {
      ref: wrapper,
      onKeyDown: (event: KeyboardEvent) => {
        // If the user moved to an option with the arrow keys, Mantine has already handled the Enter key.
        if (event.key !== 'Enter' || event.nativeEvent.isComposing || event.defaultPrevented || !isField(event)) return;
        if (!isUntaken) return;
        event.preventDefault();
        attempt(true);
      },
      onBlurCapture: () => {
        isLeaving.current = true;
      },
      onBlur: (event: FocusEvent) => {
        isLeaving.current = false;
        if (isUntaken && isField(event)) attempt(false);
      },
    },
  };
}

interface SearchSelectProps extends Omit<
  SelectProps,
  'searchable' | 'searchValue' | 'wrapperProps' | 'value' | 'onChange'
> {
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
  /** Finds the option that a typed text means. By default, the text is compared with the labels of the options. */
  readonly find?: FindChoice;
}

/** Select field with a search, for one option. */
export function SearchableSelectField({ value, onChange, find, error, onSearchChange, ...props }: SearchSelectProps) {
  const choices = useChoicesFromSelectData(props.data);
  const shown = choices.find((choice) => choice.value === value)?.label ?? '';
  const understand: FindChoice = (text, isEntered) => {
    if (text.trim() === '') return value === null || props.clearable ? EMPTY_FIELD_OPTION : { value, label: shown };
    return find === undefined ? findChoiceByText(text, choices) : find(text, isEntered);
  };
  const typing = useSearchableSelectState({
    shown,
    find: understand,
    onFound: (choice) => {
      const next = choice === EMPTY_FIELD_OPTION ? null : choice.value;
      if (next !== value) onChange(next);
    },
    textOf: ({ label }) => label,
    error,
    onSearchChange,
  });
  return <Select {...props} {...typing} value={value} onChange={(next) => onChange(next)} searchable />;
}

/** Option that stands for an empty field. */
const EMPTY_FIELD_OPTION: SelectChoice = { value: '', label: '' };

interface SearchableMultiSelectProps extends Omit<
  MultiSelectProps,
  'searchable' | 'searchValue' | 'wrapperProps' | 'value' | 'onChange'
> {
  readonly value: string[];
  readonly onChange: (value: string[]) => void;
}

/** Select field with a search, for several options. */
export function SearchMultiSelect({ value, onChange, error, onSearchChange, ...props }: SearchableMultiSelectProps) {
  const choices = useChoicesFromSelectData(props.data);
  const typing = useSearchableSelectState({
    shown: '',
    find: (text) => (text.trim() === '' ? EMPTY_FIELD_OPTION : findChoiceByText(text, choices)),
    onFound: (choice) => {
      if (choice !== EMPTY_FIELD_OPTION && !value.includes(choice.value)) onChange([...value, choice.value]);
    },
    textOf: () => '',
    error,
    onSearchChange,
  });
  return <MultiSelect {...props} {...typing} value={value} onChange={onChange} searchable />;
}

function useChoicesFromSelectData(data: SelectProps['data']): readonly SelectChoice[] {
  return useMemo(
    () =>
      Object.values(getOptionsLockup(getParsedComboboxData(data))).map(({ value, label }) => ({
        value: `${value}`,
        label,
      })),
    [data],
  );
}

/** Props of a single-choice select field, with or without a search. */
export interface OptionallySearchableSelectProps extends Omit<SelectProps, 'value' | 'onChange'> {
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
}
export interface OptionallySearchableMultiSelectProps extends Omit<MultiSelectProps, 'value' | 'onChange'> {
  readonly value: string[];
  readonly onChange: (value: string[]) => void;
}

export function OptionallySearchableSelect({ searchable, ...props }: OptionallySearchableSelectProps) {
  return searchable ? (
    <SearchableSelectField {...props} />
  ) : (
    <Select {...props} onChange={(next) => props.onChange(next)} />
  );
}

/** Select field for several options. The search is optional. */
export function OptionallySearchableMultiSelect({ searchable, ...props }: OptionallySearchableMultiSelectProps) {
  return searchable ? <SearchMultiSelect {...props} /> : <MultiSelect {...props} />;
}
