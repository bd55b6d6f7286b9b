// Judges a line that is not what should stand there: glued, repeated, damaged, or changed by a person.
import { isObject, upcastEvent } from '../../core/index.ts';
import { spotOf, type Chart, type Suspect } from './chart.ts';
import { accept, extend, pass } from './intake.ts';
import { claimAt, envelopeAt, expectedAt, headerOf, parse, resealed } from './line.ts';
import type { Line } from './lines.ts';
import { flawOf } from './shape.ts';

type Value = { readonly [key: string]: unknown };

/** Takes the first line of a file, which should be its header. */
export function judgeHeader(chart: Chart, line: Line): void {
  const text = trimmed(line);
  const claim = claimAt(text, 0, text.length);
  chart.header = headerOf(text);
  chart.link = claim ?? '';
  chart.lost = claim === undefined || expectedAt('', text, 0, text.length) !== claim;
  if (chart.lost) {
    const fate = chart.header ? 'was changed outside the program' : 'is missing or damaged';
    chart.problems.push({ kind: 'header', line: 1, offset: 0, what: `The header of the file ${fate}.` });
  }
  if (chart.header) return pass(chart, line.next);
  if (flawOf(upcastEvent(parse(text))) === undefined) return judge(chart, line);
  chart.damage.push({ line: 1, offset: 0, end: line.next, links: [''], mended: true });
  pass(chart, line.next);
}

/** Takes an odd line into the chart. Nothing is thrown away: what cannot be used is named, and its bytes are kept. */
export function judge(chart: Chart, line: Line): void {
  const text = trimmed(line);
  if (text === '') chart.holes.set(line.offset, []);
  else weigh(chart, line, text);
  pass(chart, line.next);
}

const trimmed = ({ text, start, end }: Line): string =>
  text
    .slice(start, end)
    .replace(/^\uFEFF/, '')
    .trim();

function weigh(chart: Chart, line: Line, text: string): void {
  const value = upcastEvent(parse(text));
  const flaw = flawOf(value);
  if (flaw !== undefined || !isObject(value)) return salvage(chart, line, text, flaw ?? '');
  const claim = claimAt(text, 0, text.length);
  const envelope = envelopeAt(text, 0);
  const solid = hasOwnPlace(chart, value);
  if (solid && envelope && claim !== undefined && (chart.lost || fits(chart, text, claim))) {
    if (text.length !== line.end - line.start) reformatted(chart, line, text);
    clearHurtHash(chart, text, claim);
    return accept(chart, { ...line, text, start: 0, end: text.length }, envelope, claim);
  }
  suspect(chart, line, text, value, solid);
}

/** Whether the line's hash comes out right from one of the hashes it may be tied to. */
const fits = (chart: Chart, text: string, claim: string): boolean =>
  [chart.link, ...chart.others].some((link) => expectedAt(link, text, 0, text.length) === claim);

/** Whether a changed line still has a place of its own; one without simply follows the line before it. */
function hasOwnPlace(chart: Chart, { seq, id }: Value): boolean {
  // Our ids begin with their seq: where the two differ, one of them is not what was written.
  return typeof seq === 'number' && seq > chart.seq && typeof id === 'string' && id.startsWith(`${seq.toString(36)}.`);
}

/** A program changed the line's ends and nothing else. */
function reformatted(chart: Chart, { offset }: Line, text: string): void {
  chart.holes.set(offset, [text]);
  if (chart.problems.some(({ kind }) => kind === 'format')) return;
  const line = chart.line + 1;
  const what = `From line ${line} on, lines have other line ends or spaces around them; their events are what was written.`;
  chart.problems.push({ kind: 'format', line, offset, what, healed: true });
}

/** A line that fits what the line before it should have been, not what that line says it is: only its hash was hurt. */
function clearHurtHash(chart: Chart, text: string, claim: string): void {
  const last = chart.suspects.at(-1);
  if (last?.end !== chart.offset || expectedAt(chart.link, text, 0, text.length) === claim) return;
  const should = last.links.map((link) => expectedAt(link, last.text, 0, last.text.length));
  const right = should.find((link) => expectedAt(link, text, 0, text.length) === claim);
  if (right === undefined) return;
  chart.suspects.pop();
  const { line, offset, end, links } = last;
  chart.holes.set(offset, [resealed(last.text, right)]);
  chart.damage.push({ line, offset, end, links, mended: true });
  const what = `The hash of line ${line} is damaged; the line after it proves that its event is what was written.`;
  chart.problems.push({ kind: 'damaged', line, offset, what });
}

