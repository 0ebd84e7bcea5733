import { DOCUMENT_LIMITS, type DocumentRecord } from '@tracking/contracts';
import type { ShipmentScenario } from '../../test/scenario.ts';
import {
  SHIPMENT_ID,
  createDecideContext,
  findDataOfDecidedEvent,
  createDocumentInput,
  createSampleReceivedObject,
  captureRefusal,
  getTypesOfDecidedEvents,
  createOceanShipmentScenario,
} from '../../test/scenario.ts';
import { createScenarioWithRule as beginWith } from '../../test/time-driven.ts';
import { findPublicEventOfStoredEvent, toShipmentResource, findHistoryNoteOfEvent } from '../announcements.ts';
import type { ReceivedDocumentFile } from '../events/event-data.ts';
import { fold } from '../evolve.ts';
import { type ShipmentCommand, decide, getCommandHandler } from './shipment-commands.ts';

const ME = { type: 'user', id: 'usr_1' } as const;
const CREATED = '2026-06-01T08:00:00.000Z';
const ADDRESSES = { appUrl: 'https://app.example', baseUrl: 'https://api.example' };
const { pendingMs } = DOCUMENT_LIMITS;
const inMs = (ms: number) => new Date(Date.parse(CREATED) + ms).toISOString();

/** A shipment that time changes only through its documents. */
const begin = () => beginWith('document_rejected', {}, CREATED);

type Act = (
  scenario: ShipmentScenario,
  document: DocumentRecord,
) => { readonly outcome: string } & ReturnType<ShipmentScenario['addDocument']>;
const ACTS = {
  receive: (scenario, document) => scenario.receiveUpload(document, { id: 'object-9' }),
  complete: (scenario, document) => scenario.completeUpload(document),
  approve: (scenario, document) => scenario.approveDocument(document),
  reject: (scenario, document) => scenario.rejectDocument(document, 'Other words.'),
  delete: (scenario, document) => scenario.deleteDocument(document),
} satisfies Readonly<Record<string, Act>>;

/** Returns a document with this status. */
const AS: Readonly<Record<string, (scenario: ShipmentScenario) => DocumentRecord>> = {
  pending: (scenario) => scenario.requestUpload().document,
  received: (scenario) => scenario.receiveUpload(scenario.requestUpload().document).document,
  uploaded: (scenario) => scenario.addDocument().document,
  approved: (scenario) => scenario.approveDocument(scenario.addDocument().document).document,
  rejected: (scenario) => scenario.rejectDocument(scenario.addDocument().document).document,
  deleted: (scenario) => scenario.deleteDocument(scenario.addDocument().document).document,
  expired(scenario) {
    const { id } = scenario.requestUpload().document;
    scenario.setTimeOfNextCommand(inMs(pendingMs)).checkRules();
    return scenario.state!.documents.find(({ document }) => document.id === id)!.document;
  },
};

