// Finds the verbs by which a sentence reports what was done: in the first person, without a subject, and in the passive voice.
import type { Sentence } from './claim-text.ts';
import type { Verb } from './lexicon.ts';
import type { SentenceWords } from './sentence-words.ts';

/** A verb that reports something as done. */
export type Predicate = {
  readonly verb: Verb;
  /** Where its object begins, or what follows a passive verb. */
  readonly at: number;
  /** The place of its subject; absent if the verb is not passive. */
  readonly subject?: { readonly from: number; readonly to: number };
  /** Whether it stands in a form that also describes how things usually are: `is created`. */
  readonly isState?: boolean;
};

/** Letters of words after which what follows is no report, up to the next subject in the first person. */
const blocking = 'mny';
/** Letters of words that can begin or end a report; 1 at their codes. */
const turningLetters = new Uint8Array(128);
for (const letter of `iIqwsh${blocking}`) turningLetters[letter.charCodeAt(0)] = 1;
/** `PR opened.`, `Changes committed and pushed`: a short subject without an article, and a verb at the end. */
const headlines = /^[ljoTBzFJf]{1,3}v(?=$|[.:,;!(c-])/;
/** Letters that may stand between a subject and its verb. */
const between = 'alA';

/** Finds the verbs of a sentence that reports. */
export function findPredicates(sentence: Sentence, split: SentenceWords): readonly Predicate[] {
  const { words, shape } = split;
  const found: Predicate[] = [];
  let mode: 'none' | 'own' | 'passive' = 'none';
  let isBlocked = false;
  let isRelative = false;
  let subject: { from: number; to: number } | undefined;
  const take = (i: number): boolean => {
    const word = words[i];
    if (!word?.verb || word.verb.form !== 'past') return false;
    found.push({ verb: word.verb, at: word.end, ...(mode === 'passive' && subject ? { subject } : {}) });
    return true;
  };
  const bare = findBareVerb(sentence, split);
  let i = 0;
  const headline = bare === undefined && sentence.isFirst ? headlines.exec(shape)?.[0].length : undefined;
  if (headline !== undefined && words[headline - 1]?.verb?.form === 'past') {
    mode = 'passive';
    subject = { from: words[0]?.at ?? 0, to: words[headline - 2]?.end ?? 0 };
    take(headline - 1);
    i = headline;
  }
  if (bare !== undefined) {
    mode = 'own';
    take(bare);
    i = bare + 1;
  }
  for (; i < words.length; i++) {
    if ((mode === 'none' || isBlocked) && turningLetters[shape.charCodeAt(i)] === 0) continue;
    const letter = shape[i] ?? '';
    if (letter === 'i' || letter === 'I') {
      const previous = shape[skipBack(shape, i - 1, between)];
      if (previous !== undefined && blocking.includes(previous)) isBlocked = true;
      else if (previous === undefined || ',;:.-()ctqpk'.includes(previous)) isBlocked = false;
      mode = 'none';
      isRelative = false;
      const verb = isBlocked ? -1 : findOwnVerb(split, i);
      if (verb < 0) {
        // `I found the bug and fixed it`: the first verb is another one.
        const next = skip(shape, i + 1, 'haHlA');
        if (!isBlocked && (words[next]?.verb?.form === 'past' || shape[next] === 'D')) {
          mode = 'own';
          i = next;
        }
        continue;
      }
      mode = 'own';
      if (!take(verb)) found.push({ verb: words[verb]?.verb as Verb, at: words[verb]?.end ?? 0 });
      i = verb;
    } else if (blocking.includes(letter)) {
      // `as your tests show` blocks, `per your request` does not.
      if (letter === 'y' && words[i]?.text === 'your' && !isSubject(split, i)) continue;
      isBlocked = true;
      if (letter !== 'y' || isSubject(split, i)) mode = 'none';
    } else if (letter === 'q') isRelative = true;
    else if (letter === 'w' || letter === 's' || letter === 'h') {
      const verb = findPassive(split, i);
      if (verb < 0) {
        if (mode === 'passive') mode = 'none';
        continue;
      }
      const from = isBlocked ? -1 : findSubject(split, i);
      if (from < 0) {
        mode = 'none';
        continue;
      }
      mode = 'passive';
      isRelative = false;
      subject = { from: words[from]?.at ?? 0, to: words[i - 1]?.end ?? 0 };
      const word = words[verb];
      if (word?.verb)
        found.push({
          verb: word.verb,
          at: word.end,
          subject,
          ...(letter === 's' && !/\bnow\b/.test(textOf(split, i, verb)) ? { isState: true } : {}),
        });
      i = verb;
    } else if (mode !== 'none' && !isBlocked && words[i]?.verb?.form === 'past') {
      const start = skipBack(shape, i - 1, between);
      const before = shape[start] ?? '';
      const hasComma = before === ',' || (before === 'c' && shape[start - 1] === ',');
      if (before === 'c' || before === ',' || (before === '(' && mode === 'own') || before === '-')
        if (!isRelative || hasComma) {
          if (hasComma) isRelative = false;
          take(i);
        }
    }
  }
  addGerunds(split, found);
  return found;
}

const textOf = ({ words }: Pick<SentenceWords, 'words'>, from: number, to: number): string =>
  words
    .slice(from, to)
    .map(({ text }) => text)
    .join(' ');

function skip(shape: string, from: number, letters: string): number {
  let i = from;
  while (i < shape.length && letters.includes(shape[i] ?? '')) i++;
  return i;
}

function skipBack(shape: string, from: number, letters: string): number {
  let i = from;
  while (i >= 0 && letters.includes(shape[i] ?? '')) i--;
  return i;
}

/** `you asked` is a subject, `for you` is none. */
const isSubject = ({ words, shape }: SentenceWords, i: number): boolean =>
  words[i + 1]?.verb !== undefined || 'hHwsmnD'.includes(shape[i + 1] ?? '.');

/** Words after which the verb that counts follows. */
const phraseStarts = new Set(
  'had managed made took was were been finished ended started began completed went'.split(' '),
);

/** `I created`, `we have also updated`, `I went ahead and fixed`, `I had to edit`; -1 if no verb follows. */
function findOwnVerb({ words, shape }: SentenceWords, i: number): number {
  let at = skip(shape, i + 1, `${between}h`);
  const rest = phraseStarts.has(words[at]?.text ?? '') ? textOf({ words }, at, at + 4) : '';
  const to =
    rest !== '' &&
    /^(?:had to|managed to|made sure to|took care to|was able to|were able to|have been able to|been able to) /.exec(
      rest,
    );
  if (to) {
    at += to[0].split(' ').length - 1;
    at = skip(shape, at, between);
    return words[at]?.verb?.form === 'base' || words[at]?.verb?.isAmbiguous ? at : -1;
  }
  const doing = rest !== '' && /^(?:finished|ended up|started by|began by|took the liberty of|completed) /.exec(rest);
  if (doing) {
    const next = at + doing[0].split(' ').length - 1;
    if (words[next]?.verb?.form === 'gerund') return next;
  }
  if (rest.startsWith('went ahead and')) at += 3;
  at = skip(shape, at, between);
  const verb = words[at]?.verb;
  if (verb?.form !== 'past') return -1;
  // `I run` is no past form.
  return verb.isAmbiguous && verb.base === 'run' && !/[hI]/.test(shape.slice(i, at)) ? -1 : at;
}

/** Words before a colon or a dash that make what follows a report of its own. */
const maxLabelWords = 5;

/** `Created a.ts`, `Done: updated b.ts`, `Also ran the tests`: a sentence or an item of a list without a subject. */
function findBareVerb({ text, isFirst }: Sentence, { words, shape }: SentenceWords): number | undefined {
  if (shape.startsWith('k') || shape.startsWith('p')) return undefined;
  let at = 0;
  const label = /^[^:.,;()?-]{0,6}?[:.,-]/.exec(shape)?.[0];
  if (
    label !== undefined &&
    label.length <= maxLabelWords + 1 &&
    (label.endsWith(':') || label.endsWith('-') || isDone(words[0]?.text))
  )
    if (!/[mnyw]/.test(label)) at = skip(shape, label.length, 'c');
  for (const start of at === 0 ? [0] : [0, at]) {
    const i = skip(shape, start, between);
    const word = words[i];
    if (!word?.verb || word.verb.form !== 'past' || (start === 0 && !isFirst && !/^[A-Z]/.test(text))) continue;
    if (word.verb.isAmbiguous || isDescription(word.verb, text.slice(word.end))) continue;
    // `Updated files are listed below`.
    const end = shape.slice(i + 1).search(/[,;:.qc()-]/);
    if (/[wsh]/.test(shape.slice(i + 1, end < 0 ? shape.length : i + 1 + end))) continue;
    return i;
  }
  return undefined;
}

const isDone = (word: string | undefined): boolean =>
  /^(?:done|finished|completed|complete|ok|okay|great|perfect|yes|fixed|sorted|success|alright|all|implemented)$/.test(
    word ?? '',
  );

/** Whether a sentence that begins with this verb is a description, such as `Documented in a.md`. */
const isDescription = ({ base, kind }: Verb, rest: string): boolean =>
  /^(?:generate|mention|reference|raise|merge|call|use|give|see|find|get|take|make|do|keep|leave|note|define|declare|cache|type|expose|export|mark)$/.test(
    base,
  ) && !/^\s*(?:\uE000|[\w@./-]+\.\w{1,5}(?:\s|$|[.,]))/.test(rest)
    ? base !== 'merge' && base !== 'make' && base !== 'generate' && base !== 'note'
    : kind !== 'git' &&
      kind !== 'try' &&
      kind !== 'run' &&
      /^\s*(?:in|by|at|to|for|on|from|via|under|with|as|when|if|only|automatically)\b/i.test(rest);

/** `has been created`, `were also updated`, `is now fixed`; -1 if no passive verb follows. */
function findPassive({ words, shape }: SentenceWords, i: number): number {
  let at = skip(shape, i + 1, between);
  if (shape[i] === 'h') {
    if (shape[at] !== 'b') return -1;
    at = skip(shape, at + 1, between);
  }
  const verb = words[at]?.verb;
  return verb?.form === 'past' && verb.kind !== 'other' ? at : -1;
}

/** Where the subject of a passive verb begins; -1 if it belongs to a relative clause or names none. */
function findSubject({ words, shape }: SentenceWords, auxiliary: number): number {
  let from = auxiliary - 1;
  for (; from >= 0; from--) {
    const letter = shape[from] ?? '';
    if (';:?.-'.includes(letter)) break;
    if (letter === 'q' || letter === '0' || letter === 'm' || letter === 'n') return -1;
    if ('iIwshH'.includes(letter)) break;
    const verb = words[from]?.verb;
    // In `I updated a.ts, and b.ts was deleted` the subject is the part behind the comma.
    if (verb?.form === 'past' && !'dljtk0'.includes(shape[from - 1] ?? '.')) break;
  }
  let start = from + 1;
  if (from >= 0 && !';:?.-'.includes(shape[from] ?? '')) {
    const cut = Math.max(shape.lastIndexOf(',', auxiliary), shape.lastIndexOf('c', auxiliary));
    if (cut < start) return -1;
    start = cut + 1;
  }
  // `For consistency, a.ts was changed`.
  const lead = /^[tP][^,pk]*,/.exec(shape.slice(start, auxiliary))?.[0].length ?? 0;
  start = skip(shape, start + lead, 'c,a)');
  return start < auxiliary ? start : -1;
}

/** `by changing a.ts`, `after running the tests`: what was done besides, in a sentence that reports. */
function addGerunds({ words, shape }: SentenceWords, found: Predicate[]): void {
  if (!shape.includes('g') || found.length === 0 || /[mny0]/.test(shape)) return;
  for (const [i, { verb, end, text }] of words.entries()) {
    const before = words[i - 1]?.text;
    if (verb?.form !== 'gerund' || text === 'using') continue;
    if ((before === 'by' || before === 'after') && !found.some(({ at }) => at === end)) found.push({ verb, at: end });
  }
}
