// Runs before every suite: fails tests that print. Messages for readers belong in assertions, and log lines of the product
// are asserted.
import { format } from 'node:util';

const METHODS = ['debug', 'dir', 'error', 'info', 'log', 'table', 'trace', 'warn'];
const printed = [];
for (const method of METHODS) {
  console[method] = (...args) => void printed.push(`console.${method}: ${format(...args)}`);
}

const expectNothingPrinted = () => expect(printed.splice(0)).toEqual([]);
afterEach(expectNothingPrinted);
afterAll(expectNothingPrinted);
