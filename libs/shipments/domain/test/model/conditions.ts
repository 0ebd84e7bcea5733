import type { AutomaticExceptionType } from '@tracking/contracts';
import { type Condition, HOUR, type World, condition, graver, hoursOf, ms } from './condition.ts';
import { containerConditions } from './container-conditions.ts';
import { openExceptions } from './exceptions.ts';
import { absent, rejections } from './papers.ts';
import { isDelivered, shipmentStatus } from './status.ts';
import { hasArrived, hasDeparted, isAtSea } from './steps.ts';

const MONTH = 30 * 24 * HOUR;

/** All conditions that hold, or will if nothing but time happens. */
export function conditionsOf(world: World): readonly Condition[] {
  const { memory, settings, created } = world;
  const timed =
    shipmentStatus(memory).status === 'cancelled'
      ? []
      : [...shipmentConditions(world), ...containerConditions(world), ...documentConditions(world)];
  return [...ofTimeline(world), ...timed]
    .filter(({ type }) => settings.exceptions[type].enabled)
    .filter(({ due, expected }) => due === null || (expected ?? due) >= created - MONTH)
    .map((condition) => ({
      ...condition,
      severity: graver(condition.severity, settings.exceptions[condition.type].severity),
    }));
}

/** Which the model of the timeline knows. */
function ofTimeline({ memory }: World): readonly Condition[] {
  return openExceptions(memory).map((text) => {
    const [type, container] = text.split(' ') as [AutomaticExceptionType, string];
    return condition(type, container === 'null' ? null : container, null);
  });
}

function shipmentConditions(world: World): readonly Condition[] {
  const { memory } = world;
  if (isDelivered(shipmentStatus(memory))) return [];
  return [...etaSlip(world), ...departureOverdue(world), ...arrivalOverdue(world), ...noUpdate(world)];
}

/** "`delivered` and beyond resolve all automatic ones but … missing_document, document_rejected." */
function documentConditions({ memory, settings }: World): readonly Condition[] {
  const { mode } = memory.fields;
  const { eta } = memory.answered;
  const missing = mode === null ? [] : absent(settings.required_documents[mode], memory);
  const rejected = rejections(memory).map(({ id }) => id);
  const before = settings.exceptions.missing_document.before_hours ?? 0;
  // "A type that the workspace requires for the mode (default: none) is absent 3 d before ETA."
  const expected = eta === null || missing.length === 0 ? [] : [ms(eta)];
  return [
    ...expected.map((time) => ({
      ...condition('missing_document', null, time - before * HOUR),
      expected: time,
      about: missing,
    })),
    ...(rejected.length === 0 ? [] : [{ ...condition('document_rejected', null, null), about: rejected }]),
  ];
}

/** "ETA ≥ 24 h (road, air 4 h) past the original; high above 48 h"; until arrival. */
function etaSlip({ memory, settings }: World): readonly Condition[] {
  const { eta, original_eta } = memory.answered;
  if (eta === null || original_eta === null || hasArrived(memory)) return [];
  const slip = (ms(eta) - ms(original_eta)) / HOUR;
  if (slip < hoursOf(settings.exceptions.eta_slip, memory)) return [];
  return [{ ...condition('eta_slip', null, null), severity: slip > 48 ? 'high' : 'low', slip }];
}

/** "now > ETD + 12 h without a departure"; "high … above 48 h". */
function departureOverdue({ memory, settings }: World): readonly Condition[] {
  const { etd } = memory.answered;
  if (etd === null || hasDeparted(memory)) return [];
  return [overdue('departure_overdue', ms(etd), hoursOf(settings.exceptions.departure_overdue, memory))];
}

/** "now > ETA + 12 h without an arrival". */
function arrivalOverdue({ memory, settings }: World): readonly Condition[] {
  const { eta } = memory.answered;
  if (eta === null || hasArrived(memory)) return [];
  return [overdue('arrival_overdue', ms(eta), hoursOf(settings.exceptions.arrival_overdue, memory))];
}

function overdue(type: AutomaticExceptionType, expected: number, hours: number): Condition {
  return {
    ...condition(type, null, expected + hours * HOUR),
    worse: { from: expected + 48 * HOUR, severity: 'high' },
  };
}

/**
 * "After ETD (or creation, without one) and before delivery, neither a milestone of any classifier nor a changed ETA for …
 * (at sea: not before ETA)." The creation also counts where the ETD would be due too long ago to matter.
 */
function noUpdate({ memory, settings, created, heard }: World): readonly Condition[] {
  const { etd, eta } = memory.answered;
  const hours = hoursOf(settings.exceptions.no_update, memory) * HOUR;
  const begins = etd === null || ms(etd) + hours < created - MONTH ? created : ms(etd);
  const silentSince = Math.max(begins, heard ?? begins);
  const due = silentSince + hours;
  return [condition('no_update', null, isAtSea(memory) && eta !== null ? Math.max(due, ms(eta)) : due)];
}
