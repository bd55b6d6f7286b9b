// Says whether a claim can be understood without the text around it: what its pronouns and descriptions mean may differ between an answer and a source.
import { findAll } from '../find-all.ts';

const personal =
  /^(?:he|she|him|her|hers|his|they|them|their|theirs|it|its|this|these|those|we|us|our|ours|i|my|me|mine)$/i;
const opening = /^(?:such|that|here|then|others|former|latter)$/i;
const quantity = /^(?:both|neither|each|another|one|some|all|most|many|few|none)$/i;
const verb = /^(?:is|are|was|were|has|have|had|will|would|can|could|do|does|did|may|might|should|must|of)$/i;
const functionWords = new Set(
  'in on at by for from with without after before during since until to of as if when while although because despite according under over between among through then there so thus therefore also however and or but not no yes'.split(
    ' ',
  ),
);

const firstTwoWords = /(\p{L}[\p{L}\p{N}'’-]*)(?:[^\p{L}]+(\p{L}[\p{L}\p{N}'’-]*))?/u;

/** Whether a claim starts with its own subject and has no pronoun without it. */
export function hasOwnSubject(text: string): boolean {
  const [, first = '', second = ''] = firstTwoWords.exec(text) ?? [];
  if (personal.test(first) || opening.test(first)) return false;
  if (quantity.test(first) && verb.test(second)) return false;
  if (!functionWords.has(first.toLowerCase())) return !/^(?:we|us|our|ours|i|my|me|mine)$/i.test(second);
  return !(text.match(/\p{L}[\p{L}\p{N}'’-]*/gu) ?? []).some((word) => personal.test(word));
}

const nameStop =
  /^(?:The|A|An|In|On|At|By|For|From|With|After|Before|It|This|That|These|Those|He|She|They|We|I|You|And|Or|But|If|When|What|Who|Where|Why|How|Which|Is|Are|Was|Were|Do|Does|Did|Can|Could|Will|Would|Should|Has|Have|Had|There|Here|Yes|No|Not|As|So|To|Of|Please|Tell|Give|Explain|Describe|List|Name|January|February|March|April|May|June|July|August|September|October|November|December|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)$/;

/** Returns the capitalised words of a text, without the first word of each sentence unless it has two capitals or a digit. */
export const findNames = (text: string): readonly string[] => [...new Set(placeNames(text).map(({ word }) => word))];

const capitalised = /(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{N}]*(?:['’-]\p{Lu}?\p{L}+)*/gu;

function placeNames(text: string): readonly PlacedWord[] {
  if (!/.\p{Lu}/su.test(text)) return [];
  const names: PlacedWord[] = [];
  for (const match of findAll(capitalised, text)) {
    const word = match[0].replace(/['’]s$/, '');
    if (word.length < 2 || nameStop.test(word)) continue;
    const isFirst = /(?:^|[.!?:;"“”„«»(\n*>#-])\s*[*_`]*$/.test(text.slice(Math.max(0, match.index - 8), match.index));
    if (!isFirst || /\p{Lu}.*\p{Lu}|\d/u.test(word)) names.push({ at: match.index, word });
  }
  return names;
}

const openers =
  /^(?:Sure|Yes|No|Note|Use|Run|Set|First|Second|Third|Finally|Next|Also|However|Therefore|Thus|Hence|Answer|Summary|Overall|According|Based|Hello|Hi|Okay|Ok|Certainly|Generally|Usually|Each|Every|All|Some|Most|Many|One|Both|Its|His|Her|Their|Our|My|Your)$/;

type PlacedWord = { readonly at: number; readonly word: string };

/** The words of the last answer, since all its claims are verified one after the other. */
let lastAnswer: { readonly text: string; readonly words: readonly PlacedWord[] } | undefined;

/** Returns the words that may be the subjects of the sentences of a part of a text: the names, and the first words that another word follows. */
export function findSubjects(text: string, start: number, end: number): readonly string[] {
  if (lastAnswer?.text !== text) lastAnswer = { text, words: placeSubjects(text) };
  return lastAnswer.words.filter(({ at }) => at >= start && at < end).map(({ word }) => word);
}

function placeSubjects(text: string): readonly PlacedWord[] {
  const words: PlacedWord[] = [];
  for (const match of text.matchAll(/(?:^|[.!?]\s+|\n\s*)(\p{Lu}[\p{L}\p{N}]+)(?=\s\p{Ll})/gu)) {
    const [whole, word = ''] = match;
    if (!nameStop.test(word) && !openers.test(word)) words.push({ at: match.index + whole.length - word.length, word });
  }
  for (const { at, word } of placeNames(text)) words.push({ at, word });
  return words;
}
