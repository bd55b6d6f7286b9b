// Reads the chat template and the context length from the header of a GGUF file, without the runtime.
import { open, type FileHandle } from 'node:fs/promises';
import { FairleadError } from '../../core/index.ts';

/** What the header of a model file states. */
export type GgufHeader = { readonly chatTemplate?: string; readonly contextLength?: number };

/** The sizes of the value types in bytes, by their number; 8 is a string and 9 a list. */
const sizes: readonly (number | undefined)[] = [1, 1, 2, 2, 4, 4, 4, 1, undefined, undefined, 8, 8, 8];
const [stringType, listType] = [8, 9];
const maxStringBytes = 4e6;
const maxEntries = 100_000;
/** Vocabularies have up to about 300,000 items. */
const maxListItems = 2_000_000;

/** Reads the header of a model file. */
export async function readGgufHeader(file: string, signal?: AbortSignal): Promise<GgufHeader> {
  const handle = await open(file, 'r');
  try {
    return await readEntries(createReader(handle, signal));
  } catch (error) {
    signal?.throwIfAborted();
    throw new FairleadError('embedded/not-loaded', `The header of the model file ${file} cannot be read.`, {
      blame: 'user',
      hint: 'It is not a GGUF file that llama.cpp runs. Use another file of the repository.',
      cause: error,
    });
  } finally {
    await handle.close();
  }
}

async function readEntries(reader: Reader): Promise<GgufHeader> {
  if ((await reader.take(4)).toString('latin1') !== 'GGUF') throw new Error('no GGUF magic');
  if ((await reader.take(4)).readUInt32LE() < 2) throw new Error('GGUF version 1');
  await reader.length();
  const count = Math.min(await reader.length(), maxEntries);
  let chatTemplate: string | undefined;
  let contextLength: number | undefined;
  for (let i = 0; i < count && (chatTemplate === undefined || contextLength === undefined); i++) {
    const key = await reader.string();
    const type = (await reader.take(4)).readUInt32LE();
    if (key === 'tokenizer.chat_template' && type === stringType) chatTemplate = await reader.string();
    else if (key.endsWith('.context_length') && (type === 4 || type === 5))
      contextLength = (await reader.take(4)).readUInt32LE();
    else await skipValue(reader, type);
  }
  return {
    ...(chatTemplate === undefined ? {} : { chatTemplate }),
    ...(contextLength === undefined ? {} : { contextLength }),
  };
}

async function skipValue(reader: Reader, type: number): Promise<void> {
  if (type === stringType) return reader.skip(await reader.length());
  if (type !== listType) return reader.skip(sizeOf(type));
  const itemType = (await reader.take(4)).readUInt32LE();
  const items = await reader.length();
  if (itemType === listType) throw new Error('a list of lists');
  if (items > maxListItems) throw new Error('a list is too long');
  if (itemType !== stringType) return reader.skip(items * sizeOf(itemType));
  for (let i = 0; i < items; i++) await reader.skip(await reader.length());
}

function sizeOf(type: number): number {
  const size = sizes[type];
  if (size === undefined) throw new Error(`unknown value type ${type}`);
  return size;
}

type Reader = {
  take(bytes: number): Promise<Buffer>;
  skip(bytes: number): Promise<void>;
  length(): Promise<number>;
  string(): Promise<string>;
};

/** Reads a file forward in blocks. */
function createReader(handle: FileHandle, signal: AbortSignal | undefined): Reader {
  const block = Buffer.alloc(2 ** 18);
  let start = 0;
  let filled = 0;
  let at = 0;
  async function take(bytes: number): Promise<Buffer> {
    if (bytes > maxStringBytes) throw new Error('a value is too long');
    if (at >= start && at + bytes <= start + filled) return block.subarray(at - start, (at += bytes) - start);
    signal?.throwIfAborted();
    const target = bytes > block.length ? Buffer.alloc(bytes) : block;
    const { bytesRead } = await handle.read(target, 0, target.length, at);
    if (bytesRead < bytes) throw new Error('the file ends inside its header');
    if (target === block) [start, filled] = [at, bytesRead];
    at += bytes;
    return target.subarray(0, bytes);
  }
  const length = async (): Promise<number> => Number((await take(8)).readBigUInt64LE());
  return {
    take,
    length,
    skip: async (bytes) => void (at += bytes),
    string: async () => (await take(await length())).toString('utf8'),
  };
}
