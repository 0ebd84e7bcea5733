import { GlobalWorkerOptions, type PDFDocumentProxy, getDocument, version } from 'pdfjs-dist';
import PdfWorker from 'pdfjs-dist/build/pdf.worker.min.mjs?worker';

/** What few PDFs need beside: see vite.config.ts. */
const PARTS = `/assets/pdfjs-${version}/`;

/**
 * Reads a PDF in a worker. Nothing in it is run or followed: no script, no form, no link, no file inside it. WebAssembly would
 * need a wider policy of the page; what it is used for is done by scripts of the same library.
 */
export async function openPdf(blob: Blob): Promise<PDFDocumentProxy> {
  GlobalWorkerOptions.workerPort ??= new PdfWorker();
  const data = new Uint8Array(await blob.arrayBuffer());
  return getDocument({
    data,
    enableXfa: false,
    useWasm: false,
    wasmUrl: PARTS,
    cMapUrl: `${PARTS}cmaps/`,
    cMapPacked: true,
    standardFontDataUrl: `${PARTS}standard_fonts/`,
  }).promise;
}
