import { Alert, Button, Group, List, Modal, Progress, Select, Stack, Text, Textarea } from '@mantine/core';
import type { ShipmentException } from '@tracking/client';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { MANUAL_RESOLUTIONS, RESOLUTION_LABELS } from '../exception-labels.ts';
import { AssigneeField } from './assignee-field.tsx';
import { type Acknowledgement, type Resolution, useActs } from './use-acts.ts';
import { type Outcomes, tally, writeEach } from './write-each.ts';

export type Act = 'acknowledge' | 'assign' | 'resolve';

const TITLES: Readonly<Record<Act, string>> = { acknowledge: 'Acknowledge', assign: 'Assign', resolve: 'Resolve' };
const DONE: Readonly<Record<Act, string>> = { acknowledge: 'acknowledged', assign: 'assigned', resolve: 'resolved' };

interface Props {
  readonly act: Act;
  readonly exceptions: readonly ShipmentException[];
  readonly me: string;
  readonly known: readonly string[];
  readonly onClose: () => void;
  /** Of which it is done. */
  readonly onDone: (ids: readonly string[]) => void;
}

/** Says what to do with one or several, does it with each, and tells what became of each. */
export function ActDialog({ act, exceptions, me, known, onClose, onDone }: Props) {
  const { write, recount } = useActs();
  const [words, setWords] = useState({
    assignee: act === 'assign' ? me : '',
    note: '',
    code: 'fixed' as Resolution['code'],
  });
  const [outcomes, setOutcomes] = useState<Outcomes>();
  const [isUnderWay, setIsUnderWay] = useState(false);
  const over = useRef<AbortController>(undefined);
  useEffect(() => () => over.current?.abort(), []);

  const run = async (ids: readonly string[]) => {
    const ended = new AbortController();
    over.current = ended;
    setIsUnderWay(true);
    const results = await writeEach({
      ids,
      write: (id) =>
        act === 'resolve' ? write.resolve(resolution(id, words)) : write.acknowledge(acknowledgement(act, id, words)),
      onProgress: setOutcomes,
      signal: ended.signal,
    });
    if (ended.signal.aborted) return;
    setIsUnderWay(false);
    await recount();
    onDone([...results].flatMap(([id, outcome]) => (outcome === 'done' ? [id] : [])));
    if (tally(results).failed.length === 0) onClose();
  };
  const begin = (event: FormEvent) => {
    event.preventDefault();
    void run(exceptions.map(({ id }) => id));
  };
  const [first] = exceptions;
  return (
    <Modal
      opened
      onClose={onClose}
      title={`${TITLES[act]} ${exceptions.length === 1 ? `“${first?.title ?? ''}”` : `${exceptions.length} exceptions`}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {outcomes === undefined ? (
        <form onSubmit={begin}>
          <Stack>
            {act === 'assign' && (
              <>
                <AssigneeField
                  value={words.assignee}
                  onChange={(assignee) => setWords({ ...words, assignee })}
                  me={me}
                  known={known}
                />
                <Text size="sm" c="dimmed">
                  What is assigned counts as acknowledged: somebody deals with it.
                </Text>
              </>
            )}
            {act === 'resolve' && (
              <Select
                label="How"
                data={MANUAL_RESOLUTIONS.map((code) => ({ value: code, label: RESOLUTION_LABELS[code] }))}
                value={words.code}
                onChange={(code) => setWords({ ...words, code: code as Resolution['code'] })}
                allowDeselect={false}
                data-autofocus
              />
            )}
            <Textarea
              label="Note"
              description="For the history of the shipment"
              value={words.note}
              onChange={(event) => setWords({ ...words, note: event.currentTarget.value })}
              maxLength={1_000}
              autosize
              minRows={2}
            />
            <Group justify="end">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit">{TITLES[act]}</Button>
            </Group>
          </Stack>
        </form>
      ) : (
        <Outcome
          act={act}
          exceptions={exceptions}
          outcomes={outcomes}
          isUnderWay={isUnderWay}
          onAgain={(ids) => void run(ids)}
          onClose={onClose}
        />
      )}
    </Modal>
  );
}

interface OutcomeProps extends Pick<Props, 'act' | 'exceptions' | 'onClose'> {
  readonly outcomes: Outcomes;
  readonly isUnderWay: boolean;
  readonly onAgain: (ids: readonly string[]) => void;
}

function Outcome({ act, exceptions, outcomes, isUnderWay, onAgain, onClose }: OutcomeProps) {
  const { ended, failed } = tally(outcomes);
  const titles = new Map(
    exceptions.map(({ id, title, container_number }) => [id, [title, container_number].filter(Boolean).join(' · ')]),
  );
  return (
    <Stack>
      <Progress value={(100 * ended) / outcomes.size} aria-label="Progress" animated={isUnderWay} />
      <Text size="sm" role="status">
        {ended - failed.length} of {outcomes.size} {DONE[act]}
        {failed.length > 0 && `, ${failed.length} not`}
      </Text>
      {failed.length > 0 && (
        <Alert color="red" role="alert" title="Not done">
          <List size="sm">
            {failed.map(([id, message]) => (
              <List.Item key={id}>
                {titles.get(id)}: {message}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      <Group justify="end">
        {failed.length > 0 && !isUnderWay && (
          <Button variant="default" onClick={() => onAgain(failed.map(([id]) => id))}>
            Try these again
          </Button>
        )}
        <Button onClick={onClose}>{isUnderWay ? 'Stop' : 'Done'}</Button>
      </Group>
    </Stack>
  );
}

interface Words {
  readonly assignee: string;
  readonly note: string;
  readonly code: Resolution['code'];
}

function acknowledgement(act: Act, id: string, { assignee, note }: Words): Acknowledgement {
  const who = assignee.trim() === '' ? null : assignee.trim();
  return { id, ...(act === 'assign' && { assignee: who }), ...noted(note) };
}

function resolution(id: string, { code, note }: Words): Resolution {
  return { id, code, ...noted(note) };
}

function noted(note: string): { readonly note?: string } {
  return note.trim() === '' ? {} : { note: note.trim() };
}
