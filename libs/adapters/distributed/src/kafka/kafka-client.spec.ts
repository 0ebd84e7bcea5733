import { jest } from '@jest/globals';
import type { Logger } from '@tracking/ports';
import { LostResponseCounter, RetryLogger } from './kafka-client.ts';

describe('LostResponseCounter', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it.each([
    ['one broker that went', [2], 0, false],
    ['a few that are far apart', [1, 1, 1, 1, 1], 6_000, false],
    ['several within seconds', [1, 1, 1], 3_000, true],
    ['many at once', [200], 0, true],
  ])('exceeds its threshold or not: %s', (_what, counts, apartMs, many) => {
    const lost = new LostResponseCounter();
    expect(lost.exceedThreshold).toBe(false);
    for (const [index, count] of counts.entries()) {
      if (index > 0) jest.advanceTimersByTime(apartMs);
      lost.countResponsesLostWithConnection(count);
    }
    expect(lost.exceedThreshold).toBe(many);
    jest.advanceTimersByTime(10_000);
    expect(lost.exceedThreshold).toBe(false);
  });
});

describe('RetryReporter', () => {
  let lines: string[];
  let reporter: RetryLogger;
  beforeEach(() => {
    jest.useFakeTimers();
    lines = [];
    const keep = (level: string) => (fields: object, text: string) => {
      lines.push([level, text, ...Object.values(fields)].join(' '));
    };
    const logger: Logger = { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
    reporter = new RetryLogger('sent again', { topic: 'events' }, logger);
  });
  afterEach(() => void jest.useRealTimers());

  const failFor = (seconds: number) => {
    for (let n = 0; n < seconds; n += 1) {
      reporter.reportRetryFailure('ECONNREFUSED');
      jest.advanceTimersByTime(1_000);
    }
  };

  it('logs the first failure and the success', () => {
    reporter.reportRetrySuccess();
    failFor(10);
    reporter.reportRetrySuccess();
    reporter.reportRetrySuccess();
    expect(lines).toEqual(['info sent again events ECONNREFUSED', 'info sent again: over events 10']);
  });

  it('warns once if failures last', () => {
    failFor(300);
    expect(lines).toEqual(['info sent again events ECONNREFUSED', 'warn sent again events ECONNREFUSED 61']);
  });

  it('warns immediately if the failure is not an outage', () => {
    reporter.reportRetryFailure('TypeError', true);
    reporter.reportRetryFailure('TypeError', true);
    expect(lines).toEqual(['warn sent again events TypeError 0']);
  });
});
