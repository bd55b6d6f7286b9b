// Judges a line that is not what should stand there: glued, repeated, damaged, or changed by a person.
import { isObject, upcastEvent } from '../../core/index.ts';
import { toCursor, type SessionFileIndex, type ModifiedLine } from './file-index.ts';
import { indexLine, extendSegment, advancePast } from './index-update.ts';
import { readStoredHash, readEnvelope, computeHashAt, parseHeader, tryParseJson, replaceHash } from './line.ts';
import type { TextLine } from './read-lines.ts';
import { eventShapeError } from '../validate-event.ts';

type JsonRecord = { readonly [key: string]: unknown };

/** Takes the first line of a file, which should be its header. */
export function indexHeaderLine(chart: SessionFileIndex, line: TextLine): void {
  const text = trimLine(line);
  const claim = readStoredHash(text, 0, text.length);
  chart.header = parseHeader(text);
  chart.link = claim ?? '';
  chart.hashLost = claim === undefined || computeHashAt('', text, 0, text.length) !== claim;
  if (chart.hashLost) {
    const fate = chart.header ? 'was changed outside the program' : 'is missing or damaged';
    chart.problems.push({ kind: 'header', line: 1, offset: 0, what: `The header of the file ${fate}.` });
  }
  if (chart.header) return advancePast(chart, line.next);
  if (eventShapeError(upcastEvent(tryParseJson(text))) === undefined) return indexAnomalousLine(chart, line);
  chart.damagedRanges.push({ line: 1, offset: 0, end: line.next, candidateHashes: [''], repaired: true });
  advancePast(chart, line.next);
}

/** Takes an odd line into the chart. Nothing is thrown away: what cannot be used is named, and its bytes are kept. */
export function indexAnomalousLine(chart: SessionFileIndex, line: TextLine): void {
  const text = trimLine(line);
  if (text === '') chart.replacedLines.set(line.offset, []);
  else classifyLine(chart, line, text);
  advancePast(chart, line.next);
}

const trimLine = ({ text, start, end }: TextLine): string =>
  text
    .slice(start, end)
    .replace(/^\uFEFF/, '')
    .trim();

function classifyLine(chart: SessionFileIndex, line: TextLine, text: string): void {
  const value = upcastEvent(tryParseJson(text));
  const flaw = eventShapeError(value);
  if (flaw !== undefined || !isObject(value)) return salvageEvents(chart, line, text, flaw ?? '');
  const claim = readStoredHash(text, 0, text.length);
  const envelope = readEnvelope(text, 0);
  const solid = hasOwnPosition(chart, value);
  if (solid && envelope && claim !== undefined && (chart.hashLost || matchesKnownHash(chart, text, claim))) {
    if (text.length !== line.end - line.start) recordReformatted(chart, line, text);
    repairDamagedHash(chart, text, claim);
    return indexLine(chart, { ...line, text, start: 0, end: text.length }, envelope, claim);
  }
  recordModifiedLine(chart, line, text, value, solid);
}

/** Whether the line's hash comes out right from one of the hashes it may be tied to. */
const matchesKnownHash = (chart: SessionFileIndex, text: string, claim: string): boolean =>
  [chart.link, ...chart.altHashes].some((link) => computeHashAt(link, text, 0, text.length) === claim);

/** Whether a changed line still has a place of its own; one without simply follows the line before it. */
function hasOwnPosition(chart: SessionFileIndex, { seq, id }: JsonRecord): boolean {
  // Our ids begin with their seq: where the two differ, one of them is not what was written.
  return typeof seq === 'number' && seq > chart.seq && typeof id === 'string' && id.startsWith(`${seq.toString(36)}.`);
}

/** A program changed the line's ends and nothing else. */
function recordReformatted(chart: SessionFileIndex, { offset }: TextLine, text: string): void {
  chart.replacedLines.set(offset, [text]);
  if (chart.problems.some(({ kind }) => kind === 'format')) return;
  const line = chart.line + 1;
  const what = `From line ${line} on, lines have other line ends or spaces around them; their events are what was written.`;
  chart.problems.push({ kind: 'format', line, offset, what, healed: true });
}

/** A line that fits what the line before it should have been, not what that line says it is: only its hash was hurt. */
function repairDamagedHash(chart: SessionFileIndex, text: string, claim: string): void {
  const last = chart.modifiedLines.at(-1);
  if (last?.end !== chart.offset || computeHashAt(chart.link, text, 0, text.length) === claim) return;
  const should = last.candidateHashes.map((link) => computeHashAt(link, last.text, 0, last.text.length));
  const right = should.find((link) => computeHashAt(link, text, 0, text.length) === claim);
  if (right === undefined) return;
  chart.modifiedLines.pop();
  const { line, offset, end, candidateHashes } = last;
  chart.replacedLines.set(offset, [replaceHash(last.text, right)]);
  chart.damagedRanges.push({ line, offset, end, candidateHashes, repaired: true });
  const what = `The hash of line ${line} is damaged; the line after it proves that its event is what was written.`;
  chart.problems.push({ kind: 'damaged', line, offset, what });
}

