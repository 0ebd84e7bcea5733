import type { StoredEventDescriptor } from './descriptor.ts';

/**
 * What was wrong with exceptions that a person resolved is so no longer: should it come back, another one opens. Announces
 * nothing.
 */
export interface ExceptionConditionsEnded {
  readonly type: 'exception.conditions_ended.v1';
  readonly data: { readonly exception_ids: readonly string[] };
}

export const exceptionConditionsEnded: StoredEventDescriptor<ExceptionConditionsEnded> = {
  type: 'exception.conditions_ended.v1',
  applyToState(draft, { exception_ids }) {
    draft.endedConditions = new Set([...draft.endedConditions, ...exception_ids]);
  },
};
