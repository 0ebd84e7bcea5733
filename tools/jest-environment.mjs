import { TestEnvironment } from 'jest-environment-node';

/** Titles of kinds of queries that were found good: outside of what is loaded anew for each suite. */
const goodQueries = new Set();

/** Node, with what suites that run in one process find out once for all of them. */
export default class Environment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.global.goodQueries = goodQueries;
  }
}
