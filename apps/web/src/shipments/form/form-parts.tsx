import { Alert, Button, Code, Group, Modal, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useBlocker } from '@tanstack/react-router';
import { InvalidRequestError, type Warning } from '@tracking/client';
import { type ReactNode, useState } from 'react';
import { describeFailure } from '../../app/failures.ts';
import { useHasPermission, useSession } from '../../session/session.ts';
import { getLabelOfWarnedField, assignErrorsToFields } from './check-values.ts';
import type { ShipmentForm, ShipmentFormValues } from './form-values.ts';

interface FormErrorState {
  readonly error: unknown;
  readonly others: readonly string[];
}

/**
 * Returns functions that show why the API rejected the form. An error is shown at its field. Errors without a field are
 * shown above the submit button.
 */
export function useSubmitErrorReporter(form: ShipmentForm) {
  const [refusal, setRefusal] = useState<FormErrorState>();
  return {
    showSubmitError(error: unknown, values: ShipmentFormValues): void {
      const { errors, others } = assignErrorsToFields(
        error instanceof InvalidRequestError ? error.details : [],
        values,
      );
      form.setErrors(errors);
      const isOfFieldsAlone = Object.keys(errors).length > 0 && others.length === 0;
      setRefusal(isOfFieldsAlone ? undefined : { error, others });
    },
    clear: () => setRefusal(undefined),
    /**
     * Renders the errors that belong to no field. @param isPaused true while the request waits for a network connection
     */
    render: (isPaused: boolean) => (
      <FormSubmitErrorAlert error={refusal?.error ?? null} others={refusal?.others ?? []} isPaused={isPaused} />
    ),
  };
}

interface FormSubmitErrorProps {
  readonly error: unknown;
  /** Error messages that belong to no field of the form. */
  readonly others: readonly string[];
  /** True while the request waits for a network connection. It is sent automatically when the connection is back. */
  readonly isPaused: boolean;
}

/** Shows the errors of the form that belong to no field. */
function FormSubmitErrorAlert({ error, others, isPaused }: FormSubmitErrorProps) {
  if (isPaused) {
    return (
      <Alert color="orange" role="status" title="Waiting for the connection">
        The shipment will be saved when you are back online. Keep this page open.
      </Alert>
    );
  }
  if (error === null) return null;
  const { title, message, requestId } = describeFailure(error);
  return (
    <Alert color="red" role="alert" title={title}>
      <Stack gap={4}>
        {others.length === 0 ? (
          <Text size="sm">{message}</Text>
        ) : (
          <Text component="ul" size="sm" m={0} pl="md">
            {others.map((other) => (
              <li key={other}>{other}</li>
            ))}
          </Text>
        )}
        {requestId !== undefined && (
          <Text size="xs" c="dimmed">
            Request ID: <Code>{requestId}</Code>
          </Text>
        )}
      </Stack>
    </Alert>
  );
}

/** Shows a notification that a shipment was saved, and lists the warnings in the API response. */
export function showShipmentSavedNotice(message: string, warnings: readonly Warning[]): void {
  if (warnings.length === 0) {
    notifications.show({ message, color: 'green' });
    return;
  }
  notifications.show({
    title: `${message} Check these warnings:`,
    color: 'yellow',
    autoClose: false,
    message: (
      <Text component="ul" size="sm" m={0} pl="md">
        {warnings.map(({ code, param, message: warning }) => (
          <li key={`${code} ${param} ${warning}`}>
            {getLabelOfWarnedField(param) === undefined ? warning : `${getLabelOfWarnedField(param)}: ${warning}`}
          </li>
        ))}
      </Text>
    ),
  });
}

/** Asks the user for confirmation before a page with unsaved changes is left. */
export function UnsavedChangesGuard({ isDirty }: { readonly isDirty: () => boolean }) {
  const leaving = useBlocker({ shouldBlockFn: isDirty, enableBeforeUnload: isDirty, withResolver: true });
  return (
    <Modal opened={leaving.status === 'blocked'} onClose={() => leaving.reset?.()} title="Discard unsaved changes?">
      <Stack>
        <Text size="sm">Your changes will be lost.</Text>
        <Group justify="end">
          <Button variant="default" onClick={() => leaving.reset?.()} data-autofocus>
            Keep editing
          </Button>
          <Button color="red" onClick={() => leaving.proceed?.()}>
            Discard changes
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Shows its content only to users who may create and edit shipments. Other users see an explanation. */
export function ContentForShipmentEditors({ children }: { readonly children: ReactNode }) {
  const { role } = useSession();
  if (useHasPermission('shipments:write')) return children;
  return (
    <Alert color="yellow" title="You cannot create or edit shipments">
      {`Your role, ${role}, does not include the permission shipments:write. Ask an administrator to change your role.`}
    </Alert>
  );
}
