// Classifies lines that are not as they were written: joined, duplicated, damaged, or edited by the user.
import { isObject, upcastEvent } from '../../core/index.ts';
import { toCursor, type SessionFileIndex, type ModifiedLine } from './file-index.ts';
import { indexLine, extendSegment, advancePast } from './index-update.ts';
import { readStoredHash, readEnvelope, computeHashAt, parseHeader, replaceHash } from './line.ts';
import type { TextLine } from './read-lines.ts';
import { tryParseJson } from '../try-parse-json.ts';
import { eventShapeError } from '../validate-event.ts';

type JsonRecord = { readonly [key: string]: unknown };

/** Indexes the first line of a file, which should be its header. */
export function indexHeaderLine(index: SessionFileIndex, line: TextLine): void {
  const text = trimLine(line);
  const ownHash = readStoredHash(text, 0, text.length);
  index.header = parseHeader(text);
  index.link = ownHash ?? '';
  index.hashLost = ownHash === undefined || computeHashAt('', text, 0, text.length) !== ownHash;
  if (index.hashLost) {
    const state = index.header ? 'was changed outside the program' : 'is missing or damaged';
    index.problems.push({ kind: 'header', line: 1, offset: 0, message: `The header of the file ${state}.` });
  }
  if (index.header) return advancePast(index, line.next);
  if (eventShapeError(upcastEvent(tryParseJson(text))) === undefined) return indexAnomalousLine(index, line);
  index.damagedRanges.push({ offset: 0, end: line.next });
  advancePast(index, line.next);
}

/** Indexes a line that is not as it was written. Its bytes are never deleted: what cannot be used becomes a problem. */
export function indexAnomalousLine(index: SessionFileIndex, line: TextLine): void {
  const text = trimLine(line);
  if (text === '') index.replacedLines.set(line.offset, []);
  else classifyLine(index, line, text);
  advancePast(index, line.next);
}

const trimLine = ({ text, start, end }: TextLine): string =>
  text
    .slice(start, end)
    .replace(/^\uFEFF/, '')
    .trim();

function classifyLine(index: SessionFileIndex, line: TextLine, text: string): void {
  const value = upcastEvent(tryParseJson(text));
  const problem = eventShapeError(value);
  if (problem !== undefined || !isObject(value)) return salvageEvents(index, line, text, problem ?? '');
  const ownHash = readStoredHash(text, 0, text.length);
  const envelope = readEnvelope(text, 0);
  const hasPosition = hasOwnPosition(index, value);
  if (hasPosition && envelope && ownHash !== undefined && (index.hashLost || matchesKnownHash(index, text, ownHash))) {
    if (text.length !== line.end - line.start) recordReformatted(index, line, text);
    repairDamagedHash(index, text, ownHash);
    return indexLine(index, { ...line, text, start: 0, end: text.length }, envelope, ownHash);
  }
  recordModifiedLine(index, line, text, value, hasPosition);
}

/** Whether the line's hash is correct for one of the hashes that it may be chained to. */
const matchesKnownHash = (index: SessionFileIndex, text: string, ownHash: string): boolean =>
  [index.link, ...index.altHashes].some((link) => computeHashAt(link, text, 0, text.length) === ownHash);

/** Whether a modified line still has a valid seq and id; a line without them follows the line before it. */
function hasOwnPosition(index: SessionFileIndex, { seq, id }: JsonRecord): boolean {
  // Ids begin with their seq: if the two differ, one of them was modified.
  return typeof seq === 'number' && seq > index.seq && typeof id === 'string' && id.startsWith(`${seq.toString(36)}.`);
}

/** Another program changed the line endings or the white space around the line, and nothing else. */
function recordReformatted(index: SessionFileIndex, { offset }: TextLine, text: string): void {
  index.replacedLines.set(offset, [text]);
  if (index.problems.some(({ kind }) => kind === 'format')) return;
  const line = index.line + 1;
  const message = `From line ${line} on, lines have other line endings or white space around them; their events are unchanged.`;
  index.problems.push({ kind: 'format', line, offset, message, resolved: true });
}

