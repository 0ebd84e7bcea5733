import { Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Warning } from '@tracking/client';
import { labelOf } from './form-errors.ts';

/** Tells that something was saved, and what the service found odd about it. */
export function tellSaved(message: string, warnings: readonly Warning[]): void {
  if (warnings.length === 0) {
    notifications.show({ message, color: 'green' });
    return;
  }
  notifications.show({
    title: `${message} But look at this:`,
    color: 'yellow',
    autoClose: false,
    message: (
      <Text component="ul" size="sm" m={0} pl="md">
        {warnings.map(({ code, param, message: warning }) => (
          <li key={`${code} ${param} ${warning}`}>
            {labelOf(param) === undefined ? warning : `${labelOf(param)}: ${warning}`}
          </li>
        ))}
      </Text>
    ),
  });
}
