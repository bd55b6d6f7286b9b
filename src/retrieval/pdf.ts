// Extracts the text of PDF files in a worker thread, because a file may be arbitrarily large and malformed. The parser is loaded in the thread only.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const extractTimeoutMs = 60_000;
const maxMegabytes = 512;
const maxPages = 5000;

type PdfTask = { readonly module: string; readonly bytes: Uint8Array };

/** Returns the text of each page. Rejects if the file cannot be read, or not in time. */
export async function extractPdfPages(bytes: Uint8Array): Promise<readonly string[]> {
  const module = import.meta.url;
  const task: PdfTask = { module, bytes };
  const worker = new Worker(new URL(module), {
    workerData: task,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: maxMegabytes },
  });
  const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
  const timer = setTimeout(() => reject(new Error('It took too long.')), extractTimeoutMs);
  worker.on('message', (pages: readonly string[] | null) =>
    pages ? resolve(pages) : reject(new Error('It is no PDF.')),
  );
  worker.on('error', reject);
  worker.on('exit', () => reject(new Error('The thread ended.')));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

async function readPages(bytes: Uint8Array): Promise<readonly string[] | null> {
  try {
    const { extractText, getDocumentProxy } = await import('unpdf');
    const document = await getDocumentProxy(Uint8Array.from(bytes));
    const { text } = await extractText(document, { mergePages: false });
    return text.slice(0, maxPages);
  } catch {
    return null;
  }
}

const task = workerData as PdfTask | null;
if (!isMainThread && task?.module === import.meta.url)
  void readPages(task.bytes).then((pages) => parentPort?.postMessage(pages, []));
