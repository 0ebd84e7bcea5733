import { eventually } from '@tracking/testing';
import { Agenda } from './agenda.ts';

let now = 0;
let woken: string[] = [];
let agenda: Agenda<string>;

beforeEach(() => {
  now = 1_000;
  woken = [];
  agenda = new Agenda(
    () => now,
    (item) => woken.push(item),
  );
});
afterEach(() => agenda.close());

describe('an agenda', () => {
  test('wakes in the order of time, whatever the order of asking', async () => {
    const moments = Array.from({ length: 50 }, (_, index) => 1_001 + ((index * 37) % 50));
    for (const moment of moments) agenda.at(String(moment), moment);
    now = 2_000;
    agenda.at('last', 1_999);
    await eventually(() => expect(woken).toHaveLength(51));
    expect(woken).toEqual([...moments.toSorted((a, b) => a - b).map(String), 'last']);
  });

  test('wakes an item once, at the earliest moment asked for', async () => {
    agenda.at('a', 5_000);
    agenda.at('a', 1_010);
    agenda.at('a', 3_000);
    now = 1_020;
    agenda.at('b', 1_020);
    await eventually(() => expect(woken).toEqual(['a', 'b']));
    now = 10_000;
    agenda.at('c', 10_000);
    await eventually(() => expect(woken).toContain('c'));
    expect(woken).toEqual(['a', 'b', 'c']);
  });

  test('does not wake what was forgotten', async () => {
    agenda.at('a', 1_000);
    agenda.forget('a');
    agenda.at('b', 1_000);
    await eventually(() => expect(woken).toEqual(['b']));
  });

  test('keeps the order when some are forgotten', async () => {
    const moments = Array.from({ length: 100 }, (_, index) => 1_001 + ((index * 37) % 100));
    for (const moment of moments) agenda.at(String(moment), moment);
    const [gone, kept] = [moments.filter((at) => at % 3 === 0), moments.filter((at) => at % 3 !== 0)];
    for (const moment of gone) agenda.forget(String(moment));
    now = 2_000;
    agenda.at('last', 1_999);
    await eventually(() => expect(woken).toContain('last'));
    expect(woken).toEqual([...kept.toSorted((a, b) => a - b).map(String), 'last']);
  });

  test('holds an item once, however often it is woken before a moment far ahead', async () => {
    for (let round = 1; round <= 20; round += 1) {
      agenda.at('a', 100_000_000);
      agenda.at('a', now);
      await eventually(() => expect(woken).toHaveLength(round));
    }
    agenda.at('a', 100_000_000);
    expect(agenda.size).toBe(1);
  });

  test('notices that the clock was set forward', async () => {
    agenda.at('a', 1_000 + 3_600_000);
    now += 3_600_000;
    await eventually(() => expect(woken).toEqual(['a']));
  });
});
