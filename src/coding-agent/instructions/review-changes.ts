// Reviews changed instruction texts: a version that counted before counts again, everything else is shown to the user first.
import { lstatSync, statSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, escapeInvisibleLine, minOf } from '../../core/index.ts';
import {
  hashText,
  isCounted,
  readOnce,
  toRealPath,
  type CountedText,
  type FolderRecord,
  type FolderRecords,
  type InstructionText,
} from './counted-texts.ts';
import type { InstructionChange, InstructionReview, InstructionReviewOptions } from './review.ts';

/** The number of accepted versions that are remembered for each file: a switch of branches does not ask again. */
const maxHashes = 20;
const maxTextBytes = 65_536;
const maxRecordBytes = 1_048_576;
const maxFiles = 1000;

type Change = { readonly text: InstructionText; readonly counted: CountedText | undefined; readonly hash: string };

/** Decides about texts of which at least one is not the one that counted last, and records what counts. */
export async function reviewChanges(
  texts: readonly InstructionText[],
  records: FolderRecords,
  options: InstructionReviewOptions,
): Promise<InstructionReview> {
  const read = readOnce(records);
  const accepted: InstructionText[] = [];
  const changes: Change[] = [];
  for (const text of texts) {
    const record = read(text.folder);
    if (isCounted(record, text)) continue;
    const [counted, hash] = [record?.files[text.name], hashText(text.text)];
    const isKnown = counted ? counted.hashes.includes(hash) : isFirstVersion(text, read);
    if (isKnown) accepted.push(text);
    else changes.push({ text, counted, hash });
  }
  const asked = changes.filter(({ counted, hash }) => options.asksAgain || counted?.refused !== hash);
  const answer = asked.length > 0 ? await options.accept?.(asked.map(toInstructionChange)) : undefined;
  if (answer === true) accepted.push(...asked.map(({ text }) => text));
  const left = answer === true ? changes.filter((each) => !asked.includes(each)) : changes;
  return {
    earlier: new Map(left.map(({ text, counted }) => [text, counted?.text ?? ''])),
    isPending: asked.length > 0 && answer === undefined,
    problems: [
      ...left.map((each) => formatUnused(each, options.cwd)),
      ...saveDecisions(records, accepted, answer === false ? asked : []),
    ],
  };
}

const toInstructionChange = ({ text, counted }: Change): InstructionChange => ({
  file: text.file,
  ...(counted?.text === undefined ? {} : { before: counted.text }),
  after: text.text,
});

/** Whether no session can have written this file: none worked in a directory above it, or the file did not change since the first one began. */
function isFirstVersion({ folder, file }: InstructionText, read: FolderRecords['read']): boolean {
  const times = listFoldersAbove(toRealPath(folder)).flatMap((each) => read(each)?.since ?? []);
  return times.length === 0 || getChangeTime(file) < minOf(times);
}

function listFoldersAbove(folder: string): readonly string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [folder, ...listFoldersAbove(parent)];
}

/** The later change time of a link and its target. The kernel sets it, so a command cannot choose it. */
function getChangeTime(file: string): number {
  try {
    return Math.max(lstatSync(file).ctimeMs, statSync(file).ctimeMs);
  } catch {
    return Infinity;
  }
}

type Decision = {
  readonly text: InstructionText;
  readonly update: (counted: CountedText | undefined) => CountedText;
};

/** Saves what was accepted and refused, with one write for each directory. */
function saveDecisions(
  records: FolderRecords,
  accepted: readonly InstructionText[],
  refused: readonly Change[],
): readonly string[] {
  const decisions: readonly Decision[] = [
    ...accepted.map((text) => ({ text, update: (counted?: CountedText) => countText(text.text, counted) })),
    ...refused.map(({ text, hash }) => ({
      text,
      update: (counted?: CountedText) => ({ hashes: [], ...counted, refused: hash }),
    })),
  ];
  try {
    for (const [folder, decided] of Map.groupBy(decisions, ({ text }) => text.folder))
      records.save(decided.reduce(applyDecision, records.read(folder) ?? { folder, files: {} }));
    return [];
  } catch (error) {
    return [`What counts of the instruction files could not be saved. ${errorMessage(error)}`];
  }
}

function applyDecision(record: FolderRecord, { text: { name }, update }: Decision): FolderRecord {
  const { [name]: counted, ...others } = record.files;
  const updated = update(counted);
  const kept = Object.entries(others).slice(1 - maxFiles);
  const keptBytes = kept.reduce((sum, [, each]) => sum + getBytes(each), 0);
  // Without its text a file is still recognised by its hash; only the earlier text cannot be used or compared.
  const { text: _, ...withoutText } = updated;
  const entry = keptBytes + getBytes(updated) > maxRecordBytes ? withoutText : updated;
  return { ...record, files: Object.fromEntries([...kept, [name, entry]]) };
}

const getBytes = ({ text = '' }: CountedText): number => Buffer.byteLength(text);

function countText(text: string, counted: CountedText | undefined): CountedText {
  const hash = hashText(text);
  const hashes = [hash, ...(counted?.hashes ?? []).filter((each) => each !== hash)].slice(0, maxHashes);
  return { hashes, ...(Buffer.byteLength(text) > maxTextBytes ? {} : { text }) };
}

function formatUnused({ text: { file, text }, counted }: Change, cwd: string): string {
  const [verb, instead] = counted?.text
    ? [text === '' ? 'was removed' : 'changed', 'its earlier text is used']
    : ['is new or changed', 'it is not used'];
  return `${escapeInvisibleLine(file)} ${verb} since it was last accepted in this folder, so ${instead}. To read and accept the change, run "fairlead trust" in ${escapeInvisibleLine(cwd)}.`;
}
