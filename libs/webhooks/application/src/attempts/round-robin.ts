/**
 * Whose turn it is: groups take turns, and the members of a group take turns within it, so that neither a workspace with
 * many endpoints nor an endpoint with much to do keeps the others waiting.
 */
export class RoundRobin<T> {
  private readonly groups = new Map<string, Set<T>>();

  /** Queues it behind the others of its group; nothing happens where it is queued already. */
  add(group: string, member: T): void {
    const members = this.groups.get(group);
    if (members === undefined) this.groups.set(group, new Set([member]));
    else members.add(member);
  }

  /**
   * Takes the member whose turn it is out of the queue; its group goes behind the others. Who holds as much as its group
   * has room for is passed over, and keeps its turn.
   */
  next(roomOf: (group: string) => number, heldBy: (member: T) => number): T | undefined {
    for (const [group, members] of this.groups) {
      const room = roomOf(group);
      if (room <= 0) continue;
      for (const member of members) {
        if (heldBy(member) >= room) continue;
        members.delete(member);
        this.groups.delete(group);
        if (members.size > 0) this.groups.set(group, members);
        return member;
      }
    }
    return undefined;
  }

  remove(group: string, member: T): void {
    const members = this.groups.get(group);
    if (members?.delete(member) && members.size === 0) this.groups.delete(group);
  }
}
