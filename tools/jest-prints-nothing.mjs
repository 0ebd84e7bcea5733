// Run before the tests of every suite: nothing is printed by a test that passes. What somebody shall read is an
// assertion's message; what the product says is asserted.
import { format } from 'node:util';

const METHODS = ['debug', 'dir', 'error', 'info', 'log', 'table', 'trace', 'warn'];
const printed = [];
for (const method of METHODS) {
  console[method] = (...args) => void printed.push(`console.${method}: ${format(...args)}`);
}

const expectNothingPrinted = () => expect(printed.splice(0)).toEqual([]);
afterEach(expectNothingPrinted);
afterAll(expectNothingPrinted);
