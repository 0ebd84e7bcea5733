import { describeAccess, permissionOf } from '../operations/access.ts';
import { OPERATIONS } from '../operations/operations.ts';
import type { Described } from './described.ts';

/** By which credentials the operation may be asked for, and which permission they need. */
export function secure({ id, operation }: Described): void {
  const access = OPERATIONS[id];
  const { description = '' } = operation;
  operation.description = `${description}${description === '' ? '' : '\n\n'}${describeAccess(access)}`;
  if (access === 'open') {
    operation.security = [];
    return;
  }
  const permission = permissionOf(access);
  const roles = permission === undefined || access !== permission ? [] : [permission];
  operation.security = [{ bearer: roles }, { session: roles }];
  if (permission !== undefined) Object.assign(operation, { 'x-permission': permission });
}