describe('a document', () => {
  it('sent with its fields is complete immediately', () => {
    const scenario = begin();
    const object = { id: 'object-7', size_bytes: 7, sha256: 'cd'.repeat(32), content_type: 'image/png' } as const;
    const added = scenario.addDocument({ type: 'photo', file_name: 'Foto – 写真.png' }, object);
    expect([added.outcome, getTypesOfDecidedEvents(added), added.warnings]).toEqual([
      'added',
      ['document.uploaded.v1'],
      [],
    ]);
    const document: DocumentRecord = {
      id: added.documentId,
      shipment_id: SHIPMENT_ID,
      type: 'photo',
      status: 'uploaded',
      file_name: 'Foto – 写真.png',
      content_type: 'image/png',
      size_bytes: 7,
      checksum_sha256: 'cd'.repeat(32),
      uploaded_by: ME,
      created_at: CREATED,
      uploaded_at: CREATED,
      reviewed_by: null,
      reviewed_at: null,
      rejection_reason: null,
      replaces_document_id: null,
      replaced_by_document_id: null,
    };
    const stored = { document, object_id: 'object-7' };
    expect(findDataOfDecidedEvent(added, 'document.uploaded.v1')).toEqual({
      stored,
      replaced: null,
      documents_count: 1,
    });
    expect(scenario.state?.documents).toEqual([{ ...stored, received: null, verdict: 0 }]);
    expect(scenario.record.documents_count).toBe(1);
  });

  it('with an upload URL is pending, as announced, and does not count', () => {
    const scenario = begin();
    const told = { content_type: 'text/csv', size_bytes: 12, checksum_sha256: 'ef'.repeat(32) } as const;
    const requested = scenario.requestUpload(told);
    expect([requested.outcome, getTypesOfDecidedEvents(requested)]).toEqual(['requested', ['document.requested.v1']]);
    expect(requested.document).toMatchObject({ ...told, status: 'pending_upload', uploaded_at: null, uploaded_by: ME });
    expect([requested.object_id, scenario.record.documents_count]).toEqual([null, 0]);
    expect(scenario.state?.nextCheckAt).toBe(inMs(pendingMs));
  });

  it('is pending until its sender completes it; the last bytes count', () => {
    const scenario = begin();
    const { document } = scenario.requestUpload();
    const received = scenario.receiveUpload(document, { id: 'first', size_bytes: 3 });
    expect([received.outcome, getTypesOfDecidedEvents(received), received.object_id]).toEqual([
      'received',
      ['document.received.v1'],
      null,
    ]);
    scenario.receiveUpload(document, { id: 'second', content_type: 'image/tiff' });
    expect(scenario.record.documents_count).toBe(0);
    const completed = scenario.setTimeOfNextCommand(inMs(60_000)).completeUpload(document);
    expect([completed.outcome, getTypesOfDecidedEvents(completed), completed.object_id]).toEqual([
      'completed',
      ['document.uploaded.v1'],
      'second',
    ]);
    const bytes = { content_type: 'image/tiff', size_bytes: 1_000, checksum_sha256: 'ab'.repeat(32) };
    expect(completed.document).toEqual({ ...document, ...bytes, status: 'uploaded', uploaded_at: inMs(60_000) });
    expect([scenario.record.documents_count, scenario.state?.nextCheckAt]).toEqual([1, null]);
  });

  it.each<[string, Partial<ReceivedDocumentFile>, string | null, string, string]>([
    ['come again', {}, 'object-1', 'unchanged', 'object-1'],
    ['come again, and were lost', {}, null, 'received', 'object-2'],
    ['come again, after others that nobody looked for', {}, 'object-0', 'received', 'object-2'],
    ['are others', { sha256: 'cd'.repeat(32) }, 'object-1', 'received', 'object-2'],
    ['are more', { size_bytes: 1_001 }, 'object-1', 'received', 'object-2'],
  ])('whose bytes %s', (_, differing, kept, outcome, made) => {
    const scenario = begin();
    const { document } = scenario.requestUpload();
    scenario.receiveUpload(document);
    const again = scenario.receiveUpload(document, { id: 'object-2', ...differing }, kept);
    const isReplaced = outcome === 'received';
    expect([again.outcome, again.events.length]).toEqual([outcome, isReplaced ? 1 : 0]);
    expect(again.replacedObjectId).toBe(isReplaced ? 'object-1' : undefined);
    expect(scenario.state?.documents[0]?.received?.id).toBe(made);
  });

  it.each([
    ['approved', null],
    ['rejected', 'Wrong consignee.'],
  ] as const)('that is %s records the person and the time', (status, rejection_reason) => {
    const scenario = begin();
    const { document } = scenario.addDocument();
    scenario.setTimeOfNextCommand(inMs(5));
    const reviewed =
      status === 'approved'
        ? scenario.approveDocument(document)
        : scenario.rejectDocument(document, 'Wrong consignee.');
    expect(reviewed.outcome).toBe(status);
    expect(getTypesOfDecidedEvents(reviewed)[0]).toBe(`document.${status}.v1`);
    const after = { ...document, status, reviewed_by: ME, reviewed_at: inMs(5), rejection_reason };
    expect(reviewed.document).toEqual(after);
    expect(reviewed.events[0]?.data).toEqual({
      stored: { document: after, object_id: 'object-1' },
      previous: document,
    });
    expect(scenario.record.documents_count).toBe(1);
  });

  it.each([
    ['pending', null, 0],
    ['received', 'object-1', 0],
    ['uploaded', 'object-1', -1],
    ['approved', 'object-1', -1],
    ['rejected', 'object-1', -1],
    ['expired', null, 0],
  ])('deleted while %s keeps its record, and its bytes are to be destroyed', (as, bytes, counted) => {
    const scenario = begin();
    const document = AS[as]!(scenario);
    const { documents_count } = scenario.record;
    const deleted = scenario.deleteDocument(document);
    expect([deleted.outcome, getTypesOfDecidedEvents(deleted)[0], deleted.object_id]).toEqual([
      'deleted',
      'document.deleted.v1',
      bytes,
    ]);
    expect(deleted.document).toEqual({ ...document, status: 'deleted' });
    expect(scenario.record.documents_count).toBe(documents_count + counted);
    expect(scenario.state?.nextCheckAt).toBeNull();
  });

  const outcomes: Readonly<Record<keyof typeof ACTS, Readonly<Record<string, string>>>> = {
    receive: { pending: 'received', received: 'received', '*': 'document_not_pending' },
    complete: {
      ...{ pending: 'upload_missing', received: 'completed', '*': 'document_not_pending' },
      ...{ uploaded: 'unchanged', approved: 'unchanged', rejected: 'unchanged' },
    },
    approve: {
      ...{ uploaded: 'approved', approved: 'unchanged', rejected: 'document_reviewed', '*': 'document_not_uploaded' },
    },
    reject: {
      ...{ uploaded: 'rejected', rejected: 'unchanged', approved: 'document_reviewed', '*': 'document_not_uploaded' },
    },
    delete: { deleted: 'unchanged', '*': 'deleted' },
  };
  const table = Object.keys(ACTS).flatMap((act) =>
    Object.keys(AS).map((as) => {
      const of = outcomes[act as keyof typeof ACTS];
      return [act, as, of[as] ?? of['*'] ?? ''] as const;
    }),
  );
  it.each(table)('%s of one that is %s: %s', (name, as, expected) => {
    const scenario = begin();
    const document = AS[as]!(scenario);
    const act = ACTS[name as keyof typeof ACTS];
    const before = scenario.state;
    let outcome: string;
    try {
      const decided = act(scenario, document);
      outcome = decided.outcome;
      if (outcome === 'unchanged') expect(decided).toMatchObject({ events: [], document });
      else expect(decided.events.length).toBeGreaterThan(0);
    } catch {
      // Nothing was stored, so the command is refused again.
      outcome = captureRefusal(() => act(scenario, document)).code;
    }
    expect(outcome).toBe(expected);
    if (!['received', 'completed', 'approved', 'rejected', 'deleted'].includes(outcome)) {
      expect(scenario.state).toBe(before);
    }
  });

  it.each(Object.keys(ACTS))('%s of an unknown document is refused', (name) => {
    const scenario = begin();
    scenario.addDocument();
    const { document } = createOceanShipmentScenario().addDocument();
    const act = () => ACTS[name as keyof typeof ACTS](scenario, { ...document, id: `${document.id}x` });
    expect(captureRefusal(act).code).toBe('not_found');
  });

  it.each([
    ['size_mismatch', { size_bytes: 999 }],
    ['checksum_mismatch', { sha256: 'AB'.repeat(32) }],
    ['size_mismatch', { size_bytes: 1_001, sha256: 'cd'.repeat(32) }],
  ])('is not completed with other bytes than announced: %s', (code, bytes) => {
    const scenario = begin();
    const { document } = scenario.requestUpload();
    scenario.receiveUpload(document, bytes);
    expect(captureRefusal(() => scenario.completeUpload(document)).code).toBe(code);
    expect(scenario.state?.documents[0]?.document).toEqual(document);
    scenario.receiveUpload(document);
    expect(scenario.completeUpload(document).outcome).toBe('completed');
  });

  it('with lost bytes is not completed until they arrive again', () => {
    const scenario = begin();
    const { document } = scenario.requestUpload();
    expect(captureRefusal(() => scenario.completeUpload(document, 'object-1')).code).toBe('upload_missing');
    scenario.receiveUpload(document, { id: 'object-1' });
    expect(captureRefusal(() => scenario.completeUpload(document, 'object-1')).code).toBe('upload_missing');
    expect(scenario.state?.documents[0]?.document).toEqual(document);
    scenario.receiveUpload(document, { id: 'object-2' });
    expect(scenario.completeUpload(document, 'object-1').object_id).toBe('object-2');
    expect(scenario.completeUpload(document, 'object-2').outcome).toBe('unchanged');
  });

  it('whose bytes are lost because it expired is not pending', () => {
    const scenario = begin();
    const { document } = scenario.requestUpload();
    scenario.receiveUpload(document, { id: 'object-1' });
    scenario.setTimeOfNextCommand(inMs(pendingMs));
    expect(captureRefusal(() => scenario.completeUpload(document, 'object-1')).code).toBe('document_not_pending');
  });

  it('is limited to 500 per shipment, including deleted and expired ones', () => {
    const scenario = begin();
    const { document } = scenario.addDocument();
    const { state } = scenario;
    const one = { ...state!.documents[0]!, document: { ...document, status: 'deleted' } as const };
    const many = (count: number) => {
      const documents = Array.from({ length: count }, (_, n) => ({
        ...one,
        document: { ...one.document, id: `doc_${n}` },
      }));
      scenario.state = { ...state!, documents };
    };
    many(499);
    expect(scenario.addDocument().outcome).toBe('added');
    many(500);
    for (const act of [() => scenario.addDocument(), () => scenario.requestUpload()]) {
      const { code, details } = captureRefusal(act);
      expect([code, details.map(({ param }) => param)]).toEqual(['limit_exceeded', ['type']]);
    }
  });

  it('on a cancelled shipment is stored with a warning', () => {
    const scenario = begin();
    const { document } = scenario.addDocument();
    const pending = scenario.requestUpload().document;
    scenario.cancelShipment();
    const acts = [
      () => scenario.addDocument(),
      () => scenario.requestUpload(),
      () => scenario.receiveUpload(pending),
      () => scenario.completeUpload(pending),
      () => scenario.rejectDocument(document),
      () => scenario.rejectDocument(document),
      () => scenario.deleteDocument(document),
    ];
    for (const act of acts) expect(act().warnings.map(({ code }) => code)).toEqual(['shipment_cancelled']);
    expect(scenario.open).toEqual([]);
  });
});

