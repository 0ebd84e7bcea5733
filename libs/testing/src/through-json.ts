/** Operations whose requests and answers pass as JSON, as they do between processes; undefined stays what it is. */
export function throughJson<T extends object>(operations: T): T {
  const pass = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
  return new Proxy(operations, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member === 'function') {
        return async (request?: unknown) => pass(await (member.call(target, pass(request)) as Promise<unknown>));
      }
      return typeof member === 'object' && member !== null ? throughJson(member) : member;
    },
  });
}
