// The evidence of a session: results of its tools, except what repeats words that the model itself wrote before.
import { splitAnswer, type Evidence } from '../../checks/index.ts';
import { messageToolCalls, type Event, type Json } from '../../core/index.ts';

/** The latest results that are read. */
const maxResults = 300;
const maxResultLength = 200_000;
/** A sentence with fewer words may be repeated by chance. */
const minSentenceWords = 4;

/** Returns the results of tools as evidence, latest first. A result that repeats a sentence of an earlier call of the model is none: it would be evidence that the model made itself. */
export function collectSessionEvidence(events: readonly Event[]): readonly Evidence[] {
  const evidence: Evidence[] = [];
  let written = '';
  for (const event of events) {
    if (event.type === 'turn-ended')
      for (const { input } of messageToolCalls(event.message))
        written += `\n${normalize(collectTexts(input).join('\n'))}`;
    if (event.type !== 'tool-ended' || event.outcome !== 'ok' || event.text.trim() === '') continue;
    if (event.text.length > maxResultLength || repeatsSentence(event.text, written)) continue;
    evidence.push({ source: { type: 'event', seq: event.seq }, text: event.text });
  }
  return evidence.toReversed().slice(0, maxResults);
}

const normalize = (text: string): string => text.replaceAll(/\s+/g, ' ').toLowerCase();

function collectTexts(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(collectTexts);
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(collectTexts) : [];
}

const repeatsSentence = (text: string, written: string): boolean =>
  written !== '' &&
  splitAnswer(text).claims.some(
    (claim) => claim.text.split(/\s+/).length >= minSentenceWords && written.includes(normalize(claim.text)),
  );
