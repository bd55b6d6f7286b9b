// A file of code or rules that somebody put into a project: it is used only after a yes to its very text, and code runs from that text alone.
import { createHash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';
import { FairleadError, isObject } from '../core/index.ts';
import type { Standing, Trust } from '../guards/index.ts';
import { leadsOut, type Shelf } from './project/shelves.ts';
import { readText } from './project/text-file.ts';

/** A file of a project that is not approved as it is. */
export type UnapprovedFile = {
  readonly path: string;
  readonly text: string;
  readonly standing: Exclude<Standing, 'approved'>;
};

/** Who decides whether a project's file may be used. */
export type Approving = {
  /** What was approved of projects; a person's own files need no approval. */
  readonly trust: Trust;
  /** Asks the person whether a project's file may run; without it none that is not approved does. */
  readonly ask?: (file: UnapprovedFile) => Promise<boolean>;
  /** Nobody is there to be asked: what is not agreed to was not refused either. */
  readonly absent?: boolean;
};

const largest = 256 * 1024;
const longestMs = 10_000;

/** Why a file is not used; the sentence goes on after its name. */
export const refused = (why: string): FairleadError => new FairleadError('tool/custom-refused', why, { blame: 'user' });

/** The code of the error for a file that was approved, and is another now. */
export const changedCode = 'tool/custom-changed';

/** The text of a file on a shelf, approved where it must be; `kind` is what an approval calls it. */
export async function approvedText(shelf: Shelf, file: string, kind: string, approving: Approving): Promise<string> {
  const away = leadsOut(shelf, file);
  if (away) throw refused(away.why);
  const read = readText(file, largest);
  if ('wrong' in read) throw refused(read.why);
  if (read.cut) throw refused(`has ${read.size} bytes; it may have ${largest}`);
  if (shelf.scope === 'project') await mustBeApproved(file, read.text, kind, approving);
  return read.text;
}

async function mustBeApproved(file: string, text: string, kind: string, { trust, ask }: Approving): Promise<void> {
  const item = { subject: `${kind} ${file}`, hash: createHash('sha256').update(text).digest('hex') };
  const standing = trust.judge(item);
  if (standing === 'approved') return;
  if (!(await ask?.({ path: file, text, standing })))
    throw standing === 'new'
      ? refused('is not approved, so it was not run')
      : new FairleadError(changedCode, 'changed since it was approved, so it was not run', { blame: 'user' });
  trust.approve([item]);
}

/** What the text exports. It is run from memory: the file may have changed since it was judged, and other files next to it were judged by nobody. */
export async function exportOf(file: string, text: string): Promise<unknown> {
  const code = /\.m?ts$/.test(file) ? withoutTypes(text) : text;
  const loading = import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`) as Promise<{
    readonly default?: unknown;
  }>;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(refused(`did not load within ${longestMs / 1000} s`)), longestMs);
  try {
    return (await Promise.race([loading, late])).default;
  } catch (error) {
    const isImport = isObject(error) && error['code'] === 'ERR_UNSUPPORTED_RESOLVE_REQUEST';
    throw isImport ? refused('imports something; it must be one file and may import node:… only') : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Node warns that this is new. It is what runs our own sources, and a person has nothing to do about it. */
function withoutTypes(text: string): string {
  const emitWarning: unknown = Reflect.get(process, 'emitWarning');
  Object.assign(process, { emitWarning: () => {} });
  try {
    return stripTypeScriptTypes(text);
  } finally {
    Object.assign(process, { emitWarning });
  }
}