describe('a document that replaces another', () => {
  it.each(['uploaded', 'approved', 'rejected'])('replaces one that is %s', (as) => {
    const scenario = begin();
    const former = AS[as]!(scenario);
    const added = scenario.addDocument({ replaces_document_id: former.id }, { id: 'object-2' });
    expect(added.document.replaces_document_id).toBe(former.id);
    const replaced = { ...former, replaced_by_document_id: added.document.id };
    expect(findDataOfDecidedEvent(added, 'document.uploaded.v1')?.replaced).toEqual({
      document: replaced,
      object_id: 'object-1',
    });
    expect(scenario.state?.documents[0]).toMatchObject({ document: replaced, object_id: 'object-1' });
    expect(scenario.record.documents_count).toBe(2);
  });

  it.each(['pending', 'received', 'expired', 'deleted'])('cannot replace one that is %s', (as) => {
    const scenario = begin();
    const { id } = AS[as]!(scenario);
    for (const act of [
      () => scenario.addDocument({ replaces_document_id: id }),
      () => scenario.requestUpload({ replaces_document_id: id }),
    ]) {
      const { code, details } = captureRefusal(act);
      expect(code).toBe('validation_failed');
      expect(details).toEqual([expect.objectContaining({ param: 'replaces_document_id', code: 'unknown_document' })]);
    }
  });

  it('cannot replace an unknown or replaced document', () => {
    const scenario = begin();
    const former = scenario.addDocument().document;
    expect(captureRefusal(() => scenario.addDocument({ replaces_document_id: 'doc_x' })).code).toBe(
      'validation_failed',
    );
    const next = scenario.addDocument({ replaces_document_id: former.id }).document;
    for (const act of [
      () => scenario.addDocument({ replaces_document_id: former.id }),
      () => scenario.requestUpload({ replaces_document_id: former.id }),
    ]) {
      expect(captureRefusal(act).code).toBe('document_replaced');
    }
    expect(scenario.addDocument({ replaces_document_id: next.id }).outcome).toBe('added');
  });

  it('replaces it when complete, not before', () => {
    const scenario = begin();
    const former = scenario.addDocument().document;
    const pending = scenario.requestUpload({ replaces_document_id: former.id }).document;
    scenario.receiveUpload(pending);
    expect(scenario.state?.documents[0]?.document).toEqual(former);
    scenario.completeUpload(pending);
    expect(scenario.state?.documents[0]?.document.replaced_by_document_id).toBe(pending.id);
  });

  it('does not replace one that was replaced or deleted in the meantime, and is still completed', () => {
    for (const meanwhile of [
      (scenario: ShipmentScenario, { id }: DocumentRecord) => scenario.addDocument({ replaces_document_id: id }),
      (scenario: ShipmentScenario, document: DocumentRecord) => scenario.deleteDocument(document),
    ]) {
      const scenario = begin();
      const former = scenario.addDocument().document;
      const pending = scenario.requestUpload({ replaces_document_id: former.id }).document;
      meanwhile(scenario, former);
      const [before] = scenario.state!.documents;
      scenario.receiveUpload(pending);
      const completed = scenario.completeUpload(pending);
      expect([completed.outcome, findDataOfDecidedEvent(completed, 'document.uploaded.v1')?.replaced]).toEqual([
        'completed',
        null,
      ]);
      expect(scenario.state?.documents[0]).toEqual(before);
    }
  });
});

