// Extracts one file from a tar stream while it is downloaded, as npm packages are.
import { FairleadError } from '../../core/index.ts';

const blockSize = 512;

/** Yields the bytes of a file of a tar archive. The archive must contain the complete file. */
export async function* extractTarFile(archive: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const reader = createArchiveReader(archive);
  for (;;) {
    const header = await reader.readExactly(blockSize);
    if (!header || header.every((byte) => byte === 0)) throw badPackageError(`holds no ${name}`);
    const size = entrySize(header);
    if (entryName(header) === name && isFileEntry(header)) return yield* reader.readNext(size);
    for await (const _ of reader.readNext(Math.ceil(size / blockSize) * blockSize));
  }
}

type ArchiveReader = {
  /** Reads exactly this many bytes; returns undefined at the end of the archive. */
  readExactly(count: number): Promise<Uint8Array | undefined>;
  /** Yields this many bytes in chunks of any size. */
  readNext(count: number): AsyncGenerator<Uint8Array>;
};

function createArchiveReader(archive: AsyncIterable<Uint8Array>): ArchiveReader {
  const source = archive[Symbol.asyncIterator]();
  let buffered: Uint8Array = new Uint8Array(0);

  async function more(): Promise<boolean> {
    const { done, value } = await source.next();
    if (done) return false;
    buffered = value;
    return true;
  }

  async function* next(count: number): AsyncGenerator<Uint8Array> {
    let missing = count;
    while (missing > 0) {
      if (buffered.length === 0 && !(await more())) throw badPackageError('ends too early');
      const portion = buffered.subarray(0, missing);
      buffered = buffered.subarray(portion.length);
      missing -= portion.length;
      if (portion.length > 0) yield portion;
    }
  }

  return {
    readNext: next,
    async readExactly(count) {
      while (buffered.length === 0) if (!(await more())) return undefined;
      const joined = new Uint8Array(count);
      let at = 0;
      for await (const portion of next(count)) {
        joined.set(portion, at);
        at += portion.length;
      }
      return joined;
    },
  };
}

const headerField = (header: Uint8Array, from: number, length: number): string => {
  const bytes = header.subarray(from, from + length);
  const end = bytes.indexOf(0);
  return new TextDecoder('latin1').decode(end < 0 ? bytes : bytes.subarray(0, end));
};

function entryName(header: Uint8Array): string {
  const prefix = headerField(header, 257, 5) === 'ustar' ? headerField(header, 345, 155) : '';
  return prefix === '' ? headerField(header, 0, 100) : `${prefix}/${headerField(header, 0, 100)}`;
}

function entrySize(header: Uint8Array): number {
  const text = headerField(header, 124, 12).trim();
  if (!/^[0-7]+$/.test(text)) throw badPackageError('is not a tar archive');
  return Number.parseInt(text, 8);
}

const isFileEntry = (header: Uint8Array): boolean => header[156] === 0 || header[156] === 0x30;

const badPackageError = (problem: string): FairleadError =>
  new FairleadError('embedded/bad-package', `The package that was fetched ${problem}.`, {
    blame: 'provider',
    retry: true,
    hint: 'Try again; if it stays so, look for a proxy on the way that changes downloads.',
  });