/** If this line is chained to the hash that the line before it should have, only the stored hash of that line was damaged. */
function repairDamagedHash(index: SessionFileIndex, text: string, ownHash: string): void {
  const last = index.modifiedLines.at(-1);
  if (last?.end !== index.offset || computeHashAt(index.link, text, 0, text.length) === ownHash) return;
  const expected = last.candidateHashes.map((link) => computeHashAt(link, last.text, 0, last.text.length));
  const correct = expected.find((link) => computeHashAt(link, text, 0, text.length) === ownHash);
  if (correct === undefined) return;
  index.modifiedLines.pop();
  const { line, offset, end } = last;
  index.replacedLines.set(offset, [replaceHash(last.text, correct)]);
  index.damagedRanges.push({ offset, end });
  const message = `The hash of line ${line} is damaged; the line after it proves that its event is unchanged.`;
  index.problems.push({ kind: 'damaged', line, offset, message });
}

/** Records a line that holds an event, but not the one that was written: edited or inserted by the user, duplicated, or damaged. */
function recordModifiedLine(
  index: SessionFileIndex,
  line: TextLine,
  text: string,
  value: JsonRecord,
  hasPosition: boolean,
): void {
  const links = [index.link, ...index.altHashes];
  const ownHash = readStoredHash(text, 0, text.length);
  const { offset, next: end } = line;
  const found: ModifiedLine = {
    line: index.line + 1,
    offset,
    end,
    text,
    candidateHashes: links,
    before: toCursor(index),
  };
  const { id, parentId } = value;
  if (!hasPosition && typeof id === 'string') {
    index.duplicates.push({ ...found, id });
    index.replacedLines.set(offset, []);
  } else index.modifiedLines.push(found);
  extendSegment(index, line, hasPosition && typeof parentId === 'string' ? parentId : index.id);
  index.events++;
  index.hashLost = ownHash === undefined;
  if (ownHash !== undefined) {
    index.altHashes = [...links, ...links.map((link) => computeHashAt(link, text, 0, text.length))].slice(0, 8);
    index.link = ownHash;
  }
  if (!hasPosition) return;
  index.seq = Number(value['seq']);
  index.maxSeq = index.seq;
  index.time = typeof value['time'] === 'string' ? value['time'] : '';
  index.id = String(id);
}

/** Extracts events from text that is not an event: joined lines, or an event after a torn line or a block of NUL bytes. */
function salvageEvents(index: SessionFileIndex, line: TextLine, text: string, problem: string): void {
  const { offset, next: end } = line;
  const found: string[] = [];
  let rest = text;
  for (const fragment of extractFragments(text)) {
    const envelope = readEnvelope(fragment, 0);
    const ownHash = readStoredHash(fragment, 0, fragment.length);
    if (!envelope || ownHash === undefined || envelope.seq <= index.seq) continue;
    const position = found.length ? { ...envelope, parent: index.id } : envelope;
    indexLine(index, { ...line, text: fragment, start: 0, end: fragment.length }, position, ownHash);
    found.push(fragment);
    rest = text.slice(text.lastIndexOf(fragment) + fragment.length);
  }
  index.replacedLines.set(offset, found);
  index.damagedRanges.push({ offset, end });
  // The range stays part of its segment, as the lost event was.
  if (found.length === 0) extendSegment(index, line, index.id);
  if (rest !== '') invalidateHash(index, text);
  const number = index.line + 1;
  const recovered =
    found.length === 0 ? 'no event could be recovered from it' : `events recovered from it: ${found.length}`;
  const message = `Line ${number} ${text.includes('\0') ? 'holds NUL bytes' : problem}; ${recovered}.`;
  index.problems.push({ kind: 'damaged', line: number, offset, message });
}

/** The next line may be chained to the hash at the end of the damaged line, if that is readable. */
function invalidateHash(index: SessionFileIndex, text: string): void {
  const ownHash = readStoredHash(text, 0, text.length);
  index.hashLost = true;
  if (ownHash === undefined) return;
  index.altHashes = [index.link, ...index.altHashes].slice(0, 8);
  index.link = ownHash;
}

const maxFragments = 64;

function extractFragments(text: string): readonly string[] {
  return text.split(/\0+/).flatMap((part) => {
    const starts = [...part.matchAll(/\{"seq":/g)].slice(0, maxFragments).map(({ index }) => index);
    const ends = [...starts.slice(1), part.length];
    const fragments: string[] = [];
    for (let i = 0; i < starts.length; i++) {
      // Longer candidates too: the data of an event may contain what looks like the beginning of one.
      const upTo = (end: number): string => part.slice(starts[i], end).replace(/[^}]*$/, '');
      const last = ends.findIndex(
        (end, k) => k >= i && eventShapeError(upcastEvent(tryParseJson(upTo(end)))) === undefined,
      );
      if (last < 0) continue;
      fragments.push(upTo(ends[last] ?? part.length));
      i = last;
    }
    return fragments;
  });
}