describe('a replacement that is deleted', () => {
  it.each(['uploaded', 'approved', 'rejected'])('makes its predecessor current again if that is %s', (as) => {
    const scenario = begin();
    const former = AS[as]!(scenario);
    const wrong = scenario.addDocument({ replaces_document_id: former.id }, { id: 'object-2' }).document;
    const deleted = scenario.deleteDocument(wrong);
    const restored = { document: former, object_id: 'object-1' };
    expect(findDataOfDecidedEvent(deleted, 'document.deleted.v1')?.restored).toEqual(restored);
    expect(scenario.state?.documents[0]).toMatchObject(restored);
    const right = scenario.addDocument({ replaces_document_id: former.id }).document;
    expect(scenario.state?.documents[0]?.document.replaced_by_document_id).toBe(right.id);
  });

  it('restores nothing while another one has replaced its predecessor', () => {
    const scenario = begin();
    const first = scenario.addDocument().document;
    const second = scenario.addDocument({ replaces_document_id: first.id }).document;
    const third = scenario.addDocument({ replaces_document_id: second.id }).document;
    expect(findDataOfDecidedEvent(scenario.deleteDocument(second), 'document.deleted.v1')).not.toHaveProperty(
      'restored',
    );
    const { code, message } = captureRefusal(() => scenario.addDocument({ replaces_document_id: first.id }));
    expect([code, message]).toEqual(['document_replaced', `The document was already replaced by ${third.id}.`]);
    const deleted = scenario.deleteDocument(third);
    expect(findDataOfDecidedEvent(deleted, 'document.deleted.v1')?.restored?.document).toEqual(first);
    expect(scenario.addDocument({ replaces_document_id: first.id }).outcome).toBe('added');
  });

  it('restores nothing if it replaced nothing, or its predecessor is deleted', () => {
    const scenario = begin();
    const former = scenario.addDocument().document;
    const pending = scenario.requestUpload({ replaces_document_id: former.id }).document;
    expect(findDataOfDecidedEvent(scenario.deleteDocument(pending), 'document.deleted.v1')).not.toHaveProperty(
      'restored',
    );
    const next = scenario.addDocument({ replaces_document_id: former.id }).document;
    scenario.deleteDocument(former);
    expect(findDataOfDecidedEvent(scenario.deleteDocument(next), 'document.deleted.v1')).not.toHaveProperty('restored');
  });

  it('is not one in streams without that information', () => {
    const scenario = begin();
    const former = scenario.addDocument().document;
    const wrong = scenario.addDocument({ replaces_document_id: former.id }).document;
    scenario.deleteDocument(wrong);
    const events = scenario.events.map((event) => {
      if (event.type !== 'document.deleted.v1') return event;
      const { restored: _, ...data } = event.data;
      return { ...event, data };
    });
    scenario.state = fold(events);
    expect(scenario.state?.documents[0]?.document.replaced_by_document_id).toBe(wrong.id);
    const right = scenario.addDocument({ replaces_document_id: former.id }).document;
    expect(scenario.state?.documents[0]?.document.replaced_by_document_id).toBe(right.id);
  });
});