/** An event, but not the one that was written here: changed or put here by a person, a repetition, or bits that flipped. */
function recordModifiedLine(
  chart: SessionFileIndex,
  line: TextLine,
  text: string,
  value: JsonRecord,
  solid: boolean,
): void {
  const links = [chart.link, ...chart.altHashes];
  const claim = readStoredHash(text, 0, text.length);
  const { offset, next: end } = line;
  const found: ModifiedLine = {
    line: chart.line + 1,
    offset,
    end,
    text,
    candidateHashes: links,
    before: toCursor(chart),
  };
  const { id, parentId } = value;
  if (!solid && typeof id === 'string') {
    chart.duplicates.push({ ...found, id });
    chart.replacedLines.set(offset, []);
  } else chart.modifiedLines.push(found);
  extendSegment(chart, line, solid && typeof parentId === 'string' ? parentId : chart.id);
  chart.events++;
  chart.hashLost = claim === undefined;
  if (claim !== undefined) {
    chart.altHashes = [...links, ...links.map((link) => computeHashAt(link, text, 0, text.length))].slice(0, 8);
    chart.link = claim;
  }
  if (!solid) return;
  chart.seq = Number(value['seq']);
  chart.maxSeq = chart.seq;
  chart.time = typeof value['time'] === 'string' ? value['time'] : '';
  chart.id = String(id);
}

/** Text that is no event may still hold some: glued together, or behind the torn beginning of one or a block of NUL bytes. */
function salvageEvents(chart: SessionFileIndex, line: TextLine, text: string, flaw: string): void {
  const { offset, next: end } = line;
  const found: string[] = [];
  let rest = text;
  for (const piece of extractFragments(text)) {
    const envelope = readEnvelope(piece, 0);
    const claim = readStoredHash(piece, 0, piece.length);
    if (!envelope || claim === undefined || envelope.seq <= chart.seq) continue;
    const place = found.length ? { ...envelope, parent: chart.id } : envelope;
    indexLine(chart, { ...line, text: piece, start: 0, end: piece.length }, place, claim);
    found.push(piece);
    rest = text.slice(text.lastIndexOf(piece) + piece.length);
  }
  const links = [chart.link, ...chart.altHashes];
  chart.replacedLines.set(offset, found);
  chart.damagedRanges.push({ line: chart.line + 1, offset, end, candidateHashes: links, repaired: found.length > 0 });
  // Part of a stretch, as what was there was, so that whatever can be given back is on the way.
  if (found.length === 0) extendSegment(chart, line, chart.id);
  if (rest !== '') invalidateHash(chart, text);
  const number = chart.line + 1;
  const saved = found.length === 0 ? 'nothing in it could be read' : `events recovered from it: ${found.length}`;
  const what = `Line ${number} ${text.includes('\0') ? 'holds NUL bytes' : flaw}; ${saved}.`;
  chart.problems.push({ kind: 'damaged', line: number, offset, what });
}

/** What the next line is tied to is no longer sure: the hash at the end of the damaged line, if that is still there. */
function invalidateHash(chart: SessionFileIndex, text: string): void {
  const claim = readStoredHash(text, 0, text.length);
  chart.hashLost = true;
  if (claim === undefined) return;
  chart.altHashes = [chart.link, ...chart.altHashes].slice(0, 8);
  chart.link = claim;
}

const maxFragments = 64;

function extractFragments(text: string): readonly string[] {
  return text.split(/\0+/).flatMap((part) => {
    const starts = [...part.matchAll(/\{"seq":/g)].slice(0, maxFragments).map(({ index }) => index);
    const ends = [...starts.slice(1), part.length];
    const pieces: string[] = [];
    for (let i = 0; i < starts.length; i++) {
      // Longer candidates too: an event's own data may hold what looks like the beginning of one.
      const upTo = (end: number): string => part.slice(starts[i], end).replace(/[^}]*$/, '');
      const till = ends.findIndex(
        (end, k) => k >= i && eventShapeError(upcastEvent(tryParseJson(upTo(end)))) === undefined,
      );
      if (till < 0) continue;
      pieces.push(upTo(ends[till] ?? part.length));
      i = till;
    }
    return pieces;
  });
}
