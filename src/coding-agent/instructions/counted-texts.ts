// The instruction texts that counted in a project, by directory and content, in the state directory of the user. A change counts only after the user accepted it.
import { hash } from 'node:crypto';
import { readdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isObject } from '../../core/index.ts';
import { readTextIfExists, writeTextAtomic } from '../../stores/index.ts';

/** A text of a project that the model reads as instructions; it is empty if there is no file. */
export type InstructionText = {
  readonly file: string;
  /** The directory of the project that the file belongs to. */
  readonly folder: string;
  /** The name in the record of that directory. */
  readonly name: string;
  readonly text: string;
};

/** What counted of one file: the hashes of accepted texts, the latest first, and the latest text unless it was too long to keep. */
export type CountedText = {
  readonly hashes: readonly string[];
  readonly text?: string;
  /** The hash of the change that the user refused. */
  readonly refused?: string;
};

/** What is known of a directory. */
export type FolderRecord = {
  readonly folder: string;
  /** When the first session worked in this directory: it could have written what is newer. */
  readonly since?: number;
  readonly files: Readonly<Record<string, CountedText>>;
};

/** The records of a state directory. */
export type FolderRecords = {
  /** The record of a directory; a record that cannot be read makes everything in it new. */
  readonly read: (folder: string) => FolderRecord | undefined;
  readonly save: (record: FolderRecord) => void;
};

const maxRecords = 2000;

/** Hashes a text, as it is kept in the records. */
export const hashText = (text: string): string => hash('sha256', text);

/** Opens the records of a state directory. */
export function openRecords(stateDir: string): FolderRecords {
  const dir = path.join(stateDir, 'instructions');
  const locate = (folder: string): string => path.join(dir, `${hashText(toRealPath(folder)).slice(0, 40)}.json`);
  return {
    read(folder) {
      try {
        const content = readTextIfExists(locate(folder));
        return content === undefined ? undefined : parseRecord(JSON.parse(content));
      } catch {
        return { folder, since: 0, files: {} };
      }
    },
    save(record) {
      writeTextAtomic(locate(record.folder), JSON.stringify(record));
      if (readdirSync(dir).length > maxRecords)
        void import('./prune-records.ts').then(({ pruneRecords }) => pruneRecords(dir, maxRecords));
    },
  };
}

function parseRecord(content: unknown): FolderRecord {
  const { files } = isObject(content) ? content : {};
  if (isObject(files) && Object.values(files).every((each) => isObject(each) && Array.isArray(each['hashes'])))
    return content as FolderRecord;
  throw new TypeError('This is not a record.');
}

/** Reads each record once: many texts are in one directory. */
export function readOnce({ read }: FolderRecords): FolderRecords['read'] {
  const known = new Map<string, FolderRecord | undefined>();
  return (folder) => {
    if (!known.has(folder)) known.set(folder, read(folder));
    return known.get(folder);
  };
}

/** Whether this text is the one that counted last. */
export function isCounted(record: FolderRecord | undefined, text: InstructionText): boolean {
  const counted = record?.files[text.name];
  return counted ? counted.hashes[0] === hashText(text.text) : text.text === '';
}

/** The real path of a directory; its absolute path if it does not exist. */
export function toRealPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return path.resolve(folder);
  }
}