describe('a document that is pending', () => {
  it('expires after exactly 24 hours, by the clock, once', () => {
    const scenario = begin();
    const { document } = scenario.requestUpload();
    expect(getTypesOfDecidedEvents(scenario.setTimeOfNextCommand(inMs(pendingMs - 1)).checkRules())).toEqual([]);
    const checked = scenario.setTimeOfNextCommand(inMs(pendingMs)).checkRules();
    expect(getTypesOfDecidedEvents(checked)).toEqual(['document.expired.v1']);
    const expired = { ...document, status: 'expired' };
    const stored = { document: expired, object_id: null };
    expect(findDataOfDecidedEvent(checked, 'document.expired.v1')).toEqual({ stored, previous: document });
    expect(scenario.state?.documents).toEqual([{ ...stored, received: null, verdict: 0 }]);
    expect(scenario.state?.nextCheckAt).toBeNull();
    expect(getTypesOfDecidedEvents(scenario.checkRules())).toEqual([]);
  });

  it('expires with any other write, also on a cancelled shipment', () => {
    const scenario = begin();
    scenario.requestUpload();
    expect(
      getTypesOfDecidedEvents(scenario.setTimeOfNextCommand(inMs(pendingMs)).upsertShipment({ house_bill: 'HB-1' })),
    ).toContain('document.expired.v1');
    const cancelled = begin();
    cancelled.requestUpload();
    cancelled.cancelShipment();
    expect(cancelled.state?.nextCheckAt).toBe(inMs(pendingMs));
    expect(getTypesOfDecidedEvents(cancelled.setTimeOfNextCommand(inMs(pendingMs)).checkRules())).toEqual([
      'document.expired.v1',
    ]);
  });

  it('expires with its received bytes, which are to be destroyed', () => {
    const scenario = begin();
    scenario.receiveUpload(scenario.requestUpload().document, { id: 'object-3' });
    scenario.setTimeOfNextCommand(inMs(pendingMs)).checkRules();
    expect(scenario.state?.documents).toMatchObject([{ object_id: 'object-3', received: null }]);
  });

  it('counts as expired for a command that comes before the clock', () => {
    const scenario = begin();
    const { document } = scenario.requestUpload();
    scenario.setTimeOfNextCommand(inMs(pendingMs - 1)).receiveUpload(document);
    scenario.setTimeOfNextCommand(inMs(pendingMs));
    for (const act of [() => scenario.receiveUpload(document), () => scenario.completeUpload(document)]) {
      const { code, message } = captureRefusal(act);
      expect([code, message]).toEqual(['document_not_pending', expect.stringContaining('expired')]);
    }
    expect(scenario.setTimeOfNextCommand(inMs(pendingMs - 1)).completeUpload(document).outcome).toBe('completed');
  });

  it('determines the next check, one after another', () => {
    const scenario = begin();
    scenario.requestUpload();
    scenario.setTimeOfNextCommand(inMs(1_000)).requestUpload();
    scenario.addDocument();
    expect(scenario.state?.nextCheckAt).toBe(inMs(pendingMs));
    scenario.setTimeOfNextCommand(inMs(pendingMs)).checkRules();
    expect(scenario.state?.nextCheckAt).toBe(inMs(pendingMs + 1_000));
    const statuses = scenario.state?.documents.map(({ document }) => document.status);
    expect(statuses).toEqual(['expired', 'pending_upload', 'uploaded']);
  });
});

