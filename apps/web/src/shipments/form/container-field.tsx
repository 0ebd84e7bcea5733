import { Stack, TagsInput, Text } from '@mantine/core';
import { checkDigitOf, withRightCheckDigit } from '../../values/codes.ts';
import { containerNumbersIn } from './check-values.ts';
import type { ShipmentForm } from './shipment-form.tsx';

/** Numbers of containers, typed or pasted, each with its check digit looked at at once. */
export function ContainerField({ form }: { readonly form: ShipmentForm }) {
  const { onChange: _onChange, ...input } = form.getInputProps('container_numbers');
  const doubtful = form.values.container_numbers.filter((number) => withRightCheckDigit(number) !== undefined);
  return (
    <Stack gap={4}>
      <TagsInput
        {...input}
        label="Container numbers"
        description="Type or paste them, with commas or line breaks between"
        placeholder={form.values.container_numbers.length === 0 ? 'CSQU3054383' : undefined}
        splitChars={[',', ';', '\n', '\t']}
        onChange={(texts) => form.setFieldValue('container_numbers', containerNumbersIn(texts))}
        clearable
        clearButtonProps={{ 'aria-label': 'Remove all containers' }}
      />
      <Stack gap={2} aria-live="polite">
        {doubtful.map((number) => (
          <Text key={number} size="sm" className="late">
            <b>{number}</b>: its check digit would be {checkDigitOf(number)}. Look whether a digit is mistyped; saved as
            it is, it opens an exception.
          </Text>
        ))}
      </Stack>
    </Stack>
  );
}
