import { EmbeddedSqliteEngine } from '../src/index.ts';
import { silentTelemetry } from './writing-child-protocol.ts';

/** Opens the given folder and reports the result. */
const [dataDir = ''] = process.argv.slice(2);
try {
  const engine = await EmbeddedSqliteEngine.openEmbeddedEngine({ dataDir, ...silentTelemetry });
  await engine.closeEngine();
  console.log('opened');
} catch (openingError) {
  console.log(String(openingError));
}
