import react from '@vitejs/plugin-react';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Plugin, defineConfig } from 'vite';

/** In development the API is asked of a server that runs beside (`npm start`). */
const API = process.env['API_URL'] ?? 'http://127.0.0.1:3000';

/**
 * What pdf.js reads beside its scripts, and few PDFs need: how East Asian texts are coded, fonts that PDFs may leave out, and
 * decoders of pictures that are no WebAssembly. It asks for them by name, so they are in a folder of its version.
 */
function partsOfPdfJs(): Plugin {
  const manifest = createRequire(import.meta.url).resolve('pdfjs-dist/package.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
  const parts = [
    ['cmaps', 'cmaps/', /\.bcmap$|^LICENSE/],
    ['standard_fonts', 'standard_fonts/', /\.(pfb|ttf)$|^LICENSE/],
    ['wasm', '', /_nowasm_fallback\.js$|^LICENSE.*_(JBIG2|OPENJPEG)$/],
  ] as const;
  return {
    name: 'parts-of-pdfjs',
    apply: 'build',
    generateBundle() {
      for (const [folder, to, which] of parts) {
        const from = join(dirname(manifest), folder);
        for (const name of readdirSync(from).filter((one) => which.test(one))) {
          const fileName = `assets/pdfjs-${version}/${to}${name}`;
          this.emitFile({ type: 'asset', fileName, source: readFileSync(join(from, name)) });
        }
      }
    },
  };
}

/** What the page itself loads keeps its name: what is left of it after the bundle (tools/web-styles.mjs) no hash would tell. */
const PAGE_STYLES = 'index.css';

export default defineConfig({
  plugins: [react(), partsOfPdfJs()],
  worker: { format: 'es' },
  resolve: { conditions: ['@tracking/source', 'module', 'browser', 'development|production'] },
  build: {
    outDir: 'dist',
    manifest: true,
    sourcemap: false,
    target: 'es2023',
    // Those know `light-dark()`: what stands in for it does not know which scheme Mantine has set.
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        assetFileNames: ({ names }) => `assets/${names.includes(PAGE_STYLES) ? '[name]' : '[name]-[hash]'}[extname]`,
      },
    },
  },
  server: { proxy: { '/v1': API, '/docs': API, '/openapi.json': API } },
});
