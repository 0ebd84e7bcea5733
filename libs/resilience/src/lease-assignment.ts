import { createHash } from 'node:crypto';
import type { LeaseMember } from '@tracking/ports';

/** A member that wants a lease, with the rank of the pair. */
interface RankedLeaseAndMemberPair {
  readonly name: string;
  readonly member: string;
  readonly score: number;
}

/**
 * Assigns each lease of a group to one of the members that want it, by rendezvous hashing. All members compute the same
 * result from the same list. If all want the same leases, their shares differ by at most one lease, and a joining or
 * leaving member moves few leases between the others.
 * @returns ids of the members by name of the lease
 */
export function assignLeases(group: string, members: readonly LeaseMember[]): ReadonlyMap<string, string> {
  const candidates = rankLeaseAndMemberPairs(group, members);
  const names = new Set(candidates.map(({ name }) => name));
  const shares = new Map(candidates.map(({ member }) => [member, 0]));
  const smallShare = Math.floor(names.size / Math.max(1, shares.size));
  /** Number of members whose share is one lease larger than the others. */
  let largerShares = names.size - smallShare * shares.size;

  const assigned = new Map<string, string>();
  const assign = ({ name, member }: RankedLeaseAndMemberPair) => {
    const share = shares.get(member) ?? 0;
    if (share === smallShare) largerShares -= 1;
    shares.set(member, share + 1);
    assigned.set(name, member);
  };
  for (const candidate of candidates) {
    const share = shares.get(candidate.member) ?? 0;
    const hasRoom = share < smallShare || (share === smallShare && largerShares > 0);
    if (hasRoom && !assigned.has(candidate.name)) assign(candidate);
  }
  // Some members may want only leases that the others want too, so that leases are left for members without room.
  for (const candidate of candidates) if (!assigned.has(candidate.name)) assign(candidate);
  return assigned;
}

/** Lists all pairs of a lease and a member that wants it, best pair first. */
function rankLeaseAndMemberPairs(group: string, members: readonly LeaseMember[]): readonly RankedLeaseAndMemberPair[] {
  const candidates = members.flatMap(({ id, wanted }) =>
    (wanted[group] ?? []).map((name) => ({ name, member: id, score: computeRendezvousScore(id, name) })),
  );
  return candidates.sort(
    (one, other) =>
      other.score - one.score || compareText(one.name, other.name) || compareText(one.member, other.member),
  );
}

/** Returns the score of a member for a name. In rendezvous hashing, the member with the highest score gets the name. */
export function computeRendezvousScore(member: string, name: string): number {
  return createHash('sha256').update(`${member} ${name}`).digest().readUIntBE(0, 6);
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
