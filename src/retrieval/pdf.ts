// Extracts the text of PDF files with the package unpdf, which is optional and loaded for the first PDF only.
import type { SkipReason } from './read-document.ts';

/** The members of unpdf that are used. */
type PdfLibrary = {
  getDocumentProxy(data: Uint8Array): Promise<object>;
  extractText(document: object, options: { readonly mergePages: false }): Promise<{ readonly text: readonly string[] }>;
};

/** The name of the optional package, as users install it. */
export const pdfPackage = 'unpdf';

let library: Promise<PdfLibrary | undefined> | undefined;

/** Whether bytes are a PDF file. */
export const isPdf = (bytes: Uint8Array): boolean => String.fromCharCode(...bytes.subarray(0, 5)) === '%PDF-';

/** The text of each page; a reason if the package is not installed or cannot read the file. */
export async function extractPdfPages(bytes: Uint8Array): Promise<readonly string[] | SkipReason> {
  library ??= (import(pdfPackage) as Promise<PdfLibrary>).catch(() => undefined);
  const pdf = await library;
  if (!pdf) return 'no PDF library';
  try {
    // The library takes over the buffer that it is given.
    const document = await pdf.getDocumentProxy(Uint8Array.from(bytes));
    return (await pdf.extractText(document, { mergePages: false })).text;
  } catch {
    return 'not a readable PDF';
  }
}
