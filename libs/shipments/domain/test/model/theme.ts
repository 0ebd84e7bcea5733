import * as fc from 'fast-check';
import type { MilestoneInput } from '../../src/index.ts';
import { createTimeInJanuary2026 } from '../scenario.ts';
import { isDateText } from './days.ts';
import {
  ARRIVAL_CODES,
  CUSTOMS_CODES,
  DEPARTURE_CODES,
  CODES_THAT_END_TRIP,
  ESTIMATED_CODES,
  LOCATION_SAMPLES,
  PICK_UP_CODES,
  FREQUENTLY_GENERATED_MILESTONE_CODES,
  catalogMilestoneCodes,
} from './vocabulary.ts';

/** The theme of a journey: few codes, places and days, so that its milestones interact. */
export interface RandomJourneyTheme {
  readonly actual: readonly string[];
  readonly estimated: readonly string[];
  readonly locations: readonly (string | null)[];
  readonly days: number;
  /** True if all posted milestones are estimates. */
  readonly plans: boolean;
  /** True if milestones may name containers. */
  readonly containers: boolean;
}
const arbitraryListOf = <T>(values: readonly T[], maxLength: number) =>
  fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength, size: 'max' });
export const journeyThemeArbitrary: fc.Arbitrary<RandomJourneyTheme> = fc.record({
  actual: fc.oneof(
    arbitraryListOf([...FREQUENTLY_GENERATED_MILESTONE_CODES, ...CUSTOMS_CODES], 5),
    ...[DEPARTURE_CODES, ARRIVAL_CODES, PICK_UP_CODES, CODES_THAT_END_TRIP, CUSTOMS_CODES].map((family) =>
      arbitraryListOf([...family, ...DEPARTURE_CODES], 4),
    ),
  ),
  estimated: arbitraryListOf(ESTIMATED_CODES, 2),
  locations: arbitraryListOf(LOCATION_SAMPLES, 3),
  days: fc.integer({ min: 2, max: 12 }),
  plans: fc.constantFrom(false, false, true),
  containers: fc.boolean(),
});

/** Replaces the values of a milestone with values of the theme. Absent fields stay absent. */
export function replaceMilestoneValuesWithJourneyTheme<T extends Partial<MilestoneInput>>(
  theme: RandomJourneyTheme,
  milestone: T,
): T {
  const { code, location, occurred_at, container_number } = milestone;
  const classifier = milestone.classifier !== undefined && theme.plans ? 'estimated' : milestone.classifier;
  const names = classifier === 'actual' || (classifier === undefined && !theme.plans) ? theme.actual : theme.estimated;
  const pick = <V>(values: readonly V[], of: number): V => values[of % values.length] as V;
  return {
    ...milestone,
    ...(classifier !== undefined && { classifier }),
    ...(container_number !== undefined && { container_number: theme.containers ? container_number : null }),
    ...(code !== undefined && { code: pick(names, catalogMilestoneCodes.indexOf(code)) }),
    ...(location !== undefined && { location: pick(theme.locations, LOCATION_SAMPLES.indexOf(location)) }),
    ...(occurred_at !== undefined && { occurred_at: moveTimeIntoEarlyJanuary(occurred_at, theme.days) }),
  };
}

/** Moves a time to one of the first `days` days of January 2026, at the same hour. */
function moveTimeIntoEarlyJanuary(time: string, days: number): string {
  const date = new Date(time);
  const moved = createTimeInJanuary2026(1 + (date.getUTCDate() % days), date.getUTCHours());
  return isDateText(time) ? moved.slice(0, 10) : moved;
}
