import { Autocomplete, Select, Text, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ShipmentException } from '@tracking/client';
import { useState } from 'react';
import { BulkActionDialog } from '../../app/bulk-action-dialog.tsx';
import { useEnvironment, useHasPermission } from '../../session/session.ts';
import { usersQuery } from '../../settings/team/team.ts';
import { MANUAL_RESOLUTIONS, RESOLUTION_LABELS } from '../exception-labels.ts';
import {
  type ExceptionAcknowledgementInput,
  type ManualExceptionResolution,
  useExceptionActions,
} from './queue-queries.ts';

export type ExceptionAction = 'acknowledge' | 'assign' | 'resolve';

const EXCEPTION_ACTION_LABELS: Readonly<Record<ExceptionAction, string>> = {
  acknowledge: 'Acknowledge',
  assign: 'Assign',
  resolve: 'Resolve',
};
const ACTION_PAST_PARTICIPLES: Readonly<Record<ExceptionAction, string>> = {
  acknowledge: 'acknowledged',
  assign: 'assigned',
  resolve: 'resolved',
};

interface ExceptionActionDialogProps {
  readonly act: ExceptionAction;
  readonly exceptions: readonly ShipmentException[];
  readonly me: string;
  readonly known: readonly string[];
  readonly onClose: () => void;
  /** Callback that receives the ids of the changed exceptions. */
  readonly onDone: (ids: readonly string[]) => void;
}

/**
 * Dialog that asks for the details of an action, such as the assignee, and applies the action to one or more
 * exceptions.
 */
export function ExceptionActionDialog({ act, exceptions, me, known, onClose, onDone }: ExceptionActionDialogProps) {
  const { write, recount } = useExceptionActions();
  const [words, setWords] = useState({
    assignee: act === 'assign' ? me : '',
    note: '',
    code: 'fixed' as ManualExceptionResolution['code'],
  });
  const [first] = exceptions;
  return (
    <BulkActionDialog
      title={`${EXCEPTION_ACTION_LABELS[act]} ${exceptions.length === 1 ? `“${first?.title ?? ''}”` : `${exceptions.length} exceptions`}`}
      items={exceptions}
      nameOf={({ title, container_number }) => [title, container_number].filter(Boolean).join(' · ')}
      action={{ label: EXCEPTION_ACTION_LABELS[act] }}
      cancel="Cancel"
      write={({ id }) =>
        act === 'resolve'
          ? write.resolve(buildManualExceptionResolution(id, words))
          : write.acknowledge(buildExceptionAcknowledgement(act, id, words))
      }
      done={ACTION_PAST_PARTICIPLES[act]}
      onDone={(done) => {
        void recount();
        onDone(done.map(({ id }) => id));
      }}
      onClose={onClose}
    >
      {act === 'assign' && (
        <>
          <AssigneeField
            value={words.assignee}
            onChange={(assignee) => setWords({ ...words, assignee })}
            me={me}
            known={known}
          />
          <Text size="sm" c="dimmed">
            Assigning an exception also acknowledges it.
          </Text>
        </>
      )}
      {act === 'resolve' && (
        <Select
          label="Resolution"
          data={MANUAL_RESOLUTIONS.map((code) => ({ value: code, label: RESOLUTION_LABELS[code] }))}
          value={words.code}
          onChange={(code) => setWords({ ...words, code: code as ManualExceptionResolution['code'] })}
          allowDeselect={false}
          data-autofocus
        />
      )}
      <Textarea
        label="Note"
        description="The note is added to the shipment history."
        value={words.note}
        onChange={(event) => setWords({ ...words, note: event.currentTarget.value })}
        maxLength={1_000}
        autosize
        minRows={2}
      />
    </BulkActionDialog>
  );
}

interface ExceptionActionFormValues {
  readonly assignee: string;
  readonly note: string;
  readonly code: ManualExceptionResolution['code'];
}

function buildExceptionAcknowledgement(
  act: ExceptionAction,
  id: string,
  { assignee, note }: ExceptionActionFormValues,
): ExceptionAcknowledgementInput {
  const who = assignee.trim() === '' ? null : assignee.trim();
  return { id, ...(act === 'assign' && { assignee: who }), ...buildOptionalNote(note) };
}

function buildManualExceptionResolution(
  id: string,
  { code, note }: ExceptionActionFormValues,
): ManualExceptionResolution {
  return { id, code, ...buildOptionalNote(note) };
}

function buildOptionalNote(note: string): { readonly note?: string } {
  return note.trim() === '' ? {} : { note: note.trim() };
}

interface AssigneeFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly me: string;
  /** Assignees of other exceptions. The field suggests these names. */
  readonly known: readonly string[];
}

/**
 * Form field for the assignee of an exception. This application assigns users by email address. Other systems may use
 * any name.
 */
function AssigneeField({ value, onChange, me, known }: AssigneeFieldProps) {
  // Suggestions include the workspace's users only for administrators, since only administrators may list users.
  const users = useQuery({ ...usersQuery(useEnvironment()), enabled: useHasPermission('workspace:admin') });
  const active = users.data?.filter(({ status }) => status === 'active') ?? [];
  const others = new Set([...active.map(({ email }) => email), ...known]);
  others.delete(me);
  return (
    <Autocomplete
      label="Assignee"
      description="Email address or name of the assignee. Leave the field empty to assign nobody."
      data={[
        { group: 'You', items: [me] },
        { group: 'Other assignees', items: [...others].sort() },
      ]}
      value={value}
      onChange={onChange}
      clearable
      data-autofocus
    />
  );
}
