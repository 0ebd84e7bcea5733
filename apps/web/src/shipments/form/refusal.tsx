import { InvalidRequestError } from '@tracking/client';
import { useState } from 'react';
import { refusedForm } from './form-errors.ts';
import { FormFailure } from './form-failure.tsx';
import type { ShipmentValues } from './form-values.ts';
import type { ShipmentForm } from './shipment-form.tsx';

interface Told {
  readonly error: unknown;
  readonly others: readonly string[];
}

/** Why the API refused a form: at its fields where it is about those, else above its button. */
export function useRefusal(form: ShipmentForm) {
  const [told, setTold] = useState<Told>();
  return {
    tell(error: unknown, values: ShipmentValues): void {
      const { errors, others } = refusedForm(error instanceof InvalidRequestError ? error.details : [], values);
      form.setErrors(errors);
      const isOfFieldsAlone = Object.keys(errors).length > 0 && others.length === 0;
      setTold(isOfFieldsAlone ? undefined : { error, others });
    },
    forget: () => setTold(undefined),
    /** @param isPaused whether the form waits for the connection */
    shown: (isPaused: boolean) => (
      <FormFailure error={told?.error ?? null} others={told?.others ?? []} isPaused={isPaused} />
    ),
  };
}
