// Runs before every suite of a project that stores documents: fails suites whose queries read more rows than they return.
import { faultsOfQueries, forgetQueries } from './watched-queries.ts';

beforeAll(forgetQueries);
afterAll(() => expect(faultsOfQueries()).toEqual([]));
