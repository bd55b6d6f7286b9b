// Says why a source does not state its sentences as facts: fiction, samples, older versions, a person who tells something, or another document that calls it outdated.
import type { Evidence } from '../types.ts';
import { contentWords } from '../words.ts';
import { strongDenial } from './framing-words.ts';
import { isInQuotedPart } from './quoted-parts.ts';
import { normalEvidence, normalizeText, oncePerText, type NormalText } from './source-text.ts';

/** Words of a title or of the first lines that mark a text as invented, as a pattern, or as no longer valid. */
const markingWords =
  /\b(?:fiction|fictional|(?:short|bedtime|ghost|love) stor(?:y|ies)|a (?:story|tale|novel|fable|legend|poem|play)|stories|novels?|fables?|fairy tales?|screenplay|poems?|lyrics|chapter \d+|samples?|templates?|boilerplate|mock(?:-?up)?s?|dummy|placeholders?|specimen|fill in|mad libs|riddles?|puzzles?|quiz(?:zes)?|trivia|exercises?|homework|worksheets?|satire|satirical|parody|spoof|april fools?|joke[ds]?|prank|dream(?:t|ed|s)?|nightmares?|fantas(?:y|ies)|made[ -]up|imagin(?:e|ed|ary)|role-?play|simulation|scenario|outdated|obsolete|deprecated|superseded|withdrawn|expired|void|invalid|no longer|archived?|legacy|retired|drafts?|proposal|rejected|previous(?:ly)?|former(?:ly)?|older|old (?:version|edition|rules?|page|text|prices?|terms)|earlier (?:version|edition|years?)|last (?:year|season|month|week|century)['’]?s?|back then|in the past|once upon|used to|until (?:last|19|20)|how (?:it|we|things|this) (?:was|were|worked|used|did)|before the (?:change|rewrite|update|reform|move)|apply to nobody|do(?:es)? not apply|not (?:real|valid|binding|in force|factual))\b|(?<!\p{L})(?:veraltet\p{L}{0,2}|überholt\p{L}{0,2}|ungültig\p{L}{0,2}|entwurf|beispieltext|mustertext|vorlage|märchen|kurzgeschichte|roman von|früher|satire|brouillon|périmée?s?|obsolète|ancienne version|conte|nouvelle de|modèle de|borrador|plantilla|cuento|obsolet[oa]s?|versión anterior)(?!\p{L})|作废|废止|过时|失效|旧版|虚构|小说|故事|样本|示例|模板|草稿|玩笑/iu;

/** Whether a title marks what is below it as invented, as a pattern, or as no longer valid. */
export const isMarkedTitle = (title: string): boolean => markingWords.test(title);

const maxFirstChars = 300;
const maxFirstLines = 3;

/** The first lines of a source, as far as they stand before a place. */
const firstLines = (text: string, start: number): string =>
  text
    .slice(0, Math.min(start, maxFirstChars))
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, maxFirstLines)
    .join('\n');

/** Whether the first lines of a text mark it, all of them. */
const isMarkedFirst = oncePerText((text) => markingWords.test(firstLines(text, maxFirstChars)));

/** A title without a mark that names a number, a circumstance or an author. */
const circumstance = /\d|[()%@]|^(?:in|for|by|with|at|on|from|under|per|via|during|according|posted|written|said)\s/i;

const maxTitleWords = 10;

/** A line of its own without the end of a sentence: a title that has no mark. */
const isPlainTitle = (line: string): boolean =>
  line !== '' &&
  line.length <= 120 &&
  !/[.!?。！？,;|]$|^[-*+•>|`]/.test(line) &&
  line.split(/\s+/).length <= maxTitleWords;

/** Words of a title under which statements stand that need not hold. */
const titleWords =
  /\b(?:out of scope|non-?goals?|un(?:supported|available|finished|released|tested|confirmed|verified|known|decided|likely|wanted|true|proven|resolved|official)|not|coming|visions?|wish\w{0,5}|criteria|requirements?|user stor(?:y|ies)|assumptions?|advert\w{0,10}|sponsored|promo\w{0,8}|marketing|brochures?|commercial|hypothes[ei]s|speculations?|predictions?|forecasts?|expectations?|objectives?|limitations?|known issues|open (?:issues|questions|points)|pending|tbd|wanted|concepts?|previews?|what if|removed|missing|future|planned|plans?|ideas?|rumou?rs?|opinions?|quotes?|reviews?|letters?|testimonials?|demo|lab|optional|with(?:out)? the|if|only|preliminary|estimate[sd]?|estimates|approximate\w{0,5}|typing|drills?|tests?|headlines?|captions?|slogans?|probabilit(?:y|ies)|confidence|likelihood|posted|graders?|preprints?|abstract of|generated|provisional|recalled)\b/i;

/** A title of a text: its level is 7 for a line without the mark of a heading. */
export type Title = {
  readonly at: number;
  readonly level: number;
  readonly text: string;
  /** Whether it marks its section as invented or no longer valid. */
  readonly isMarked: boolean;
};

/** Finds the titles of a text: headings, and short lines between blank lines, also in bold, which are below all headings. */
export function findTitles(text: string): readonly Title[] {
  const titles: Title[] = [];
  const addTitle = (start: number, level: number, title: string): void => {
    titles.push({
      at: start,
      level,
      text: title,
      isMarked: markingWords.test(title) || titleWords.test(title) || (level === 7 && circumstance.test(title)),
    });
  };
  let at = 0;
  let isAfterBlank = true;
  const lines = text.split('\n');
  for (const [i, raw] of lines.entries()) {
    const line = raw.trim();
    const mark = /^#{1,6}(?=\s)/.exec(line)?.[0].length;
    if (mark !== undefined) addTitle(at, mark, line.slice(mark).trim());
    else if (isAfterBlank && (lines[i + 1] ?? '').trim() === '') {
      const plain = withoutEmphasis(line);
      if (isPlainTitle(plain)) addTitle(at, 7, plain);
    }
    isAfterBlank = line === '';
    at += raw.length + 1;
  }
  return titles;
}

/** A line without the marks of emphasis around it. */
function withoutEmphasis(line: string): string {
  for (const mark of ['**', '__', '*', '_'])
    if (line.length > 2 * mark.length && line.startsWith(mark) && line.endsWith(mark))
      return line.slice(mark.length, -mark.length).trim();
  return line;
}

const knownTitles = new WeakMap<NormalText, readonly Title[]>();

/** The titles of evidence; what looks like one in code or a comment is none. */
function titlesOf(evidence: Evidence): readonly Title[] {
  const normal = normalEvidence(evidence);
  let titles = knownTitles.get(normal);
  if (!titles) {
    titles = findTitles(evidence.text).filter(({ at }) => !isInQuotedPart(normal, at + 1));
    knownTitles.set(normal, titles);
  }
  return titles;
}

/** The titles above a place, the nearest first. */
function titlesAbove(titles: readonly Title[], start: number): readonly Title[] {
  const path: Title[] = [];
  let level = 8;
  for (let index = titles.length - 1; index >= 0 && level > 1; index--) {
    const title = titles[index];
    if (!title || title.at >= start || title.level >= level) continue;
    path.push(title);
    level = title.level;
  }
  return path;
}

const versionPattern =
  /^\W{0,3}(?:(?:version|release|edition|v|as of|since|in|status|stand|rev\.?|revision)\W{0,3})?(\d{1,4}(?:\.\d{1,4}){0,3}(?:-\d{2}-\d{2})?)(?![\d.)]|\.? \p{Lu})/iu;

/** The numbers of the version or the year that a title names first. */
const readVersion = (title: string): readonly number[] | undefined =>
  versionPattern.exec(title)?.[1]?.split(/[.-]/).map(Number);

function isNewer(a: readonly number[], b: readonly number[]): boolean {
  for (let i = 0; i < Math.max(a.length, b.length); i++)
    if ((a[i] ?? 0) !== (b[i] ?? 0)) return (a[i] ?? 0) > (b[i] ?? 0);
  return false;
}

/** Whether a title above a place names a version, and another title of its level a newer one. */
function isOlderVersion(titles: readonly Title[], path: readonly Title[]): boolean {
  return path.some(({ level, text }) => {
    const own = readVersion(text);
    if (!own) return false;
    return titles.some((other) => {
      const version = other.level === level ? readVersion(other.text) : undefined;
      return version !== undefined && isNewer(version, own);
    });
  });
}

const firstPerson = /(?<![\p{L}\p{N}"“'‘`*/-])(?:I|I['’](?:m|d|ve|ll)|[Mm]y|[Mm]e)(?![\p{L}\p{N}/"”`-])/u;
const interjection =
  /(?:^|[.!?,\n]\s*)(?:sure|right|yeah|yep|yes|of course|oh|ha|well|great|obviously|as if|totally|wow|lol|seriously|honestly)[\s,.!…]*$/i;
const mockingStart =
  /^\W*(?:seriously|just kidding|kidding|not!|as if|yeah|in your dreams|and pigs|said no|if only|ha\b|lol|or so)/i;
const announcing =
  /\b(?:this|these|those|here|following|follows?|below|one|ones|it|so|thus)\W*$|\b(?:this|these) (?:one|line|sentence|text|follows|is what)\b/i;
const maxAnnouncement = 5;
/** Words that point to what follows. */
const forward = /\b(?:follow(?:s|ing)?|below|hereafter|is this so)\b/i;
/** The beginning of a sentence on another time than that of the sentence after it. */
const earlierStart =
  /^\W*(?:until|till|before|formerly|originally|initially|at first|once|earlier|back in|in the (?:past|old|early)|traditionally|up to|according|only|ignore|disregard|forget|assum(?:e|ing|ption)|suppose|imagine|when|whenever|if|rarely|sometimes|occasionally|seldom|under|during|at (?:ten|twice|high|low|a )|in (?:a few|some|rare|most|certain))\b/i;
/** Words that announce statements of others. */
const collected =
  /\b(?:statements?|sentences?|stor(?:y|ies)|rumou?rs?|headlines?|theor(?:y|ies)|beliefs?|arguments?|opinions?|captions?|slogans?|mottos?|accusations?|allegations?|promises?)\b/i;
/** The beginning of a sentence on a later time, an exception or a doubt. */
const laterStart =
  /^\W*(?:since|now|today|later|after|afterwards|then|from then|meanwhile|by now|these days|nowadays|as of|until|exceptions?|not|only|at least|in (?:theory|practice|principle|reality)|on paper|status|verdict|rating|result|fact check|so|wait|early|preliminary|provisional|pending|extended|changed|postponed|revised|updated|corrected|cancell?ed|removed|replaced|superseded|withdrawn|reduced|raised|lowered|discontinued|from \w{2,20} on|a (?:new|later|second|recent))\b|^[^\s\p{L}\p{N}"“'‘(*_`[$€£¥+-]/iu;
/** A sentence that calls the one before it a guess, a plan or the like, or finds nothing of it. */
const calling =
  /^\W*(?:this|that|these|those|it)\W+(?:is|was|are|were)\b[^.!?]{0,40}\b(?:estimates?|guess(?:es)?|assumptions?|approximations?|averages?|rumou?rs?|jokes?|lies?|proposals?|hopes?|exceptions?|opinions?|views?|theor(?:y|ies)|simplifications?|mistakes?|errors?|tests?|examples?|printed|forged|fake)\b|\b(?:no|not|never|none|nothing)\b[^.!?]{0,60}\b(?:for|of|about|to|behind) (?:it|that|this|them)\b/i;
/** Words that point to a text before them. */
const above = /\b(?:above|preceding|foregoing)\b/i;
const backward = /\b(?:this|that|these|those|it|such|so|the (?:function|feature|rule|option|former|above))\b/i;
const ending =
  /\b(?:end(?:s|ed)|stop(?:s|ped)|chang(?:es?|ed)|lack(?:s|ed|ing)?|lost|loses?|fail(?:s|ed|ure)?|remov(?:es?|ed|al)|without|drop(?:s|ped)|exceptions?|except|unavailable|missing|gone|taken|cut|withdr\w{1,5}|cancel\w{0,4}|instead|unless|replac\w{1,5}|untested|unconfirmed|unclear|unknown)\b/i;
/** Words to a program or a person that checks statements. */
const steering =
  /\b(?:dear|hello|hi|hey|attention|note to|message to|to the|to all) (?:the )?(?:verifiers?|checkers?|fact-?checkers?|judges?|assistants?|models?|ai|llms?|reviewers?)\b|\bprompt injection\b|\bas an? (?:ai|assistant|llm|language model)\b|\byou are an? (?:\w{1,20} )?(?:assistant|checker|verifier|judge|ai|model)\b|\b(?:sentence|statement|claim|text) (?:is|was) (?:verified|supported|checked|trusted)\b|\b(?:must|to) accept\b|(?:^|[.!?]\s+|\n)(?:ignore|disregard|forget) /i;
/** The beginning of a line that is no part of a paragraph. */
const blockStart = /^[ \t]*(?:[-*+•#>|]|\d{1,3}[.)]\s)/;
/** A word or two that are no sentence, a question of some words, or a field such as "Status: open". */
const remark = /^(?:\S{1,20}(?:\s\S{1,20})?|(?:\S+\s){0,4}\S+\?|\p{L}+:\s.{1,40})$/u;
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** A label such as "Requirement R7." */
const label = /^\p{L}+ \p{Lu}{0,3}\d{1,4}(?:\.\d{1,3})*[.:]?$/u;

/** The sentence that follows a place in its paragraph; empty if there is none. */
function findNext(after: string): string {
  const rest = after.replace(/^["'”’)\]*_`.!。！]*[ \t]*(?:\[\^?\d{1,4}\]\s*)*/, '');
  const text = rest.startsWith('\n') ? rest.slice(1) : rest;
  if (rest !== text && blockStart.test(text)) return '';
  return /^[^.!?。！？\n]*[.!?。！？]?/.exec(text)?.[0] ?? '';
}

/** Why the sentence before or after a place limits it, or gives it another role than that of a statement. */
function findRemark(line: string, isSameParagraph: boolean, after: string): string | undefined {
  if (forward.test(line) || earlierStart.test(line) || (isSameParagraph && collected.test(line)))
    return 'the sentence before it limits it';
  if (above.test(after)) return 'the text after it speaks of what is above';
  if (isSameParagraph && (label.test(line) || (/^[^.]{1,30}\.$/.test(line) && titleWords.test(line))))
    return 'it stands after a label';
  const next = findNext(after);
  if (next === '') return undefined;
  if (laterStart.test(next) || calling.test(next) || (backward.test(next) && ending.test(next)))
    return 'the sentence after it limits it';
  return remark.test(next) && !ideographs.test(next) ? 'a remark stands after it' : undefined;
}

const contextChars = 400;

/** Where the last sentence or line of a text starts. */
function findLastStart(text: string): number {
  for (let at = text.length - 2; at >= 0; at--) {
    const char = text[at] ?? '';
    if (char === '\n' || ('.!?。！？:'.includes(char) && /\s/.test(text[at + 1] ?? ''))) return at + 1;
  }
  return 0;
}

/** Why the neighbours of a place show that it is not stated as a fact; undefined if they do not. */
function findNeighbourMark(text: string, start: number, end: number): string | undefined {
  const near = text.slice(Math.max(0, start - contextChars), start);
  const before = near.slice(near.lastIndexOf('\n\n') + 1);
  const [after = ''] = text.slice(end, end + contextChars).split('\n\n', 1);
  if (firstPerson.test(before) || firstPerson.test(after)) return 'a person tells it';
  const previous = near.trimEnd();
  const line = previous.slice(findLastStart(previous)).trim();
  if (line !== '' && line.split(/\s+/).length <= maxAnnouncement && announcing.test(line))
    return 'the sentence before it only announces it';
  if (interjection.test(previous.slice(-40)) || mockingStart.test(after.replace(/^[.!。！\s]+/, '')))
    return 'the words beside it do not mean it';
  const rest = text.slice(end, end + contextChars);
  if (steering.test(near) || steering.test(rest)) return 'the text around it speaks to a verifier';
  return findRemark(line, !/\n\s*\n\s*$/.test(near), rest);
}

/** A sentence that speaks of all that is on a site or a page. */
const siteDenial =
  /\b(?:everything|nothing|all|none|every \w{1,20})\b[^.!?\n]{0,60}\b(?:here|sites?|pages?|documents?|archive|collection|texts?)\b[^.!?\n]{0,80}\b(?:made[ -]up|invented|fictional|fiction|false|wrong|untrue|satire|outdated|obsolete|from last|out of date|no longer|void|not (?:true|real|valid))\b/i;

const deniesSite = oncePerText((text) => siteDenial.test(normalizeText(text).text));
const lowerNormal = oncePerText((text) => normalizeText(text).text.toLowerCase());

/** The first line of a text in lower case, if it is a title of two words or more. */
const titleOf = oncePerText((text): string | undefined => {
  const [first = ''] = text.trim().split('\n', 1);
  const title = first
    .slice(0, maxFirstChars)
    .replace(/^#+\s*/, '')
    .trim()
    .toLowerCase();
  return isPlainTitle(title) && title.includes(' ') ? title : undefined;
});

/** Whether another text calls this one outdated or untrue, by its title or with everything on its site. */
function isDeniedElsewhere(evidence: Evidence, others: readonly Evidence[]): boolean {
  if (others.length < 2) return false;
  const title = titleOf(evidence);
  return others.some((other) => {
    if (other === evidence) return false;
    if (deniesSite(other)) return true;
    const at = title === undefined ? -1 : lowerNormal(other).indexOf(title);
    if (title === undefined || at <= 0) return false;
    const { text } = normalEvidence(other);
    const near = text.slice(Math.max(0, at - 100), at + title.length + 150);
    const isNamed = /["'(]$/.test(text.slice(0, at)) || /\b(?:page|document|article|report|guide)\b/i.test(near);
    return isNamed && (strongDenial.test(near) || markingWords.test(near));
  });
}

/** A number of things that is the last number of a sentence, and a number that ends one and is no year: it may be of the same things. */
const countedThing = /\d\s+\p{L}[^\d]*$/u;
const bareNumber = /\s((?!(?:1\d|20)\d\d\b)\d[\d.,]{0,12})[.!]?$/;

const wordsOfTitle = (title: Title): readonly string[] => contentWords(title.text);

/** Whether a question names what another title of a text names, and neither the claim nor the titles above its place do. */
function isOtherSection(question: string, claim: string, titles: readonly Title[], path: readonly Title[]): boolean {
  if (question === '' || titles.length === 0) return false;
  const own = new Set([...contentWords(claim), ...path.flatMap(wordsOfTitle)]);
  const others = new Set(titles.flatMap((title) => (path.includes(title) ? [] : wordsOfTitle(title))));
  return contentWords(question).some((word) => others.has(word) && !own.has(word));
}

/** Why the sentence at a place of evidence is not stated as a fact; undefined if nothing says so. */
export function findSourceMark(
  evidence: Evidence,
  { start, end }: { readonly start: number; readonly end: number },
  others: readonly Evidence[],
  question = '',
): string | undefined {
  const { text } = evidence;
  const titles = titlesOf(evidence);
  const path = titlesAbove(titles, start);
  const isMarked = start < maxFirstChars ? markingWords.test(firstLines(text, start)) : isMarkedFirst(evidence);
  if (isMarked || path.some((title) => title.isMarked))
    return 'its section is marked as invented, as a sample or as no longer valid';
  if (isOlderVersion(titles, path)) return 'its section is that of an older version';
  const statement = text.slice(start, end);
  if (isOtherSection(question, statement, titles, path)) return 'the question is about another section';
  if (
    /^\W*(?:all|every|each|any|everyone|everybody|everything|always|only|both)\b/i.test(statement) &&
    findNext(text.slice(end, end + contextChars)) !== ''
  )
    return 'the sentence after it may name an exception';
  const next = findNext(text.slice(end, end + contextChars));
  const [, other] = /\b(?:ones?|others?)\b/i.test(next) ? [] : (bareNumber.exec(next) ?? []);
  if (other !== undefined && countedThing.test(statement) && !statement.includes(other))
    return 'the sentence after it has another number';
  const neighbour = findNeighbourMark(text, start, end);
  if (neighbour !== undefined) return neighbour;
  return isDeniedElsewhere(evidence, others) ? 'another source calls it outdated or untrue' : undefined;
}