describe('announcements and history of documents', () => {
  it('contain completed and reviewed documents with their download URL', () => {
    const scenario = begin();
    const first = scenario.requestUpload().document;
    scenario.receiveUpload(first);
    scenario.completeUpload(first);
    const second = scenario.addDocument({ replaces_document_id: first.id }).document;
    scenario.approveDocument(second);
    scenario.rejectDocument(first);
    scenario.deleteDocument(second);
    scenario.requestUpload();
    scenario.setTimeOfNextCommand(inMs(pendingMs)).checkRules();
    const told = scenario.events.slice(1).flatMap((event) => {
      const announcement = findPublicEventOfStoredEvent(event);
      const data = announcement?.data(toShipmentResource(scenario.record, ADDRESSES.appUrl), ADDRESSES);
      if (!event.type.startsWith('document.')) return [];
      const { document } = (data ?? {}) as { document?: { status: string; download_url: string } };
      const history = findHistoryNoteOfEvent(event);
      const { from, to } = (history?.changes.document ?? {}) as Record<
        'from' | 'to',
        DocumentRecord | null | undefined
      >;
      return [
        [
          event.type,
          announcement?.type,
          document?.status,
          document?.download_url,
          history?.type,
          from?.status,
          to?.status,
        ],
      ];
    });
    const url = ({ id }: DocumentRecord) => `https://api.example/v1/documents/${id}/download`;
    const none = undefined;
    expect(told).toEqual([
      ['document.requested.v1', none, none, none, 'document.requested', none, 'pending_upload'],
      ['document.received.v1', none, none, none, none, none, none],
      ['document.uploaded.v1', 'document.uploaded', 'uploaded', url(first), 'document.uploaded', none, 'uploaded'],
      ['document.uploaded.v1', 'document.uploaded', 'uploaded', url(second), 'document.uploaded', none, 'uploaded'],
      [
        'document.approved.v1',
        'document.approved',
        'approved',
        url(second),
        'document.approved',
        'uploaded',
        'approved',
      ],
      [
        'document.rejected.v1',
        'document.rejected',
        'rejected',
        url(first),
        'document.rejected',
        'uploaded',
        'rejected',
      ],
      ['document.deleted.v1', none, none, none, 'document.deleted', 'approved', 'deleted'],
      ['document.requested.v1', none, none, none, 'document.requested', none, 'pending_upload'],
      ['document.expired.v1', none, none, none, 'document.expired', 'pending_upload', 'expired'],
    ]);
    expect(JSON.stringify(scenario.events.map((event) => findHistoryNoteOfEvent(event)))).not.toContain('object-1');
  });

  it('contain no other change of the shipment', () => {
    const scenario = begin();
    const { document } = scenario.addDocument();
    scenario.approveDocument(document);
    scenario.deleteDocument(document);
    expect(scenario.events.map(({ type }) => type)).not.toContain('shipment.changed.v1');
  });
});

