import { fastify } from 'fastify';
import { RouteRegistry } from './routes.ts';

describe('routes', () => {
  const watched = () => {
    const [routes, server] = [new RouteRegistry(), fastify()];
    routes.recordRoutes(server);
    return { routes, server };
  };
  const nothing = () => undefined;

  it('under /v1 must be operations', () => {
    const { server } = watched();
    expect(() => server.get('/v1/secrets', nothing)).toThrow('GET /v1/secrets has no operation');
    expect(() => server.get('/v1/events', { config: { operation: 'listEvents' } }, nothing)).not.toThrow();
    expect(() => server.get('/docs', nothing)).not.toThrow();
  });

  it('must exist for every operation', () => {
    const { routes, server } = watched();
    server.get('/v1/events', { config: { operation: 'listEvents' } }, nothing);
    expect(() => routes.requireRouteForEachOperation(['listEvents'])).not.toThrow();
    expect(() => routes.requireRouteForEachOperation(['listEvents', 'getEvent'])).toThrow(
      'These operations have no route: getEvent',
    );
  });

  it('for operators must declare their parameters', () => {
    const { server } = watched();
    expect(() => server.get('/administration/keys', nothing)).toThrow('does not declare its query parameters');
  });
});
