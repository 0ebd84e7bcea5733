const { EVENTSTOREDB_URL, EVENTSTOREDB_START, KAFKA_BROKERS, MONGODB_URL, MONGODB_START, ENGINES_DIR } = process.env;

const localEngine = ENGINES_DIR ? 'an engine from ENGINES_DIR, which is killed and hung too' : undefined;
const ENGINES = {
  EventStoreDB: EVENTSTOREDB_URL
    ? `the node of EVENTSTOREDB_URL${EVENTSTOREDB_START ? ', which is killed and hung too' : ''}`
    : 'the stand-in of this repository, which is killed and hung too',
  Kafka: KAFKA_BROKERS ? 'the cluster of KAFKA_BROKERS' : localEngine,
  MongoDB: MONGODB_URL
    ? `the server of MONGODB_URL${MONGODB_START ? ', which is killed and hung too' : ''}`
    : localEngine,
};

/** A Jest reporter that prints at the end which engines were tested, and which tests were skipped and why. */
export default class NotTested {
  onRunComplete(_contexts, { testResults }) {
    const lines = ['', 'Tested on'];
    for (const [engine, which] of Object.entries(ENGINES)) lines.push(`  ${engine}: ${which ?? 'nothing, see below'}`);
    const byReason = new Map();
    for (const { status, fullName } of testResults.flatMap((file) => file.testResults)) {
      const [, title, reason] = /^(.*) \[not tested: (.*)\]$/.exec(fullName) ?? [];
      if (status === 'pending') byReason.set(reason, [...(byReason.get(reason) ?? []), title ?? fullName]);
    }
    lines.push('', byReason.size === 0 ? 'Everything was tested.' : 'Not tested');
    for (const [reason, titles] of byReason)
      lines.push(`  ${reason ?? 'no reason given'}:`, ...titles.map((title) => `    ${title}`));
    process.stderr.write(`${lines.join('\n')}\n`);
  }
}
