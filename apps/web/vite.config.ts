import react from '@vitejs/plugin-react';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Plugin, defineConfig } from 'vite';

/**
 * URL of the API server that the development server forwards requests to. `npm start` starts an API server at the
 * default URL.
 */
const API_URL = process.env['API_URL'] ?? 'http://127.0.0.1:3000';

/**
 * Copies the files that pdf.js loads only for some PDFs: encodings of East Asian texts, fonts that a PDF may leave out,
 * and image decoders without WebAssembly. pdf.js requests these files by fixed names. Their folder therefore has the
 * version of pdf.js in its name.
 */
function copyPdfJsAssets(): Plugin {
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

/**
 * Name of the style sheet. It contains no hash of the content, because tools/web-styles.mjs changes the content after
 * bundling.
 */
const STYLESHEET_NAME = 'index.css';

export default defineConfig({
  plugins: [react(), copyPdfJsAssets()],
  worker: { format: 'es' },
  resolve: { conditions: ['@tracking/source', 'module', 'browser', 'development|production'] },
  build: {
    outDir: 'dist',
    manifest: true,
    sourcemap: false,
    target: 'es2023',
    // For older browsers, the build would replace `light-dark()` and ignore the color scheme of Mantine.
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        assetFileNames: ({ names }) =>
          `assets/${names.includes(STYLESHEET_NAME) ? '[name]' : '[name]-[hash]'}[extname]`,
      },
    },
  },
  server: { proxy: { '/v1': API_URL, '/docs': API_URL, '/openapi.json': API_URL } },
});
