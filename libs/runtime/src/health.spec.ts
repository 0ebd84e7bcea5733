import { Health } from './health.ts';

describe('Health', () => {
  it('is not ready before the first start and while draining', () => {
    const health = new Health();
    expect(health.report()).toMatchObject({ status: 'starting', httpStatus: 503 });
    health.started();
    expect(health.report()).toMatchObject({ status: 'ready', httpStatus: 200 });
    health.draining();
    health.started();
    expect(health.report()).toMatchObject({ status: 'draining', httpStatus: 503 });
  });

  it('stays in service, degraded, when an engine is lost later', () => {
    const health = new Health();
    health.started();
    health.engine('event store', 'no answer');
    expect(health.report()).toEqual({
      status: 'degraded',
      engines: { 'event store': 'no answer' },
      httpStatus: 200,
    });
    health.engine('event store');
    expect(health.report()).toMatchObject({ status: 'ready', engines: { 'event store': 'ok' } });
  });
});