describe('a repeated command about a document', () => {
  const about = (scenario: ShipmentScenario) => ({ ...scenario.createCommandContext(), shipment_id: SHIPMENT_ID });
  const { content_type, size_bytes, sha256: checksum_sha256 } = createSampleReceivedObject();
  const expected = { content_type, size_bytes, checksum_sha256 };

  function commandsOn(scenario: ShipmentScenario): readonly (() => readonly [ShipmentCommand, string])[] {
    const naming = (n: number) => ({
      ...about(scenario),
      document_id: scenario.state?.documents[n]?.document.id ?? '',
    });
    return [
      () => [
        {
          ...about(scenario),
          type: 'AddDocument',
          document: createDocumentInput(),
          object: createSampleReceivedObject(),
        },
        'added',
      ],
      () => [
        { ...about(scenario), type: 'RequestUpload', document: { ...createDocumentInput(), ...expected } },
        'requested',
      ],
      () => [
        { ...naming(1), type: 'ReceiveUpload', object: createSampleReceivedObject(), kept_object_id: null },
        'received',
      ],
      () => [{ ...naming(1), type: 'CompleteUpload', lost_object_id: null }, 'completed'],
      () => [{ ...naming(1), type: 'ApproveDocument' }, 'approved'],
      () => [{ ...naming(0), type: 'RejectDocument', reason: 'No.' }, 'rejected'],
      () => [{ ...naming(0), type: 'DeleteDocument' }, 'deleted'],
    ];
  }

  it('is decided equally, with the same id, and answered from its stored events', () => {
    const scenario = begin();
    for (const make of commandsOn(scenario)) {
      const [command, outcome] = make();
      const decided = () => decide(command, scenario.state, createDecideContext(command.id));
      expect(decided()).toEqual(decided());
      const { length } = scenario.events;
      const { documentId, outcome: came } = scenario.decideAndApplyShipmentCommand(command) as ReturnType<
        ShipmentScenario['addDocument']
      >;
      expect(came).toBe(outcome);
      const { rebuildResultFromEvents: rebuildResult, buildAnswerFromResult: answer } = getCommandHandler(command.type);
      const result = rebuildResult(scenario.events.slice(length), command);
      expect(result).toEqual({ outcome, documentId });
      const found = scenario.state?.documents.find(({ document }) => document.id === documentId);
      expect(answer(result!, scenario.state!)).toEqual({
        outcome,
        document: found?.document,
        object_id: found?.object_id,
        shipment_version: scenario.record.version,
      });
      // The expired documents are not part of the command's result.
      expect(rebuildResult([], command)).toBeUndefined();
    }
  });
});
