import { Alert, Button, Center, Group, Loader, Text, VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { GlobalWorkerOptions, type PDFDocumentProxy, getDocument, version } from 'pdfjs-dist';
import PdfWorker from 'pdfjs-dist/build/pdf.worker.min.mjs?worker';
import { useEffect, useRef, useState } from 'react';
import classes from './preview.module.css';

interface PdfPreviewProps {
  readonly blob: Blob;
  readonly name: string;
}

/**
 * Preview of a PDF that shows one page at a time. Each page is drawn on a canvas. Screen readers get the text of the
 * page.
 */
export function PdfPreview({ blob, name }: PdfPreviewProps) {
  const [pdf, setPdf] = useState<PDFDocumentProxy>();
  const [isBroken, setIsBroken] = useState(false);
  useEffect(() => {
    let isShown = true;
    const opening = openPdf(blob);
    opening.then(
      (opened) => isShown && setPdf(opened),
      () => isShown && setIsBroken(true),
    );
    return () => {
      isShown = false;
      void opening.then(({ loadingTask }) => loadingTask.destroy()).catch(() => undefined);
    };
  }, [blob]);
  if (isBroken) {
    return (
      <Alert color="yellow">
        This PDF cannot be displayed because it is damaged or requires a password. Download it to open it.
      </Alert>
    );
  }
  return pdf === undefined ? <PdfLoadingIndicator /> : <PdfPages pdf={pdf} name={name} />;
}

function PdfLoadingIndicator() {
  return (
    <Center p="xl">
      <Loader aria-label="Loading the preview" />
    </Center>
  );
}

function PdfPages({ pdf, name }: { readonly pdf: PDFDocumentProxy; readonly name: string }) {
  const [number, setNumber] = useState(1);
  const [zoom, setZoom] = useState(1);
  const canvas = useRef<HTMLCanvasElement>(null);
  const words = useQuery({
    queryKey: ['pdf-words', pdf.fingerprints[0], number],
    queryFn: async () => readPdfPageText(pdf, number),
    gcTime: 0,
  });
  const [failed, setFailed] = useState<number>();
  useEffect(() => {
    const drawing = renderPdfPageToCanvas(pdf, number, zoom, canvas.current);
    drawing.done.catch(() => setFailed(number));
    return drawing.cancel;
  }, [pdf, number, zoom]);
  return (
    <>
      <Group justify="center" gap="xs">
        <Button size="xs" variant="default" disabled={number === 1} onClick={() => setNumber(number - 1)}>
          Previous page
        </Button>
        <Text size="sm" aria-live="polite">
          {`Page ${number} of ${pdf.numPages}`}
        </Text>
        <Button size="xs" variant="default" disabled={number === pdf.numPages} onClick={() => setNumber(number + 1)}>
          Next page
        </Button>
        <Button size="xs" variant="default" onClick={() => setZoom(zoom === 1 ? 2 : 1)} aria-pressed={zoom !== 1}>
          Zoom in
        </Button>
      </Group>
      {failed === number && (
        <Alert color="yellow">This page cannot be displayed. Download the document to open it.</Alert>
      )}
      <div
        className={classes['pages']}
        tabIndex={0}
        role="region"
        aria-label={`Page ${number} of the document ${name}`}
      >
        <canvas ref={canvas} className={classes['page']} data-zoom={zoom} aria-hidden />
        <VisuallyHidden>{words.data ?? ''}</VisuallyHidden>
      </div>
    </>
  );
}

async function readPdfPageText(pdf: PDFDocumentProxy, number: number): Promise<string> {
  const { items } = await (await pdf.getPage(number)).getTextContent();
  return items.map((item) => ('str' in item ? item.str : '')).join(' ');
}

/** Width of a displayed PDF page in CSS pixels. */
const PDF_PAGE_WIDTH_PX = 900;

function renderPdfPageToCanvas(pdf: PDFDocumentProxy, number: number, zoom: number, canvas: HTMLCanvasElement | null) {
  let cancel = () => undefined as void;
  let isCancelled = false;
  const done = (async () => {
    const page = await pdf.getPage(number);
    if (isCancelled || canvas === null) return;
    const [unscaled, density] = [page.getViewport({ scale: 1 }), Math.min(devicePixelRatio, 2)];
    const viewport = page.getViewport({ scale: (PDF_PAGE_WIDTH_PX * zoom * density) / unscaled.width });
    [canvas.width, canvas.height] = [Math.round(viewport.width), Math.round(viewport.height)];
    const task = page.render({ canvas, viewport });
    cancel = () => task.cancel();
    await task.promise;
    canvas.dataset['drawn'] = String(number);
  })();
  const end = () => {
    isCancelled = true;
    cancel();
  };
  return {
    done: done.catch((error: unknown) => (isCancelled ? undefined : Promise.reject(error as Error))),
    cancel: end,
  };
}

/** URL of the files that pdf.js needs only for some PDFs. The Vite plugin in vite.config.ts provides these files. */
const PDFJS_ASSETS_URL = `/assets/pdfjs-${version}/`;

/**
 * Opens a PDF in a web worker. Scripts, forms, links and embedded files of the PDF are ignored. Images are decoded in
 * JavaScript, because WebAssembly would require a weaker content security policy.
 */
async function openPdf(blob: Blob): Promise<PDFDocumentProxy> {
  GlobalWorkerOptions.workerPort ??= new PdfWorker();
  const data = new Uint8Array(await blob.arrayBuffer());
  return getDocument({
    data,
    enableXfa: false,
    useWasm: false,
    wasmUrl: PDFJS_ASSETS_URL,
    cMapUrl: `${PDFJS_ASSETS_URL}cmaps/`,
    cMapPacked: true,
    standardFontDataUrl: `${PDFJS_ASSETS_URL}standard_fonts/`,
  }).promise;
}
