import type { DocumentStatus, DocumentType } from '@tracking/contracts';
import type { Memory, Paper } from './memory.ts';

const DAY_MS = 86_400_000;

/** What is done about documents; `which` counts through those there are. */
export interface PaperStep {
  readonly kind: 'document';
  readonly act: 'add' | 'request' | 'receive' | 'complete' | 'approve' | 'reject' | 'delete';
  readonly type: DocumentType;
  readonly which: number;
  /** Whether what is sent is to replace that one. */
  readonly isInItsPlace: boolean;
}

/** "`documents_count` counts uploaded, approved and rejected ones": these are there. */
export function isThere({ status }: Pick<Paper, 'status'>): boolean {
  return ['uploaded', 'approved', 'rejected'].includes(status);
}

/** The chain of its replacements that are there. */
export function replacements({ replacedBy }: Paper, memory: Memory): readonly Paper[] {
  return memory.documents
    .filter(({ id }) => id === replacedBy)
    .flatMap((next) => [...(isThere(next) ? [next] : []), ...replacements(next, memory)]);
}

/** "A type that the workspace requires for the mode … is absent"; one that was replaced "no longer satisfies a requirement". */
export function absent(required: readonly DocumentType[], memory: Memory): readonly DocumentType[] {
  const counting = memory.documents.filter((one) => isThere(one) && replacements(one, memory).length === 0);
  return required.filter((type) => !counting.some((one) => one.type === type));
}

/** "A rejection", until "a document of that type approved" after it, or the last one that took its place is approved. */
export function rejections(memory: Memory): readonly Paper[] {
  const { documents } = memory;
  return documents.filter(
    (one) =>
      one.status === 'rejected' &&
      replacements(one, memory).at(-1)?.status !== 'approved' &&
      !documents.some(({ type, status, judged }) => type === one.type && status === 'approved' && judged > one.judged),
  );
}

/** "`pending_upload → expired` after 24 h". */
export function expire(memory: Memory, now: number): void {
  memory.documents = memory.documents.map((one) => (isOverdue(one, now) ? { ...one, status: 'expired' } : one));
}

function isOverdue({ status, created }: Paper, now: number): boolean {
  return status === 'pending_upload' && now >= created + DAY_MS;
}

/** A new one, with its bytes or to be sent them; answers why it is refused. */
export function send(
  memory: Memory,
  { act, type }: Pick<PaperStep, 'act' | 'type'>,
  replaces: string | null,
  now: number,
): ((id: string) => void) | string {
  const former = memory.documents.find(({ id }) => id === replaces);
  if (former !== undefined && !isThere(former)) return 'validation_failed';
  if (former !== undefined && replacements(former, memory).length > 0) return 'document_replaced';
  return (id) => {
    memory.now += 1;
    const status = 'pending_upload' as const;
    const one = { id, type, status, created: now, haveBytesCome: false, replaces, replacedBy: null, judged: 0 };
    memory.documents = [...memory.documents, one];
    if (act === 'add') become(memory, id, 'uploaded');
  };
}

/** Answers why it is refused. */
export function treat(
  memory: Memory,
  act: Exclude<PaperStep['act'], 'add' | 'request'>,
  id: string,
  now: number,
): string | undefined {
  const one = memory.documents.find((each) => each.id === id);
  if (one === undefined) throw new Error(`there is no document ${id}`);
  const { status, haveBytesCome } = one;
  const isWaitedFor = status === 'pending_upload' && !isOverdue(one, now);
  const done = (to: DocumentStatus) => (become(memory, id, to), undefined);
  switch (act) {
    case 'receive':
      if (!isWaitedFor) return 'document_not_pending';
      memory.documents = memory.documents.map((each) => (each === one ? { ...one, haveBytesCome: true } : each));
      return undefined;
    case 'complete':
      if (isThere(one)) return undefined;
      if (!isWaitedFor) return 'document_not_pending';
      return haveBytesCome ? done('uploaded') : 'upload_missing';
    case 'delete':
      return done('deleted');
    case 'approve':
    case 'reject': {
      const verdict = act === 'approve' ? 'approved' : 'rejected';
      if (status === verdict) return undefined;
      if (isThere(one) && status !== 'uploaded') return 'document_reviewed';
      return status === 'uploaded' ? done(verdict) : 'document_not_uploaded';
    }
  }
}

function become(memory: Memory, id: string, status: DocumentStatus): void {
  memory.now += 1;
  const judged = status === 'approved' || status === 'rejected' ? { judged: memory.now } : {};
  const replaces = status === 'uploaded' ? memory.documents.find((one) => one.id === id)?.replaces : null;
  memory.documents = memory.documents.map((one) => {
    if (one.id === id) return { ...one, ...judged, status };
    const isReplaced = one.id === replaces && isThere(one) && replacements(one, memory).length === 0;
    return isReplaced ? { ...one, replacedBy: id } : one;
  });
}
