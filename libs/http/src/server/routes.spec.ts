import { fastify } from 'fastify';
import { Routes } from './routes.ts';

describe('routes', () => {
  const watched = () => {
    const [routes, server] = [new Routes(), fastify()];
    routes.watch(server);
    return { routes, server };
  };
  const nothing = () => undefined;

  it('under /v1 are operations', () => {
    const { server } = watched();
    expect(() => server.get('/v1/secrets', nothing)).toThrow('GET /v1/secrets is no operation');
    expect(() => server.get('/v1/events', { config: { operation: 'listEvents' } }, nothing)).not.toThrow();
    expect(() => server.get('/docs', nothing)).not.toThrow();
  });

  it('are there for every operation', () => {
    const { routes, server } = watched();
    server.get('/v1/events', { config: { operation: 'listEvents' } }, nothing);
    expect(() => routes.requireAll(['listEvents'])).not.toThrow();
    expect(() => routes.requireAll(['listEvents', 'getEvent'])).toThrow('no route is getEvent');
  });

  it('of operators declare what they take', () => {
    const { server } = watched();
    expect(() => server.get('/administration/keys', nothing)).toThrow('does not declare its parameters');
  });
});
