// Run before the tests of every suite of a project that stores documents: no query costs more than it answers.
import { faultsOfQueries, forgetQueries } from './watched-queries.ts';

beforeAll(forgetQueries);
afterAll(() => expect(faultsOfQueries()).toEqual([]));
