// Runs before every suite of a project that stores documents: fails suites whose queries read more rows than they return.
import { findInefficientQueries, resetWatchedQueries } from './watched-queries.ts';

beforeAll(resetWatchedQueries);
afterAll(() => expect(findInefficientQueries()).toEqual([]));
