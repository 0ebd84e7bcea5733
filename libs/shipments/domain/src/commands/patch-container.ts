import { type Container, DomainError, type Warning } from '@tracking/contracts';
import { changesBetween } from '../changes.ts';
import { whileCancelled } from '../decision.ts';
import { derive } from '../derive.ts';
import type { ShipmentEventBody } from '../events/stored-events.ts';
import { reconcile } from '../exceptions/reconcile.ts';
import type { GivenOfContainer } from '../given-of-container.ts';
import type { ShipmentState } from '../state.ts';
import type { CommandContext, CommandHandler, DecideContext, Decision } from './command.ts';

/** Sets what no milestone tells of a container: what is absent stays, null clears. */
export interface PatchContainer extends CommandContext {
  readonly type: 'PatchContainer';
  readonly shipment_id: string;
  /** Normalised. */
  readonly number: string;
  readonly patch: Partial<GivenOfContainer>;
}

interface PatchResult {
  /** `unchanged`: it was so already. */
  readonly outcome: 'updated' | 'unchanged';
  readonly number: string;
}
export interface ContainerPatchAnswer extends Pick<PatchResult, 'outcome'> {
  readonly container: Container;
  /** Of the shipment right after. */
  readonly shipment_version: number;
  readonly warnings: readonly Warning[];
}
export type ContainerPatchDecision = Decision<PatchResult>;

export const patchContainer: CommandHandler<PatchContainer, PatchResult, Omit<ContainerPatchAnswer, 'warnings'>> = {
  decide,
  resultOf: (_, { number }) => ({ outcome: 'updated', number }),
  answer({ outcome, number }, { record }) {
    const container = record.containers.find((each) => each.number === number);
    if (container === undefined) throw new Error(`there is no container ${number} to answer`);
    return { outcome, container, shipment_version: record.version };
  },
};

/** @throws DomainError `not_found` where the shipment has no such container */
export function requireContainer({ number }: PatchContainer, { record }: ShipmentState): void {
  if (record.container_numbers.includes(number)) return;
  throw new DomainError('not_found', 'The shipment has no such container.');
}

function decide(command: PatchContainer, state: ShipmentState, context: DecideContext): ContainerPatchDecision {
  const { number, patch, at } = command;
  const before = state.record;
  const containers = before.containers.map((each) => (each.number === number ? { ...each, ...patch } : each));
  const basis = { ...state, record: { ...before, containers }, revision: before.version };
  const derived = derive(basis, context.places);
  const changes = changesBetween(before, derived.record);
  const events: ShipmentEventBody[] = changes === undefined ? [] : [{ type: 'shipment.changed.v1', data: { changes } }];
  const reconciled = reconcile(state, { derived, timeline: state.timeline, events }, { ...context, at });
  const outcome = reconciled.events.length === 0 ? 'unchanged' : 'updated';
  return { outcome, number, warnings: whileCancelled(before, derived.record), ...reconciled };
}
