import { Button, Group, Stack, Text } from '@mantine/core';
import type { WebhookDeadLetterSummary } from '@tracking/client';
import { askFirst } from '../../../app/overlays.tsx';
import { onDemand } from '../../../app/lazy.tsx';
import { useWrite } from '../../../app/write.ts';
import { useApi } from '../../../session/session.ts';
import { TOUCHED_BY_DELIVERIES } from '../webhook-queries.ts';
import { countLabel, isNone } from './dead-letter-summary.tsx';
import { type DeadLetterSearch, whichOf } from './dead-letter-search.ts';

const BegunReplays = onDemand(async () => (await import('./begun-replays.tsx')).BegunReplays);

/** Deliveries that may be named in one request. */
const MOST_CHOSEN = 200;

interface Props {
  readonly search: DeadLetterSearch;
  readonly chosen: ReadonlySet<string>;
  readonly summary: WebhookDeadLetterSummary;
  readonly onDone: () => void;
}

/** Delivers them again, or gives them up: those that were chosen, or all that fit. Both go on by themselves, and are followed here. */
export function SettleDeadLetters({ search, chosen, summary, onDone }: Props) {
  const client = useApi();
  const parts = { touches: TOUCHED_BY_DELIVERIES, onDone };
  const replay = useWrite({ write: () => client.webhookDeadLetters.replay(whichOf(search, chosen)), ...parts });
  const discard = useWrite({ write: () => client.webhookDeadLetters.discard(whichOf(search, chosen)), ...parts });
  const isTooMany = chosen.size > MOST_CHOSEN;
  const isNarrowed = Object.keys(search).length > 0;
  const counted = countLabel(summary.count, summary.is_exact);
  const fitting = isNarrowed ? `${counted} that ${summary.count === 1 ? 'fits' : 'fit'}` : `all ${counted}`;
  const which = chosen.size > 0 ? `${chosen.size} selected` : fitting;
  const ask = (verb: 'Replay' | 'Discard', about: string, onConfirm: () => void) =>
    askFirst({
      title: `${verb} ${which}?`,
      children: <Text size="sm">{about}</Text>,
      labels: { confirm: verb, cancel: 'Cancel' },
      confirmProps: verb === 'Discard' ? { color: 'red' } : {},
      onConfirm,
    });
  return (
    <Stack>
      {!isNone(summary) && (
        <Group>
          <Button
            disabled={isTooMany}
            loading={replay.isPending}
            onClick={() =>
              ask('Replay', 'Each gets a new schedule, the oldest first, under the same event id.', () => {
                discard.reset();
                replay.mutate();
              })
            }
          >
            Replay {which}…
          </Button>
          <Button
            variant="default"
            disabled={isTooMany}
            loading={discard.isPending}
            onClick={() =>
              ask(
                'Discard',
                'Their endpoints do not get them. They stay in the log, and can be replayed from there.',
                () => {
                  replay.reset();
                  discard.mutate();
                },
              )
            }
          >
            Discard {which}…
          </Button>
          {isTooMany && <Text size="sm">At most {MOST_CHOSEN} can be selected; narrow the list instead.</Text>}
        </Group>
      )}
      {replay.data !== undefined && <BegunReplays begun={replay.data} />}
      {discard.data !== undefined && <BegunReplays begun={discard.data} />}
    </Stack>
  );
}