/** An event, but not the one that was written here: changed or put here by a person, a repetition, or bits that flipped. */
function suspect(chart: Chart, line: Line, text: string, value: Value, solid: boolean): void {
  const links = [chart.link, ...chart.others];
  const claim = claimAt(text, 0, text.length);
  const { offset, next: end } = line;
  const found: Suspect = { line: chart.line + 1, offset, end, text, links, before: spotOf(chart) };
  const { id, parentId } = value;
  if (!solid && typeof id === 'string') {
    chart.repeats.push({ ...found, id });
    chart.holes.set(offset, []);
  } else chart.suspects.push(found);
  extend(chart, line, solid && typeof parentId === 'string' ? parentId : chart.id);
  chart.events++;
  chart.lost = claim === undefined;
  if (claim !== undefined) {
    chart.others = [...links, ...links.map((link) => expectedAt(link, text, 0, text.length))].slice(0, 8);
    chart.link = claim;
  }
  if (!solid) return;
  chart.seq = Number(value['seq']);
  chart.top = chart.seq;
  chart.time = typeof value['time'] === 'string' ? value['time'] : '';
  chart.id = String(id);
}

/** Text that is no event may still hold some: glued together, or behind the torn beginning of one or a block of NUL bytes. */
function salvage(chart: Chart, line: Line, text: string, flaw: string): void {
  const { offset, next: end } = line;
  const found: string[] = [];
  let rest = text;
  for (const piece of piecesOf(text)) {
    const envelope = envelopeAt(piece, 0);
    const claim = claimAt(piece, 0, piece.length);
    if (!envelope || claim === undefined || envelope.seq <= chart.seq) continue;
    const place = found.length ? { ...envelope, parent: chart.id } : envelope;
    accept(chart, { ...line, text: piece, start: 0, end: piece.length }, place, claim);
    found.push(piece);
    rest = text.slice(text.lastIndexOf(piece) + piece.length);
  }
  const links = [chart.link, ...chart.others];
  chart.holes.set(offset, found);
  chart.damage.push({ line: chart.line + 1, offset, end, links, mended: found.length > 0 });
  // Part of a stretch, as what was there was, so that whatever can be given back is on the way.
  if (found.length === 0) extend(chart, line, chart.id);
  if (rest !== '') loseLink(chart, text);
  const number = chart.line + 1;
  const saved = found.length === 0 ? 'nothing in it could be read' : `events recovered from it: ${found.length}`;
  const what = `Line ${number} ${text.includes('\0') ? 'holds NUL bytes' : flaw}; ${saved}.`;
  chart.problems.push({ kind: 'damaged', line: number, offset, what });
}

/** What the next line is tied to is no longer sure: the hash at the end of the damaged line, if that is still there. */
function loseLink(chart: Chart, text: string): void {
  const claim = claimAt(text, 0, text.length);
  chart.lost = true;
  if (claim === undefined) return;
  chart.others = [chart.link, ...chart.others].slice(0, 8);
  chart.link = claim;
}

const mostPieces = 64;

function piecesOf(text: string): readonly string[] {
  return text.split(/\0+/).flatMap((part) => {
    const starts = [...part.matchAll(/\{"seq":/g)].slice(0, mostPieces).map(({ index }) => index);
    const ends = [...starts.slice(1), part.length];
    const pieces: string[] = [];
    for (let i = 0; i < starts.length; i++) {
      // Longer candidates too: an event's own data may hold what looks like the beginning of one.
      const upTo = (end: number): string => part.slice(starts[i], end).replace(/[^}]*$/, '');
      const till = ends.findIndex((end, k) => k >= i && flawOf(upcastEvent(parse(upTo(end)))) === undefined);
      if (till < 0) continue;
      pieces.push(upTo(ends[till] ?? part.length));
      i = till;
    }
    return pieces;
  });
}
