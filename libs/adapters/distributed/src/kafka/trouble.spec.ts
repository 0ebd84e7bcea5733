import { jest } from '@jest/globals';
import type { Logger } from '@tracking/ports';
import { Trouble } from './trouble.ts';

describe('Trouble', () => {
  let lines: string[];
  let trouble: Trouble;
  beforeEach(() => {
    jest.useFakeTimers();
    lines = [];
    const keep = (level: string) => (fields: object, text: string) => {
      lines.push([level, text, ...Object.values(fields)].join(' '));
    };
    const logger: Logger = { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
    trouble = new Trouble('sent again', { topic: 'events' }, logger);
  });
  afterEach(() => void jest.useRealTimers());

  const failFor = (seconds: number) => {
    for (let n = 0; n < seconds; n += 1) {
      trouble.goesOn('ECONNREFUSED');
      jest.advanceTimersByTime(1_000);
    }
  };

  it('is a line when it begins and one when it is over', () => {
    trouble.isOver();
    failFor(10);
    trouble.isOver();
    trouble.isOver();
    expect(lines).toEqual(['info sent again events ECONNREFUSED', 'info sent again: over events 10']);
  });

  it('is a warning, once, where it lasts', () => {
    failFor(300);
    expect(lines).toEqual(['info sent again events ECONNREFUSED', 'warn sent again events ECONNREFUSED 61']);
  });

  it('is a warning at once where it is no matter of an engine', () => {
    trouble.goesOn('TypeError', true);
    trouble.goesOn('TypeError', true);
    expect(lines).toEqual(['warn sent again events TypeError 0']);
  });
});
